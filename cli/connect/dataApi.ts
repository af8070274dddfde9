// Calls the data API as the first account: over HTTP while a server runs, else in this process on the opened
// folder. Both are one code path, metered the same way.
import type { FastifyInstance } from 'fastify';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { operatorToken } from './operatorToken.ts';
import { reachFolder, type Reached, chooseSecret, findSecret } from './folderAccess.ts';
import { explainFailures, findStrangeAnswer } from './serverErrors.ts';
import { openRequest, type ServerEndpoint, toConnectionFailure } from './serverEndpoint.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface DataRequest {
  readonly method: Method;
  /** Path relative to `/v1`, with its query. */
  readonly path: string;
  readonly body?: string | Readable;
  /** Size of the body, if it is known. */
  readonly bytes?: number;
  /** Accepted type, in addition to that of failures. */
  readonly accept?: string;
}

export interface DataAnswer {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readable;
}

/** @throws Failure with the message of the API */
export type CallData = (dataRequest: DataRequest) => Promise<DataAnswer>;

/**
 * Runs `work` with a function that sends requests, and with the kind of the connection; aborting `signal`
 * cancels the requests.
 */
export async function withFirstAccount<T>(
  settings: Settings,
  signal: AbortSignal,
  work: (call: CallData, where: Reached['kind']) => Promise<T>,
): Promise<T> {
  const reached = await reachFolder(settings);
  if (reached.kind === 'server') {
    const call = await connectToServer(reached, settings, signal);
    return explainFailures(reached.server, signal, () => work(call, reached.kind));
  }
  const { core } = reached;
  const { openUnlistened } = await import('../../app/main.ts');
  const server = await openUnlistened(core);
  try {
    const secret = chooseSecret(await core.services.accounts.tokens());
    const headers = headersOf(secret, core.services.adminToken);
    return await work(
      (dataRequest) => inProcess(server, dataRequest, headers, signal),
      reached.kind,
    );
  } finally {
    await server.close();
    await core.close();
  }
}

type Headers = Readonly<Record<string, string>>;

/** Requests failures as problem details; the operator's requests are free. */
const headersOf = (secret: string, operator: string | undefined): Headers => ({
  authorization: `Bearer ${secret}`,
  accept: 'application/problem+json',
  ...(operator === undefined ? {} : { 'x-tapedeck-operator': operator }),
});

/** Returns a function that sends requests to a server. */
export async function connectToServer(
  reached: Extract<Reached, { kind: 'server' }>,
  settings: Settings,
  signal: AbortSignal,
): Promise<CallData> {
  const { folder, server } = reached;
  const headers = headersOf(await findSecret(folder, settings), operatorToken(reached, settings));
  return (dataRequest) => callWithRetries(server, dataRequest, headers, signal);
}

/** Retries of a request that the server throttles, and the longest wait before one. */
const WAITS_MAX = 5;
const WAIT_SECONDS_MAX = 30;

async function callWithRetries(
  door: ServerEndpoint,
  dataRequest: DataRequest,
  defaults: Headers,
  signal: AbortSignal,
): Promise<DataAnswer> {
  for (let waits = 0; ; waits += 1) {
    const { answer, status } = await overHttp(door, dataRequest, defaults, signal);
    // A stream can be read only once.
    const isText = dataRequest.body === undefined || typeof dataRequest.body === 'string';
    if (status !== 429 || !isText || waits === WAITS_MAX) return requireSuccess(status, answer);
    answer.body.resume();
    const seconds = Number(answer.headers['retry-after']) || 1;
    await sleep(Math.min(seconds, WAIT_SECONDS_MAX) * 1_000, undefined, { signal });
  }
}

interface HttpAnswer {
  readonly status: number;
  readonly answer: DataAnswer;
}

async function overHttp(
  door: ServerEndpoint,
  { accept, body, bytes, method, path }: DataRequest,
  defaults: Headers,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const headers = {
    ...defaults,
    ...(accept === undefined ? {} : { accept: `${accept}, ${defaults['accept']}` }),
    ...(bytes === undefined ? {} : { 'content-length': String(bytes) }),
  };
  return new Promise((resolve, reject) => {
    const request = openRequest(door, `/v1${path}`, { method, headers, signal }, (answer) => {
      const { headers: received, statusCode: status = 0 } = answer;
      const strange = findStrangeAnswer(answer, door);
      if (strange === undefined) resolve({ status, answer: { headers: received, body: answer } });
      else request.destroy(strange);
    });
    request.once('error', (error) =>
      reject(signal.aborted ? error : toConnectionFailure(error, door)),
    );
    if (body === undefined || typeof body === 'string') request.end(body);
    else pipeline(body, request).catch(reject);
  });
}

async function inProcess(
  server: FastifyInstance,
  { method, path, body }: DataRequest,
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
  const answerBody = answer.stream();
  // A reader that stops is treated as a closed socket: the answer ends, and is charged.
  answerBody.once('close', () => answer.raw.res.destroy());
  return requireSuccess(answer.statusCode, { headers: answer.headers, body: answerBody });
}

async function requireSuccess(status: number, answer: DataAnswer): Promise<DataAnswer> {
  if (status < 400) return answer;
  const received = await text(answer.body);
  const { detail } = received.startsWith('{') ? (JSON.parse(received) as { detail?: string }) : {};
  throw new Failure('InvalidParameter', detail ?? received);
}
