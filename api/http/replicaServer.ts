// Answers reads on a node that does not serve, with the same routes, checks and headers. It has no port of
// its own: the node's front server passes it requests.
import type { IncomingMessage, ServerResponse } from 'node:http';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { monotonicMs } from '../../store/base/clock.ts';
import { createIdGenerator } from '../../store/base/random.ts';
import type { PortContext } from '../auth/admission.ts';
import { PaidFailure } from '../../reads/answer/metering.ts';
import type { AnyEndpoint } from '../request/endpoint.ts';
import type { RecordAnswer } from './accessLog.ts';
import type { AnswerBuffers } from './answerBuffers.ts';
import { addRoutes, type ServingServices } from './routes.ts';
import { addHooks, ROUTING } from './server.ts';
import { makeWriteBatching } from './writeBatching.ts';

/** A request that waits longer is forwarded, as are all new ones while this many wait. */
const WAIT_MS = 100;
const WAITING_MAX = 10_000;

/** Forwards a request that this node can't answer. */
export type ForwardRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

interface ReadingOptions<S extends ServingServices> {
  readonly services: S;
  /** The services bound to an account. */
  readonly servicesFor: (accountId: string) => S;
  readonly port: PortContext;
  readonly answerBuffers: AnswerBuffers;
  /** Called for each answered request. */
  readonly recordAnswer: RecordAnswer;
  /** Called for each forwarded request with the reason. */
  readonly onForwarded: (error: unknown) => void;
  /**
   * Resolves when a request may be retried; undefined: the request is forwarded.
   * @param tries number of attempts
   */
  readonly waitForRetry: (error: unknown, tries: number) => Promise<void> | undefined;
  readonly forward: ForwardRequest;
}

/** Handles a request that another server's port received. */
export type HandleRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

export async function buildReplicaServer<S extends ServingServices>(
  table: readonly AnyEndpoint<S>[],
  {
    port,
    recordAnswer,
    forward,
    answerBuffers,
    servicesFor,
    onForwarded,
    services,
    waitForRetry,
  }: ReadingOptions<S>,
): Promise<HandleRequest> {
  const server = Fastify({ logger: false, genReqId: createIdGenerator(), routerOptions: ROUTING });
  const forwardReply = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack();
    forward(request.raw, reply.raw);
  };
  const attempts = new WeakMap<
    FastifyRequest,
    { readonly firstMs: number; readonly tries: number }
  >();
  let waiting = 0;
  const atTurnEnd = makeWriteBatching();
  addHooks(server, port);
  for (const endpoint of table) {
    addRoutes(server, endpoint, {
      services,
      servicesFor,
      port,
      answerBuffers,
      testCursors: undefined,
      atTurnEnd,
      recordAnswer,
      fail: ({ retry, beganMs, error, reply, request }) => {
        if (error instanceof PaidFailure) error.charge.cancel();
        const { firstMs, tries } = attempts.get(request) ?? {
          firstMs: beganMs,
          tries: 0,
        };
        attempts.set(request, {
          firstMs,
          tries: tries + 1,
        });
        const isLate = waiting >= WAITING_MAX || monotonicMs() - firstMs >= WAIT_MS;
        const wait = isLate ? undefined : waitForRetry(error, tries + 1);
        if (wait === undefined) {
          onForwarded(error);
          return forwardReply(request, reply);
        }
        waiting += 1;
        void wait.then(() => {
          waiting -= 1;
          retry();
        });
      },
    });
  }
  server.setNotFoundHandler(forwardReply);
  server.setErrorHandler((error, request, reply) => {
    onForwarded(error);
    forwardReply(request, reply);
  });
  await server.ready();
  return (incoming, outgoing) => server.routing(incoming, outgoing);
}
