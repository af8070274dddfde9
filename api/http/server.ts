// Fastify over the table of endpoints: every route, version and alias derives from a row.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure, reasonOf, toldFull } from '../../store/base/failure.ts';
import { Outdated } from '../../store/files/files.ts';
import { countedIds } from '../../store/base/random.ts';
import { accountServices } from '../auth/accountServices.ts';
import { addressOf, admit, type Door } from '../auth/admission.ts';
import {
  HEADER_BYTES_MAX,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  LATE_LOOK_MS,
  REQUEST_TIMEOUT_MS,
} from '../forward/connections.ts';
import { isLent } from '../forward/lendingDoor.ts';
import type { Body } from '../../store/duckdb/protocol.ts';
import type { HeldAnswers } from './heldAnswers.ts';
import type { Answer, Call, Endpoint, Services } from '../request/endpoint.ts';
import { failureAnswer, type FailureStyle } from '../request/failures.ts';
import { checkBody, formOf, type JsonBody, readJson } from '../request/jsonBody.ts';
import { expandPath } from './openapi.ts';
import { spelledPath } from './streamPath.ts';
import { notFoundDetail } from '../request/notFound.ts';
import { readParameters } from '../request/parameters.ts';
import { PaidFailure } from '../read/metering.ts';
import { meterFailure, sendAnswer } from './reply.ts';
import { bodyHashOf } from '../auth/signing.ts';
import { makeTestCursors, type TestCursors } from '../request/testCursors.ts';
import { TooFast } from '../request/throttle.ts';
import { tokenOf, withoutToken } from './token.ts';
import { type AtTurnEnd, makeTurn } from './turn.ts';
import { type Ended, endedHook, makeEnded } from './ended.ts';
import { addConsole } from '../console/console.ts';
import { addOperations, type ServerState, tlsOf } from './operations.ts';
import { deprecatedSince, isVersion, versionHeaders } from './version.ts';

/** One path segment: 2,000 keys of 24 characters, or an index value of 1,500 bytes, encoded. */
const SEGMENT_CHARACTERS_MAX = 48_000;
/** SPEC.md "Versioning" 5. */
const TEST_DEPRECATED = deprecatedSince('2022-08-29');

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'true',
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers':
    'Origin, X-Requested-With, Content-Type, Accept, Authorization, Request-Source, User-Agent, ' +
    'If-None-Match',
  'x-content-type-options': 'nosniff',
  'access-control-expose-headers': '*, ETag, Retry-After, X-Request-Id, Deprecation, Sunset',
};

/** What a port's routes stand before. */
interface Behind {
  readonly services: Services;
  readonly log: Logger;
  readonly door: Door;
}

export async function buildServer(
  table: readonly Endpoint[],
  behind: Behind,
  state: ServerState,
): Promise<FastifyInstance> {
  const { services, log, door } = behind;
  const { held } = state;
  const upgrading = door.hopping === undefined ? {} : { shouldUpgradeCallback: isLent };
  const server = Fastify({
    ...(await tlsOf(services.settings, upgrading)),
    logger: false,
    rewriteUrl: ({ url = '' }) => spelledPath(url),
    genReqId: countedIds(),
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: SEGMENT_CHARACTERS_MAX,
    },
    // A path that can't be decoded; Fastify's own sentence is not ours.
    frameworkErrors: (_error, request, reply) => {
      reply.headers(CORS).header('x-request-id', request.id);
      sendFailure(request, reply as FastifyReply, new Failure('IncorrectValues'), 'data');
    },
    bodyLimit: Number.MAX_SAFE_INTEGER,
    ...{ requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    forceCloseConnections: 'idle',
    http: {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: LATE_LOOK_MS,
      ...upgrading,
    },
  });
  // Bodies are read by their endpoint: clients send wrong and impossible content types
  // (INTERFACE.md 6), so no parser may decide by them.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  closeSilent(server);
  addHooks(server, door);
  const ended = makeEnded(log, state.metrics.observe);
  const testCursors = door.environment === 'test' ? makeTestCursors() : undefined;
  const own = accountServices(services);
  const routed = { ...behind, atTurnEnd: makeTurn(), own, testCursors, held, ended };
  for (const endpoint of table) addRoutes(server, endpoint, routed);
  addOperations(server, services, state, ended);
  if (isLookedAt(services.settings, door)) addConsole(server, endedHook(ended), toldOf(log));
  addFallbacks(server, log, ended);
  return server;
}

/** People look at production, at the port of everything. */
const isLookedAt = (settings: Services['settings'], door: Door): boolean =>
  settings.console && door.environment === 'production' && !door.streamsOnly;

const toldOf =
  (log: Logger) =>
  (reason: unknown): void =>
    log.error({ reason: reasonOf(reason) }, 'the console could not be made');

/** What no endpoint answers. */
function addFallbacks(server: FastifyInstance, log: Logger, ended: Ended): void {
  server.options('/*', (request, reply) => {
    void reply.code(204).send();
    ended(request, reply, monotonicMs());
  });
  server.setNotFoundHandler((request, reply) => {
    sendFailure(request, reply, new Failure('NotFound'), 'data');
    ended(request, reply, monotonicMs());
  });
  server.setErrorHandler((error, request, reply) => {
    const status = (error as { statusCode?: number }).statusCode ?? 500;
    if (status >= 500 && !(error instanceof Failure))
      log.error({ requestId: request.id, error: String(error) }, 'unexpected');
    const known = error instanceof Failure ? error : new Failure('IncorrectValues');
    const failure = error instanceof Failure || status < 500 ? known : error;
    sendFailure(request, reply, failure, 'data');
    ended(request, reply, monotonicMs());
  });
}

