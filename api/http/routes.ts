// Adds routes from the table of endpoints, with the steps of every request.
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Body } from '../../store/duckdb/protocol.ts';
import { VersionOutdated } from '../../store/files/files.ts';
import {
  readClientAddress,
  admit,
  type AdmissionServices,
  type PortContext,
  type Fence,
} from '../auth/admission.ts';
import { hashBody } from '../../store/base/bodyHash.ts';
import { jsonBytesMax } from '../../reads/request/bodyLimits.ts';
import { type AnyEndpoint, type Call, isOpen, type OpenCall } from '../request/endpoint.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import type { Answer } from '../../reads/request/answer.ts';
import {
  checkBody,
  contentLengthOf,
  type JsonBody,
  readJson,
  refuseShape,
} from '../request/body/jsonBody.ts';
import { mergeForm, readParameters } from '../../reads/request/parameters.ts';
import { StageTimes } from '../../reads/request/stages.ts';
import type { TestCursors } from '../../reads/request/testCursors.ts';
import type { RecordAnswer } from './accessLog.ts';
import type { AnswerBuffers } from './answerBuffers.ts';
import { expandPath } from '../introspection/openapi/openapi.ts';
import { sendAnswer } from './reply.ts';
import { readToken, withoutToken } from './token.ts';
import type { AtTurnEnd } from './writeBatching.ts';
import { deprecatedSince, isVersion, versionHeaders } from './version.ts';

/** Services that requests to every endpoint need. */
export type ServingServices = AdmissionServices;

/** A request that failed. */
export interface FailedRequest {
  readonly error: unknown;
  readonly endpoint: Pick<AnyEndpoint, 'id' | 'failures'>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Monotonic start time. */
  readonly beganMs: number;
  /** Retries the request. */
  readonly retry: () => void;
}

interface RouteOptions<S extends ServingServices> {
  readonly services: S;
  readonly port: PortContext;
  /** The services bound to an account. */
  readonly servicesFor: (accountId: string) => S;
  readonly answerBuffers: AnswerBuffers;
  /** Whether an answer has data of its caller alone: its stages may be timed. */
  readonly isOwnData?: (answer: Answer, account: string) => boolean;
  readonly recordAnswer: RecordAnswer;
  readonly atTurnEnd: AtTurnEnd;
  readonly testCursors: TestCursors | undefined;
  /** Sends the failure or forwards the request; nothing of an answer was sent yet. */
  readonly fail: (failed: FailedRequest) => void;
}

export function addRoutes<S extends ServingServices>(
  server: FastifyInstance,
  endpoint: AnyEndpoint<S>,
  options: RouteOptions<S>,
): void {
  for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) {
    const since = endpoint.deprecated?.[path];
    for (const url of expandPath(path)) {
      server.route({
        // HEAD shares the route: Fastify would create another one for each.
        method: endpoint.method === 'GET' ? ['GET', 'HEAD'] : endpoint.method,
        exposeHeadRoute: false,
        url: `/:version${url}`,
        handler: (request, reply) => {
          const { version } = request.params as { readonly version: string };
          const headers = versionHeaders(version);
          if (headers !== undefined) reply.headers(headers);
          // The path's own date is the earlier one.
          if (since !== undefined) reply.header('deprecation', deprecatedSince(since));
          // A returned reply would be awaited, which takes as long as a read from memory.
          void serve(endpoint, request, reply, options);
        },
      });
    }
  }
}

async function serve<S extends ServingServices>(
  endpoint: AnyEndpoint<S>,
  request: FastifyRequest,
  reply: FastifyReply,
  options: RouteOptions<S>,
): Promise<void> {
  const { services, atTurnEnd, recordAnswer, answerBuffers } = options;
  const beganMs = monotonicMs();
  const fail = (error: unknown): void =>
    options.fail({
      error,
      endpoint,
      request,
      reply,
      beganMs,
      retry: () => void serve(endpoint, request, reply, options),
    });
  const fence = readsData(endpoint) ? options.port.fence : undefined;
  try {
    const stages = new StageTimes(beganMs);
    const { account, answer } = await computeAnswer(endpoint, request, options, {
      departure: makeDeparture(request, reply),
      atEnd: makeAtEnd(reply),
      stages,
    });
    if (fence?.isConfirmed() === false) await confirmAnswer(answer, fence);
    const buffers = {
      hold: (body: Body): void => answerBuffers.add(account, body, reply.raw),
      watch: (): void => answerBuffers.watch(reply.raw),
    };
    atTurnEnd(() => {
      try {
        const timing = stages.header();
        if (timing !== undefined && options.isOwnData?.(answer, account) === true)
          reply.header('server-timing', timing);
        sendAnswer(reply, answer, services.settings, buffers);
        recordAnswer(request, reply, beganMs);
      } catch (error) {
        fail(error);
      }
    });
  } catch (error) {
    const fenceFailure =
      fence?.isConfirmed() === false && (await fence.confirm().catch((reason) => ({ reason })));
    fail(fenceFailure ? fenceFailure.reason : error);
  }
}

/** Whether the answer contains data that may be outdated; the result of a write stays valid. */
const readsData = ({ method, weight }: Pick<AnyEndpoint, 'method' | 'weight'>): boolean =>
  method === 'GET' || weight !== 'free';

