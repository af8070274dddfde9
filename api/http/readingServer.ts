// What a node that does not serve answers itself: the same routes, checks and headers, for reads alone. It
// has no port of its own: it is handed requests that came to the node.
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

/** A request that waits for longer is handed on, as are those that come while so many wait. */
const WAIT_MS = 100;
const WAITING_MAX = 10_000;

/** Where there is no answer here. */
export type HandOn = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

interface Reading<S extends ServingServices> {
  readonly services: S;
  /** The services as an account uses them. */
  readonly own: (accountId: string) => S;
  readonly door: Door;
  readonly held: HeldAnswers;
  /** Told of each request that was answered. */
  readonly ended: Ended;
  /** Told of each that was not, with why. */
  readonly refused: (error: unknown) => void;
  /**
   * What is waited for before a request is tried again; undefined: it is handed on.
   * @param tries how often it was tried
   */
  readonly soon: (error: unknown, tries: number) => Promise<void> | undefined;
  readonly handOn: HandOn;
}

/** Takes a request; the port that it came to is another one's. */
export type TakeRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

export async function buildReadingServer<S extends ServingServices>(
  table: readonly Endpoint<S>[],
  { door, ended, handOn, held, own, refused, services, soon }: Reading<S>,
): Promise<TakeRequest> {
  const server = Fastify({ logger: false, genReqId: countedIds(), routerOptions: ROUTING });
  const elsewhere = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack();
    handOn(request.raw, reply.raw);
  };
  const tried = new WeakMap<FastifyRequest, { readonly firstMs: number; readonly tries: number }>();
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
        const { firstMs, tries } = tried.get(request) ?? {
          firstMs: beganMs,
          tries: 0,
        };
        tried.set(request, {
          firstMs,
          tries: tries + 1,
        });
        const isLate = waiting >= WAITING_MAX || monotonicMs() - firstMs >= WAIT_MS;
        const wait = isLate ? undefined : soon(error, tries + 1);
        if (wait === undefined) {
          refused(error);
          return elsewhere(request, reply);
        }
        waiting += 1;
        void wait.then(() => {
          waiting -= 1;
          again();
        });
      },
    });
  }
  server.setNotFoundHandler(elsewhere);
  server.setErrorHandler((error, request, reply) => {
    refused(error);
    elsewhere(request, reply);
  });
  await server.ready();
  return (incoming, outgoing) => server.routing(incoming, outgoing);
}