/**
 * Connections that never asked for anything, as browsers open them ahead: Node takes them for busy and
 * would wait for them for a minute when the server stops.
 */
function closeSilent(server: FastifyInstance): void {
  const silent = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.server.on('request', ({ socket }: IncomingMessage) => silent.delete(socket));
  server.addHook('preClose', (done) => {
    for (const socket of silent) socket.destroy();
    done();
  });
}

function addHooks(server: FastifyInstance, door: Door): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers(CORS).header('x-request-id', request.id);
    if (door.environment === 'test') reply.header('deprecation', TEST_DEPRECATED);
    try {
      door.throttle.address(addressOf(request, door));
    } catch (error) {
      done(error as Error);
      return;
    }
    // Fastify refuses an impossible type, such as the `undefined` of iexjs, before any parser.
    if (request.raw.headers['content-type'] !== undefined) {
      request.raw.headers['content-type'] = 'application/octet-stream';
    }
    done();
  });
}

interface Routed extends Behind {
  /** The services as an account uses them. */
  readonly own: (accountId: string) => Services;
  readonly held: HeldAnswers;
  readonly ended: Ended;
  readonly atTurnEnd: AtTurnEnd;
  readonly testCursors: TestCursors | undefined;
}

function addRoutes(server: FastifyInstance, endpoint: Endpoint, routed: Routed): void {
  for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) {
    const since = endpoint.deprecated?.[path];
    for (const url of expandPath(path)) {
      server.route({
        method: endpoint.method,
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

async function serve(
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  routed: Routed,
): Promise<void> {
  const { services, log, atTurnEnd, ended, held } = routed;
  const beganMs = monotonicMs();
  const fail = (error: unknown): void => {
    if (!(error instanceof Failure) || error.type === 'SystemError') {
      const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
      log.error({ requestId: request.id, endpoint: endpoint.id, error: told }, 'unexpected');
    }
    if (error instanceof PaidFailure) meterFailure(reply, error.charge, services.settings);
    sendFailure(request, reply, toldFull(error), endpoint.failures);
    ended(request, reply, beganMs);
  };
  try {
    const { account, answer } = await answerOf(endpoint, request, routed, {
      departure: departureOf(request, reply),
      atEnd: endOf(reply),
    });
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
    fail(error);
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
async function answerOf(
  endpoint: Endpoint,
  request: FastifyRequest,
  { door, own, services, testCursors }: Routed,
  ends: Pick<Call, 'atEnd' | 'departure'>,
): Promise<{ readonly account: string; readonly answer: Answer }> {
  const path = request.params as Readonly<Record<string, string>>;
  if (!isVersion(path['version'] ?? '')) throw new Failure('NotFound');
  const query = request.query as Record<string, unknown>;
  const { body } = endpoint;
  const isRead = body !== undefined && body.kind !== 'file';
  const read = isRead ? await readJson(request.raw) : undefined;
  const token = tokenOf(query, request.headers, read?.value);
  const { caller, actor, checkBody: signed } = admit(endpoint, token, request, services, door);
  if (body?.kind !== 'file') signed?.(bodyHashOf(read?.bytes ?? ''));
  const length = request.headers['content-length'];
  const call: Call = {
    requestId: request.id,
    endpoint: endpoint.id,
    environment: door.environment,
    bodiless: request.method === 'HEAD',
    caller,
    actor,
    path,
    query: readParameters(endpoint, body?.kind === 'form' ? formOf(query, read?.value) : query),
    json: jsonOf(body, read),
    stream: request.raw,
    checkBody: signed,
    contentLength: length === undefined ? undefined : Number(length),
    accept: door.streamsOnly ? 'text/event-stream' : (request.headers.accept ?? ''),
    navigates: isNavigation(request.headers),
    ifNoneMatch: request.headers['if-none-match'] ?? '',
    range: request.headers.range ?? '',
    ifRange: headerOf(request.headers, 'if-range'),
    address: addressOf(request, door),
    identified: () => (token === undefined ? undefined : services.accounts.identify(token)),
    lastEventId: headerOf(request.headers, 'last-event-id'),
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
async function handled(endpoint: Endpoint, call: Call, services: Services): Promise<Answer> {
  try {
    return await endpoint.handle(call, services);
  } catch (error) {
    if (!(error instanceof Outdated) || endpoint.method !== 'GET') throw error;
    return endpoint.handle(call, services);
  }
}

/** The checked body; of a form or a text its value, or its text when it is no JSON. */
function jsonOf(body: Endpoint['body'], read: JsonBody | undefined): unknown {
  if (body?.kind === 'json') return checkBody(body.schema, withoutToken(read?.value));
  return read?.value ?? read?.bytes.toString('utf8');
}

function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  style: FailureStyle,
): void {
  const { accept = '' } = request.headers;
  const asked = (): string => {
    const [path = ''] = request.url.split('?');
    return notFoundDetail(
      request.method,
      path,
      request.params as Readonly<Record<string, unknown>>,
    );
  };
  const answer = failureAnswer(error, style, accept, request.id, asked);
  if (error instanceof TooFast) reply.header('retry-after', String(Math.ceil(error.waitMs / 1000)));
  // What is left of a body is not read: the connection ends instead.
  if (!request.raw.complete) reply.header('connection', 'close');
  void reply.code(answer.status).header('content-type', answer.contentType).send(answer.body);
}
