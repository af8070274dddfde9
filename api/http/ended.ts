// Records metrics and an access log line for each answer that was sent. Not a hook of the framework, because
// that listens for the end of every answer and takes 5 µs of each.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { monotonicMs } from '../../store/base/clock.ts';
import { pathLogged } from './logging.ts';
import type { Observe } from '../about/metrics/requestTimes.ts';

/**
 * Call it for every reply when it was sent, or begun to be sent.
 * @param beganMs monotonic
 */
export type Ended = (request: FastifyRequest, reply: FastifyReply, beganMs: number) => void;

export function makeEnded(log: Logger, observe: Observe): Ended {
  const isLogged = log.isLevelEnabled('info');
  const record = (request: FastifyRequest, status: number, beganMs: number): void => {
    const elapsedMs = monotonicMs() - beganMs;
    observe(request.routeOptions.url ?? 'none', status, elapsedMs);
    if (!isLogged) return;
    const path = pathLogged(request.url);
    const ms = Math.round(elapsedMs * 10) / 10;
    const { id: requestId, method } = request;
    log.info({ requestId, method, path, status, ms }, 'request');
  };
  return (request, { raw, statusCode }, beganMs) => {
    if (raw.writableEnded || raw.closed || raw.destroyed) record(request, statusCode, beganMs);
    else raw.once('close', () => record(request, statusCode, beganMs));
  };
}

/** The same as a hook, for routes outside the table of endpoints. */
export const endedHook =
  (ended: Ended) =>
  (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    ended(request, reply, monotonicMs() - reply.elapsedTime);
    done();
  };
