// Builds the Fastify server from the table of endpoints: every route, version and alias derives from a row.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure, reasonOf, toDiskFullFailure } from '../../store/base/failure.ts';
import { createIdGenerator } from '../../store/base/random.ts';
import { cacheByAccount, withAccountPools } from '../auth/accountServices.ts';
import { readClientAddress, type PortContext } from '../auth/admission.ts';
import { isNodeUpgrade } from '../forward/nodeConnections.ts';
import { sendBeforeDrain, isBodyComplete } from '../forward/drainBody.ts';
import type { Answer } from '../../reads/request/answer.ts';
import type { AnyEndpoint, Services } from '../request/endpoint.ts';
import { renderFailure, type FailureStyle } from '../../reads/request/failures.ts';
import { normalizeStreamPath } from './streamPath.ts';
import { notFoundDetail } from '../request/notFound.ts';
import { PaidFailure } from '../../reads/answer/metering.ts';
import { meterFailure } from './reply.ts';
import { makeTestCursors } from '../../reads/request/testCursors.ts';
import { makeWriteBatching } from './writeBatching.ts';
import { type RecordAnswer, accessLogHook, makeAccessLog } from './accessLog.ts';
import { createListener } from './listener.ts';
import { addConsole } from '../console/console.ts';
import { addDocs } from '../docs/docs.ts';
import { addOperations, addRoot, type ServerState, readTls } from './operations.ts';
import { addRoutes, type FailedRequest } from './routes.ts';
import { deprecatedSince } from './version.ts';

/** One path segment: 2,000 keys of 24 characters, or an index value of 1,500 bytes, encoded. */
const SEGMENT_CHARACTERS_MAX = 48_000;

/** Options of the router. */
export const ROUTING = {
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: true,
  maxParamLength: SEGMENT_CHARACTERS_MAX,
} as const;

/** SPEC.md "Versioning" 5. */
const TEST_DEPRECATED = deprecatedSince('2022-08-29');

/** Stops an answer from running as a page, even if it repeats a caller's text. */
const API_POLICY = "default-src 'none'; sandbox";

const ANSWER_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers':
    'Origin, X-Requested-With, Content-Type, Accept, Authorization, Request-Source, User-Agent, ' +
    'If-None-Match, Idempotency-Key',
  'content-security-policy': API_POLICY,
  'x-content-type-options': 'nosniff',
  'access-control-expose-headers': '*, ETag, Retry-After, X-Request-Id, Deprecation, Sunset',
};

/** No route has a Fastify schema: loading the compilers takes a twentieth of a start. */
const NO_SCHEMAS = { compilersFactory: { buildValidator: noSchema, buildSerializer: noSchema } };

function noSchema(): never {
  throw new Error('endpoints check their own parameters and bodies');
}

/** What the routes of a port depend on. */
interface ServerParts {
  readonly services: Services;
  readonly log: Logger;
  readonly port: PortContext;
}

export async function buildServer(
  table: readonly AnyEndpoint[],
  parts: ServerParts,
  state: ServerState,
): Promise<FastifyInstance> {
  const { services, log, port } = parts;
  const { answerBuffers } = state;
  const listenerOptions = {
    accounts: services.accounts,
    ...(await readTls(services.settings)),
    ...(port.proxySigning === undefined ? {} : { shouldUpgradeCallback: isNodeUpgrade }),
  };
  const server = Fastify({
    serverFactory: (listener) => createListener(listener, listenerOptions),
    logger: false,
    schemaController: NO_SCHEMAS,
    rewriteUrl: ({ url = '' }) => normalizeStreamPath(url),
    genReqId: createIdGenerator(),
    routerOptions: ROUTING,
    // A path that can't be decoded gets the API's failure format, not Fastify's.
    frameworkErrors: (_error, request, reply) => {
      reply.headers(ANSWER_HEADERS).header('x-request-id', request.id);
      sendFailure(request, reply, new Failure('IncorrectValues'), 'data');
    },
    bodyLimit: Number.MAX_SAFE_INTEGER,
    forceCloseConnections: 'idle',
  });
  // Bodies are read by their endpoint: clients send wrong and impossible content types
  // (INTERFACE.md 6), so no parser may depend on them.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  closeIdleSockets(server);
  addHooks(server, port);
  const recordAnswer = makeAccessLog(log, state.metrics.observe);
  const testCursors = port.environment === 'test' ? makeTestCursors() : undefined;
  const servicesFor = cacheByAccount((accountId) => withAccountPools(services, accountId));
  const fail = makeFailureHandler(parts, recordAnswer);
  const routeOptions = {
    ...parts,
    atTurnEnd: makeWriteBatching(),
    servicesFor,
    isOwnData: makeOwnDataCheck(services),
    testCursors,
    answerBuffers,
    recordAnswer,
    fail,
  };
  for (const endpoint of table) addRoutes(server, endpoint, routeOptions);
  addOperations(server, services, state, recordAnswer);
  const hasConsole = hasConsolePages(services.settings, port);
  if (hasConsole) {
    addConsole(server, accessLogHook(recordAnswer), logPageError(log));
    addDocs(server, services.workers, accessLogHook(recordAnswer), logPageError(log));
  }
  const hasMetrics = services.settings.metricsAddress === undefined;
  addRoot(server, { hasConsole, hasMetrics }, recordAnswer);
  addFallbacks(server, log, recordAnswer);
  return server;
}

