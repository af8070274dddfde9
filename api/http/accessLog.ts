// Records metrics and an access log line for each answer that was sent. Not a hook of the framework, because
// that listens for the end of every answer and takes 5 µs of each.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { monotonicMs } from '../../store/base/clock.ts';
import { redactPath } from './logging.ts';
import type { Observe } from '../introspection/metrics/requestTimes.ts';

/**
 * Call it for every reply when it was sent, or begun to be sent.
 * @param beganMs monotonic
 */
export type RecordAnswer = (request: FastifyRequest, reply: FastifyReply, beganMs: number) => void;

export function makeAccessLog(log: Logger, observe: Observe): RecordAnswer {
  const isLogged = log.isLevelEnabled('info');
  const record = (request: FastifyRequest, status: number, beganMs: number): void => {
    const elapsedMs = monotonicMs() - beganMs;
    observe(request.routeOptions.url ?? 'none', status, elapsedMs);
    if (!isLogged) return;
    const path = redactPath(request.url);
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
export const accessLogHook =
  (ended: RecordAnswer) =>
  (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    ended(request, reply, monotonicMs() - reply.elapsedTime);
    done();
  };
