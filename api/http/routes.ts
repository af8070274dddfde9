// Routes from rows of the table of endpoints: what each request goes through, whoever answers it.
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Body } from '../../store/duckdb/protocol.ts';
import { Outdated } from '../../store/files/files.ts';
import {
  addressOf,
  admit,
  type AdmissionServices,
  type Door,
  type Fence,
} from '../auth/admission.ts';
import { bodyHashOf } from '../auth/signing.ts';
import { jsonBytesMax } from '../request/body/bodyLimits.ts';
import type { Answer, Call, Endpoint } from '../request/endpoint.ts';
import {
  checkBody,
  contentLengthOf,
  type JsonBody,
  readJson,
  refuseShape,
} from '../request/body/jsonBody.ts';
import { formOf, readParameters } from '../request/parameters.ts';
import type { TestCursors } from '../request/testCursors.ts';
import type { Ended } from './ended.ts';
import type { HeldAnswers } from './heldAnswers.ts';
import { expandPath } from '../about/openapi/openapi.ts';
import { sendAnswer } from './reply.ts';
import { tokenOf, withoutToken } from './token.ts';
import type { AtTurnEnd } from './turn.ts';
import { deprecatedSince, isVersion, versionHeaders } from './version.ts';

/** What every request needs, whichever endpoint it is for. */
export type ServingServices = AdmissionServices;

/** A request that has no answer. */
export interface Failed {
  readonly error: unknown;
  readonly endpoint: Pick<Endpoint, 'id' | 'failures'>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Monotonic. */
  readonly beganMs: number;
  /** Serves it anew. */
  readonly again: () => void;
}

interface Routed<S extends ServingServices> {
  readonly services: S;
  readonly door: Door;
  /** The services as an account uses them. */
  readonly own: (accountId: string) => S;
  readonly held: HeldAnswers;
  readonly ended: Ended;
  readonly atTurnEnd: AtTurnEnd;
  readonly testCursors: TestCursors | undefined;
  /** Sees to what a caller is told, or who else answers; nothing of the answer was sent. */
  readonly fail: (failed: Failed) => void;
}

export function addRoutes<S extends ServingServices>(
  server: FastifyInstance,
  endpoint: Endpoint<S>,
  routed: Routed<S>,
): void {
  for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) {
    const since = endpoint.deprecated?.[path];
    for (const url of expandPath(path)) {
      server.route({
        // A read of its head is the same route: Fastify would make another one for each.
        method: endpoint.method === 'GET' ? ['GET', 'HEAD'] : endpoint.method,
        exposeHeadRoute: false,
        url: `/:version${url}`,
        handler: (request, reply) => {
          const { version } = request.params as { readonly version: string };
          const headers = versionHeaders(version);
          if (headers !== undefined) reply.headers(headers);
          // The path's own date is the earlier one.
          if (since !== undefined) reply.header('deprecation', deprecatedSince(since));
          // A returned reply would be awaited: that costs a read of memory as much as the read.
          void serve(endpoint, request, reply, routed);
        },
      });
    }
  }
}

async function serve<S extends ServingServices>(
  endpoint: Endpoint<S>,
  request: FastifyRequest,
  reply: FastifyReply,
  routed: Routed<S>,
): Promise<void> {
  const { services, atTurnEnd, ended, held } = routed;
  const beganMs = monotonicMs();
  const fail = (error: unknown): void =>
    routed.fail({
      error,
      endpoint,
      request,
      reply,
      beganMs,
      again: () => void serve(endpoint, request, reply, routed),
    });
  const fence = readsData(endpoint) ? routed.door.fence : undefined;
  try {
    const { account, answer } = await answerOf(endpoint, request, routed, {
      departure: departureOf(request, reply),
      atEnd: endOf(reply),
    });
    if (fence?.isSure() === false) await sureFor(answer, fence);
    const keeping = {
      hold: (body: Body): void => held.hold(account, body, reply.raw),
      watch: (): void => held.watch(reply.raw),
    };
    atTurnEnd(() => {
      try {
        sendAnswer(reply, answer, services.settings, keeping);
        ended(request, reply, beganMs);
      } catch (error) {
        fail(error);
      }
    });
  } catch (error) {
    const isOld = fence?.isSure() === false && (await fence.sure().catch((reason) => ({ reason })));
    fail(isOld ? isOld.reason : error);
  }
}

/** What a write did is so, whoever serves now. */
const readsData = ({ method, weight }: Pick<Endpoint, 'method' | 'weight'>): boolean =>
  method === 'GET' || weight !== 'free';