/** Discards an answer that may be outdated, free of charge. @throws Failure Busy. */
async function confirmAnswer(answer: Answer, fence: Fence): Promise<void> {
  try {
    await fence.confirm();
  } catch (error) {
    if ('charge' in answer) answer.charge.cancel();
    if (answer.kind === 'file') answer.onEnd(false, 0);
    if (answer.kind === 'stream') answer.onUnopened();
    throw error;
  }
}

/** A signal for the caller's disconnect, created at its first use: reads from memory need none. */
function makeDeparture(request: FastifyRequest, reply: FastifyReply): () => AbortSignal {
  let departure: AbortController | undefined;
  return () => {
    if (departure !== undefined) return departure.signal;
    const controller = new AbortController();
    departure = controller;
    request.raw.once('close', () => {
      if (request.raw.destroyed && !request.raw.complete) controller.abort();
    });
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) controller.abort();
    });
    const isCut = request.raw.destroyed && !request.raw.complete;
    if (isCut || request.raw.socket.destroyed) controller.abort();
    return controller.signal;
  };
}

/** An answer without a body, such as that of HEAD, counts as not delivered. */
const makeAtEnd =
  ({ raw }: FastifyReply): Call['atEnd'] =>
  (work) => {
    const onEnd = (): void => work(raw.writableFinished && raw.statusCode === 200);
    if (raw.closed || raw.destroyed) onEnd();
    else raw.once('close', onEnd);
  };

/** Admits, validates and handles a request. */
async function computeAnswer<S extends ServingServices>(
  endpoint: AnyEndpoint<S>,
  request: FastifyRequest,
  { port, servicesFor, services, testCursors }: RouteOptions<S>,
  ends: Pick<Call, 'atEnd' | 'departure' | 'stages'>,
): Promise<{ readonly account: string; readonly answer: Answer }> {
  const path = request.params as Readonly<Record<string, string>>;
  if (!isVersion(path['version'] ?? '')) throw new Failure('NotFound');
  const query = request.query as Record<string, unknown>;
  const { body } = endpoint;
  const contentLength = contentLengthOf(request.raw);
  const bytesMax = jsonBytesMax(body);
  const read =
    bytesMax === undefined ? undefined : await readJson(request.raw, { bytesMax, contentLength });
  const token = readToken(query, request.headers, read?.value);
  const { caller, actor, checkBody: verifyBody } = admit(endpoint, token, request, services, port);
  if (body?.kind !== 'file') verifyBody?.(hashBody(read?.bytes ?? ''));
  ends.stages.mark('admit');
  const call: AdmittedCall = {
    requestId: request.id,
    endpoint: endpoint.id,
    environment: port.environment,
    bodiless: request.method === 'HEAD',
    caller,
    actor,
    path,
    query: readParameters(endpoint, body?.kind === 'form' ? mergeForm(query, read?.value) : query),
    json: read === undefined ? undefined : checkedJson(body, read),
    stream: request.raw,
    checkBody: verifyBody,
    contentLength,
    accept: port.hasStreamsOnly ? 'text/event-stream' : (request.headers.accept ?? ''),
    navigates: isNavigation(request.headers),
    ifNoneMatch: request.headers['if-none-match'] ?? '',
    range: request.headers.range ?? '',
    ifRange: readHeader(request.headers, 'if-range'),
    address: readClientAddress(request, port),
    identifyCaller: () => (token === undefined ? undefined : services.accounts.identify(token)),
    lastEventId: readHeader(request.headers, 'last-event-id'),
    idempotencyKey: readHeader(request.headers, 'idempotency-key'),
    testCursors,
    ...ends,
  };
  ends.stages.mark('parse');
  const account = caller?.accountId ?? '';
  return { account, answer: await handleCall(endpoint, call, servicesFor(account)) };
}

const readHeader = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
};

/** Whether a browser navigates to or saves the address, by Fetch Metadata. */
const isNavigation = (headers: IncomingHttpHeaders): boolean =>
  headers['sec-fetch-mode'] === 'navigate' || headers['sec-fetch-dest'] === 'document';

/** Retries a read whose version expired between its plan and its files. */
async function handleCall<S>(
  endpoint: AnyEndpoint<S>,
  call: AdmittedCall,
  services: S,
): Promise<Answer> {
  try {
    return await passToHandler(endpoint, call, services);
  } catch (error) {
    if (!(error instanceof VersionOutdated) || endpoint.method !== 'GET') throw error;
    return passToHandler(endpoint, call, services);
  }
}

/** A call whose caller is undefined if its endpoint needs no token, or the operator's. */
type AdmittedCall = OpenCall & { readonly caller: Caller | undefined };

function passToHandler<S>(
  endpoint: AnyEndpoint<S>,
  call: AdmittedCall,
  services: S,
): Promise<Answer> {
  if (isOpen(endpoint)) return endpoint.handle(call, services);
  if (!hasCaller(call)) throw new Failure('NoKey');
  return endpoint.handle(call, services);
}

const hasCaller = (call: AdmittedCall): call is Call => call.caller !== undefined;

/** The checked JSON body; for a form or a text its JSON value, or its text. */
function checkedJson(body: AnyEndpoint['body'], read: JsonBody): unknown {
  refuseShape(read);
  const { bytes, value } = read;
  if (body?.kind === 'json') return checkBody(body.schema, withoutToken(value));
  return value ?? bytes.toString('utf8');
}
