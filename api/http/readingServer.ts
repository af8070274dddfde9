// What a node that does not serve answers itself: the same routes, checks and headers, for reads alone. It
// has no port of its own: it is handed requests that came to the node.
import type { IncomingMessage, ServerResponse } from 'node:http';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { countedIds } from '../../store/base/random.ts';
import type { Door } from '../auth/admission.ts';
import { PaidFailure } from '../read/metering.ts';
import type { Endpoint } from '../request/endpoint.ts';
import type { Ended } from './ended.ts';
import type { HeldAnswers } from './heldAnswers.ts';
import { addRoutes, type ServingServices } from './routes.ts';
import { addHooks, ROUTING } from './server.ts';
import { makeTurn } from './turn.ts';

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
  readonly handOn: HandOn;
}

/** Takes a request; the port that it came to is another one's. */
export type TakeRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

export async function buildReadingServer<S extends ServingServices>(
  table: readonly Endpoint<S>[],
  { door, ended, handOn, held, own, refused, services }: Reading<S>,
): Promise<TakeRequest> {
  const server = Fastify({ logger: false, genReqId: countedIds(), routerOptions: ROUTING });
  const elsewhere = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack();
    handOn(request.raw, reply.raw);
  };
  addHooks(server, door);
  for (const endpoint of table) {
    addRoutes(server, endpoint, {
      ...{ services, own, door, held, testCursors: undefined, atTurnEnd: makeTurn() },
      ended,
      fail: ({ error, reply, request }) => {
        // It costs where it is answered.
        if (error instanceof PaidFailure) error.charge.undelivered();
        refused(error);
        elsewhere(request, reply);
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