/** Times of reads of others' data could depend on values that the caller has not paid for. */
const makeOwnDataCheck =
  ({ lake }: Pick<Services, 'lake'>) =>
  (answer: Answer, account: string): boolean =>
    answer.kind === 'rows' &&
    answer.datasets.length > 0 &&
    answer.datasets.every(
      ({ workspace }) => lake.directory.workspace(workspace)?.accountId === account,
    );

/** The console is served in production, at the port with all endpoints. */
const hasConsolePages = (settings: Services['settings'], door: PortContext): boolean =>
  settings.console && door.environment === 'production' && !door.hasStreamsOnly;

const logPageError =
  (log: Logger) =>
  (reason: unknown): void =>
    log.error(
      { reason: reasonOf(reason) },
      'the console or the documentation could not be prepared',
    );

/** Handles preflight requests, unknown paths and unexpected errors. */
function addFallbacks(server: FastifyInstance, log: Logger, ended: RecordAnswer): void {
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
    const knownFailure = error instanceof Failure ? error : new Failure('IncorrectValues');
    const failure = error instanceof Failure || status < 500 ? knownFailure : error;
    sendFailure(request, reply, failure, 'data');
    ended(request, reply, monotonicMs());
  });
}

/**
 * Closes connections without any request, which browsers open ahead, when the server stops: Node counts them
 * as busy and would wait a minute for them.
 */
function closeIdleSockets(server: FastifyInstance): void {
  const idleSockets = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    idleSockets.add(socket);
    socket.once('close', () => idleSockets.delete(socket));
  });
  server.server.on('request', ({ socket }: IncomingMessage) => idleSockets.delete(socket));
  server.addHook('preClose', (done) => {
    for (const socket of idleSockets) socket.destroy();
    done();
  });
}

/** Adds the hooks that run before every route. */
export function addHooks(server: FastifyInstance, port: PortContext): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers(ANSWER_HEADERS).header('x-request-id', request.id);
    if (port.environment === 'test') reply.header('deprecation', TEST_DEPRECATED);
    try {
      port.throttle.address(readClientAddress(request, port));
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

/** Sends the failure to the caller and logs unexpected ones. */
const makeFailureHandler =
  ({ log, services }: ServerParts, ended: RecordAnswer) =>
  ({ beganMs, endpoint, error, reply, request }: FailedRequest): void => {
    if (!(error instanceof Failure) || error.type === 'SystemError') {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      log.error({ requestId: request.id, endpoint: endpoint.id, error: text }, 'unexpected');
    }
    if (error instanceof PaidFailure) meterFailure(reply, error.charge, services.settings);
    sendFailure(request, reply, toDiskFullFailure(error), endpoint.failures);
    ended(request, reply, beganMs);
  };

function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  style: FailureStyle,
): void {
  const { accept = '' } = request.headers;
  const describePath = (): string => {
    const [path = ''] = request.url.split('?');
    return notFoundDetail(
      request.method,
      path,
      request.params as Readonly<Record<string, unknown>>,
    );
  };
  const answer = renderFailure(error, style, accept, request.id, describePath);
  const waitMs = error instanceof Failure ? error.waitMs : undefined;
  if (waitMs !== undefined || answer.status === 503) {
    reply.header('retry-after', String(Math.max(1, Math.ceil((waitMs ?? 0) / 1000))));
  }
  reply.code(answer.status).header('content-type', answer.contentType);
  if (isBodyComplete(request.raw)) return void reply.send(answer.body);
  // Closing the connection stops a sender that already reads from sending the rest of its body.
  reply.headers({ connection: 'close', 'content-length': Buffer.byteLength(answer.body) });
  void reply.send(Readable.from(sendBeforeDrain(answer.body, request.raw)));
}
