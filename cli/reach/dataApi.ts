// How a command asks the data API as the first account: over HTTP beside a running server, else
// within this process on the opened folder. So both are one code path, metered alike.
import type { FastifyInstance } from 'fastify';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { TokenShown } from '../../store/accounts/accounts.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings.ts';
import { reachFolder, type Reached, readTokens } from './folderAccess.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface DataQuestion {
  readonly method: Method;
  /** Below `/v1`, with its query. */
  readonly path: string;
  readonly body?: string | Readable;
  /** Beside that of failures. */
  readonly accept?: string;
}

export interface DataAnswer {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readable;
}

/** @throws Failure with the API's own sentence. */
export type AskData = (question: DataQuestion) => Promise<DataAnswer>;

/**
 * Runs `work` with a function that asks, and where that is answered; what it asked for is cancelled
 * when `signal` is aborted.
 */
export async function withFirstAccount<T>(
  settings: Settings,
  signal: AbortSignal,
  work: (ask: AskData, where: Reached['kind']) => Promise<T>,
): Promise<T> {
  const reached = await reachFolder(settings);
  if (reached.kind === 'server') {
    const headers = headersOf(await readTokens(reached.folder, settings));
    const { base } = reached.server;
    const ask: AskData = (question) =>
      overHttp(`${base}/v1${question.path}`, question, headers, signal);
    return work(ask, reached.kind);
  }
  const { core } = reached;
  const { openUnlistened } = await import('../../app/main.ts');
  const server = await openUnlistened(core);
  try {
    const headers = headersOf(await core.services.accounts.tokens());
    return await work((question) => inProcess(server, question, headers, signal), reached.kind);
  } finally {
    await server.close();
    await core.close();
  }
}

type Headers = Readonly<Record<string, string>>;

/** The oldest token is the first account's; failures come as a sentence without a number of its own. */
function headersOf(tokens: readonly TokenShown[]): Headers {
  const secret = tokens.find(
    ({ accountId, disabled, kind, signed, test }) =>
      kind === 'secret' && !test && !disabled && !signed && accountId === tokens[0]?.accountId,
  );
  if (secret === undefined) {
    const how = 'tapedeck tokens create --kind secret makes one';
    throw new Failure('NoKey', `the first account has no secret token: ${how}`);
  }
  return { authorization: `Bearer ${secret.text}`, accept: 'application/problem+json' };
}

/** Waits as long as it takes: `fetch` gives up after five minutes, a query may take as long. */
async function overHttp(
  url: string,
  { accept, method, body }: DataQuestion,
  usual: Headers,
  signal: AbortSignal,
): Promise<DataAnswer> {
  const headers =
    accept === undefined ? usual : { ...usual, accept: `${accept}, ${usual['accept']}` };
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, signal }, (answer) => {
      const { headers: told, statusCode = 0 } = answer;
      goodOf(statusCode, { headers: told, body: answer }).then(resolve, reject);
    });
    asked.once('error', reject);
    if (body === undefined || typeof body === 'string') asked.end(body);
    else pipeline(body, asked).catch(reject);
  });
}

async function inProcess(
  server: FastifyInstance,
  { method, path, body }: DataQuestion,
  headers: Headers,
  signal: AbortSignal,
): Promise<DataAnswer> {
  const answer = await server.inject({
    method,
    url: `/v1${path}`,
    headers,
    signal,
    payloadAsStream: true,
    ...(body === undefined ? {} : { payload: body }),
  });
  const answered = answer.stream();
  // Whoever stops reading has left, as on a socket: the answer ends, and is charged.
  answered.once('close', () => answer.raw.res.destroy());
  return goodOf(answer.statusCode, { headers: answer.headers, body: answered });
}

async function goodOf(status: number, answer: DataAnswer): Promise<DataAnswer> {
  if (status < 400) return answer;
  const told = await text(answer.body);
  const { detail } = told.startsWith('{') ? (JSON.parse(told) as { detail?: string }) : {};
  throw new Failure('InvalidParameter', detail ?? told);
}
