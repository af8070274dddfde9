// Answers reads on a node that does not serve, with the same routes, checks and headers. It has no port of
// its own: the node's front server passes it requests.
import type { IncomingMessage, ServerResponse } from 'node:http';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { monotonicMs } from '../../store/base/clock.ts';
import { countedIds } from '../../store/base/random.ts';
import type { Door } from '../auth/admission.ts';
import { PaidFailure } from '../read/metering.ts';
import type { Endpoint } from '../request/endpoint.ts';
import type { Ended } from './ended.ts';
import type { HeldAnswers } from './heldAnswers.ts';
import { addRoutes, type ServingServices } from './routes.ts';
import { addHooks, ROUTING } from './server.ts';
import { makeTurn } from './turn.ts';

/** A request that waits longer is forwarded, as are all new ones while this many wait. */
const WAIT_MS = 100;
const WAITING_MAX = 10_000;

/** Forwards a request that this node can't answer. */
export type HandOn = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

interface ReadingOptions<S extends ServingServices> {
  readonly services: S;
  /** The services bound to an account. */
  readonly own: (accountId: string) => S;
  readonly door: Door;
  readonly held: HeldAnswers;
  /** Called for each answered request. */
  readonly ended: Ended;
  /** Called for each forwarded request with the reason. */
  readonly refused: (error: unknown) => void;
  /**
   * Resolves when a request may be retried; undefined: the request is forwarded.
   * @param tries number of attempts
   */
  readonly soon: (error: unknown, tries: number) => Promise<void> | undefined;
  readonly handOn: HandOn;
}

/** Handles a request that another server's port received. */
export type TakeRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

export async function buildReadingServer<S extends ServingServices>(
  table: readonly Endpoint<S>[],
  { door, ended, handOn, held, own, refused, services, soon }: ReadingOptions<S>,
): Promise<TakeRequest> {
  const server = Fastify({ logger: false, genReqId: countedIds(), routerOptions: ROUTING });
  const forward = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack();
    handOn(request.raw, reply.raw);
  };
  const attempts = new WeakMap<
    FastifyRequest,
    { readonly firstMs: number; readonly tries: number }
  >();
  let waiting = 0;
  const atTurnEnd = makeTurn();
  addHooks(server, door);
  for (const endpoint of table) {
    addRoutes(server, endpoint, {
      services,
      own,
      door,
      held,
      testCursors: undefined,
      atTurnEnd,
      ended,
      fail: ({ again, beganMs, error, reply, request }) => {
        if (error instanceof PaidFailure) error.charge.undelivered();
        const { firstMs, tries } = attempts.get(request) ?? {
          firstMs: beganMs,
          tries: 0,
        };
        attempts.set(request, {
          firstMs,
          tries: tries + 1,
        });
        const isLate = waiting >= WAITING_MAX || monotonicMs() - firstMs >= WAIT_MS;
        const wait = isLate ? undefined : soon(error, tries + 1);
        if (wait === undefined) {
          refused(error);
          return forward(request, reply);
        }
        waiting += 1;
        void wait.then(() => {
          waiting -= 1;
          again();
        });
      },
    });
  }
  server.setNotFoundHandler(forward);
  server.setErrorHandler((error, request, reply) => {
    refused(error);
    forward(request, reply);
  });
  await server.ready();
  return (incoming, outgoing) => server.routing(incoming, outgoing);
}
