// How a command asks the data API as the first account: over HTTP beside a running server, else
// within this process on the opened folder. So both are one code path, metered alike.
import type { FastifyInstance } from 'fastify';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { operatorToken } from './operatorToken.ts';
import { reachFolder, type Reached, secretAmong, secretFor } from './folderAccess.ts';
import { spokenWith, strangeAnswer } from './spoken.ts';
import { requestTo, type ServerDoor, unreached } from './serverDoor.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface DataQuestion {
  readonly method: Method;
  /** Below `/v1`, with its query. */
  readonly path: string;
  readonly body?: string | Readable;
  /** Of the body, where that is known. */
  readonly bytes?: number;
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
    const ask = await askServer(reached, settings, signal);
    return spokenWith(reached.server, signal, () => work(ask, reached.kind));
  }
  const { core } = reached;
  const { openUnlistened } = await import('../../app/main.ts');
  const server = await openUnlistened(core);
  try {
    const secret = secretAmong(await core.services.accounts.tokens());
    const headers = headersOf(secret, core.services.adminToken);
    return await work((question) => inProcess(server, question, headers, signal), reached.kind);
  } finally {
    await server.close();
    await core.close();
  }
}

type Headers = Readonly<Record<string, string>>;

/** Failures come as a sentence without a number of its own; what the operator asks for is free. */
const headersOf = (secret: string, operator: string | undefined): Headers => ({
  authorization: `Bearer ${secret}`,
  accept: 'application/problem+json',
  ...(operator === undefined ? {} : { 'x-tapedeck-operator': operator }),
});

/** How a server is asked. */
export async function askServer(
  reached: Extract<Reached, { kind: 'server' }>,
  settings: Settings,
  signal: AbortSignal,
): Promise<AskData> {
  const { folder, server } = reached;
  const headers = headersOf(await secretFor(folder, settings), operatorToken(reached, settings));
  return (question) => patiently(server, question, headers, signal);
}

/** A script that asks too often waits as long as it is told, so many times. */
const WAITS_MAX = 5;
const WAIT_SECONDS_MAX = 30;

async function patiently(
  door: ServerDoor,
  question: DataQuestion,
  usual: Headers,
  signal: AbortSignal,
): Promise<DataAnswer> {
  for (let waits = 0; ; waits += 1) {
    const { answer, status } = await overHttp(door, question, usual, signal);
    // A stream is read only once.
    const isText = question.body === undefined || typeof question.body === 'string';
    if (status !== 429 || !isText || waits === WAITS_MAX) return goodOf(status, answer);
    answer.body.resume();
    const seconds = Number(answer.headers['retry-after']) || 1;
    await sleep(Math.min(seconds, WAIT_SECONDS_MAX) * 1_000, undefined, { signal });
  }
}

interface Answered {
  readonly status: number;
  readonly answer: DataAnswer;
}

async function overHttp(
  door: ServerDoor,
  { accept, body, bytes, method, path }: DataQuestion,
  usual: Headers,
  signal: AbortSignal,
): Promise<Answered> {
  const headers = {
    ...usual,
    ...(accept === undefined ? {} : { accept: `${accept}, ${usual['accept']}` }),
    ...(bytes === undefined ? {} : { 'content-length': String(bytes) }),
  };
  return new Promise((resolve, reject) => {
    const asked = requestTo(door, `/v1${path}`, { method, headers, signal }, (answer) => {
      const { headers: told, statusCode: status = 0 } = answer;
      const strange = strangeAnswer(answer, door);
      if (strange === undefined) resolve({ status, answer: { headers: told, body: answer } });
      else asked.destroy(strange);
    });
    asked.once('error', (error) => reject(signal.aborted ? error : unreached(error, door)));
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
