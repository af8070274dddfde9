// Checks whether a node is reachable. A network that drops packets reports no error: without this check a
// request on an open connection would wait for ever.
import type { Agent } from 'node:http';
import { request as secureRequest } from 'node:https';
import { http } from '../../store/base/http.ts';
import type { RenewedAgent } from './renewedAgent.ts';

/** Timeout of a health check. */
const ANSWER_TIMEOUT_MS = 2_000;
const PATH = '/healthz';
/** A node that misses this many checks is considered unreachable. */
const WATCH_DEFAULTS = { everyMs: 5_000, misses: 3 } as const;

export interface Reachability {
  /** Checks, or joins a check in progress. */
  readonly checkReachable: () => Promise<boolean>;
  /** Calls `onLost` once if the node is unreachable; returns a function that stops the watch. */
  readonly watch: (onLost: () => void) => () => void;
}

interface ReachOptions {
  readonly probe: () => Promise<boolean>;
  /** Interval of checks while somebody watches. */
  readonly everyMs: number;
  /** Failed checks in a row: a busy node or a bad network may miss one. */
  readonly misses: number;
}

export function makeReachability({ probe, everyMs, misses }: ReachOptions): Reachability {
  const watchers = new Set<() => void>();
  let running: Promise<boolean> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let missed = 0;
  const isReached = (): Promise<boolean> =>
    (running ??= probe().finally(() => {
      running = undefined;
    }));
  const check = async (): Promise<void> => {
    missed = (await isReached()) ? 0 : missed + 1;
    if (missed < misses) return;
    const callbacks = [...watchers];
    watchers.clear();
    stopIfUnwatched();
    for (const onLost of callbacks) onLost();
  };
  const stopIfUnwatched = (): void => {
    if (watchers.size > 0) return;
    clearInterval(timer);
    [timer, missed] = [undefined, 0];
  };
  return {
    checkReachable: isReached,
    watch: (onLost) => {
      watchers.add(onLost);
      timer ??= setInterval(() => void check(), everyMs).unref();
      return () => {
        watchers.delete(onLost);
        stopIfUnwatched();
      };
    },
  };
}

/** Checks a node by its health page. @param connections creates an agent for the check */
export function nodeReachability(
  url: URL,
  agent: RenewedAgent,
  connections: () => Agent,
): Reachability {
  const probe = async (): Promise<boolean> => {
    const isReached = await probeHealth(url, connections());
    // Requests on the old connections would wait long even after the node is reachable again.
    if (!isReached) agent.renew();
    return isReached;
  };
  return makeReachability({ probe: probe, ...WATCH_DEFAULTS });
}

/** Requests the health page on a separate connection. */
async function probeHealth(url: URL, agent: Agent): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const send = url.protocol === 'https:' ? secureRequest : http.request;
  const healthRequest = send(new URL(PATH, url), { agent }, (answer) => {
    answer.resume();
    resolve(answer.statusCode === 200);
  });
  const timeout = setTimeout(() => resolve(false), ANSWER_TIMEOUT_MS);
  healthRequest.on('error', () => resolve(false)).end();
  return promise.finally(() => {
    clearTimeout(timeout);
    agent.destroy();
  });
}
