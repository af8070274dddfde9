// Limits the request rate of callers, measured in milliseconds, with bursts (SPEC.md "Limits").
import { LruMap } from 'toad-cache';

/**
 * Maximum tracked keys, 16 MB when full. The least recently used key is evicted and starts again with a full
 * burst. This allows nothing extra as long as fewer keys than this send requests within the time in which a
 * burst recovers: by then an idle key has its full burst anyway.
 */
export const KEYS_MAX = 100_000;

/** One request in the units of `Spent.level`, which stay whole numbers for any whole rate. */
const REQUEST = 1000;

interface Spent {
  /** Thousandths of requests taken and not yet recovered, at `atMs`. */
  level: number;
  atMs: number;
}

export interface RateLimiter {
  /**
   * Takes one request of `key`, which may send `burst` (>= 1) at once and `perSecond` (> 0) sustained.
   * Returns 0 if it is allowed, else the whole milliseconds (>= 1) until the next one will be; a refused
   * request takes nothing. Rate and burst may change from one call to the next.
   */
  readonly take: (key: string, perSecond: number, burst: number) => number;
  /** Takes up to `most` requests at once, as many as are allowed now. */
  readonly takeUpTo: (key: string, perSecond: number, burst: number, most: number) => number;
}

/**
 * The generic cell rate algorithm in its form of a leaking bucket (ITU-T I.371, annex A): in no
 * window of time more than burst + rate x window requests.
 * `clockMs` should be monotonic; a step back counts as no elapsed time.
 */
export function makeRateLimiter(clockMs: () => number): RateLimiter {
  const keys = new LruMap<Spent>(KEYS_MAX);
  const findSpent = (key: string, nowMs: number): Spent => {
    const tracked = keys.get(key);
    if (tracked !== undefined) return tracked;
    const spent = { level: 0, atMs: nowMs };
    keys.set(key, spent);
    return spent;
  };
  /** The level at the current time. */
  const recoverSpent = (key: string, perSecond: number): Spent => {
    const nowMs = clockMs();
    const spent = findSpent(key, nowMs);
    // A thousandth of a request per millisecond is a request per second.
    const recovered = Math.max(0, nowMs - spent.atMs) * perSecond;
    spent.level = Math.max(0, spent.level - recovered);
    spent.atMs = nowMs;
    return spent;
  };
  return {
    take: (key, perSecond, burst) => {
      const spent = recoverSpent(key, perSecond);
      const over = spent.level + REQUEST - burst * REQUEST;
      if (over > 0) return Math.ceil(over / perSecond);
      spent.level += REQUEST;
      return 0;
    },
    takeUpTo: (key, perSecond, burst, most) => {
      const spent = recoverSpent(key, perSecond);
      const free = Math.max(0, Math.floor((burst * REQUEST - spent.level) / REQUEST));
      const count = Math.min(most, free);
      spent.level += count * REQUEST;
      return count;
    },
  };
}