/** An answer that may be old is not charged, and not sent. @throws Failure Busy. */
async function sureFor(answer: Answer, fence: Fence): Promise<void> {
  try {
    await fence.sure();
  } catch (error) {
    if ('charge' in answer) answer.charge.undelivered();
    if (answer.kind === 'file') answer.ended(false, 0);
    if (answer.kind === 'stream') answer.unopened();
    throw error;
  }
}

/** A signal that the caller went away, made when it is first asked for: memory answers without. */
function departureOf(request: FastifyRequest, reply: FastifyReply): () => AbortSignal {
  let gone: AbortController | undefined;
  return () => {
    if (gone !== undefined) return gone.signal;
    const made = new AbortController();
    gone = made;
    request.raw.once('close', () => {
      if (request.raw.destroyed && !request.raw.complete) made.abort();
    });
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) made.abort();
    });
    const cut = request.raw.destroyed && !request.raw.complete;
    if (cut || request.raw.socket.destroyed) made.abort();
    return made.signal;
  };
}

/** An answer without a body, such as that of HEAD, is not one that was handed over. */
const endOf =
  ({ raw }: FastifyReply): Call['atEnd'] =>
  (work) => {
    const ended = (): void => work(raw.writableFinished && raw.statusCode === 200);
    if (raw.closed || raw.destroyed) ended();
    else raw.once('close', ended);
  };

/** admit -> validate -> handle. */
async function answerOf<S extends ServingServices>(
  endpoint: Endpoint<S>,
  request: FastifyRequest,
  { door, own, services, testCursors }: Routed<S>,
  ends: Pick<Call, 'atEnd' | 'departure'>,
): Promise<{ readonly account: string; readonly answer: Answer }> {
  const path = request.params as Readonly<Record<string, string>>;
  if (!isVersion(path['version'] ?? '')) throw new Failure('NotFound');
  const query = request.query as Record<string, unknown>;
  const { body } = endpoint;
  const contentLength = contentLengthOf(request.raw);
  const bytesMax = jsonBytesMax(body);
  const read =
    bytesMax === undefined ? undefined : await readJson(request.raw, { bytesMax, contentLength });
  const token = tokenOf(query, request.headers, read?.value);
  const { caller, actor, checkBody: signed } = admit(endpoint, token, request, services, door);
  if (body?.kind !== 'file') signed?.(bodyHashOf(read?.bytes ?? ''));
  const call: Call = {
    requestId: request.id,
    endpoint: endpoint.id,
    environment: door.environment,
    bodiless: request.method === 'HEAD',
    caller,
    actor,
    path,
    query: readParameters(endpoint, body?.kind === 'form' ? formOf(query, read?.value) : query),
    json: read === undefined ? undefined : jsonOf(body, read),
    stream: request.raw,
    checkBody: signed,
    contentLength,
    accept: door.streamsOnly ? 'text/event-stream' : (request.headers.accept ?? ''),
    navigates: isNavigation(request.headers),
    ifNoneMatch: request.headers['if-none-match'] ?? '',
    range: request.headers.range ?? '',
    ifRange: headerOf(request.headers, 'if-range'),
    address: addressOf(request, door),
    identified: () => (token === undefined ? undefined : services.accounts.identify(token)),
    lastEventId: headerOf(request.headers, 'last-event-id'),
    idempotencyKey: headerOf(request.headers, 'idempotency-key'),
    testCursors,
    ...ends,
  };
  const account = caller?.accountId ?? '';
  return { account, answer: await handled(endpoint, call, own(account)) };
}

const headerOf = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
};

/** As browsers say it (Fetch Metadata); a link or an address that is opened, or saved as a file. */
const isNavigation = (headers: IncomingHttpHeaders): boolean =>
  headers['sec-fetch-mode'] === 'navigate' || headers['sec-fetch-dest'] === 'document';

/** A read whose version ended between its plan and its files is planned again, as of now. */
async function handled<S>(endpoint: Endpoint<S>, call: Call, services: S): Promise<Answer> {
  try {
    return await endpoint.handle(call, services);
  } catch (error) {
    if (!(error instanceof Outdated) || endpoint.method !== 'GET') throw error;
    return endpoint.handle(call, services);
  }
}

/** The checked body; of a form or a text its value, or its text when it is no JSON. */
function jsonOf(body: Endpoint['body'], read: JsonBody): unknown {
  refuseShape(read);
  const { bytes, value } = read;
  if (body?.kind === 'json') return checkBody(body.schema, withoutToken(value));
  return value ?? bytes.toString('utf8');
}
