// How fast a caller may ask, measured in milliseconds, with bursts (SPEC.md "Limits").
import { LruMap } from 'toad-cache';

/**
 * Keys remembered, 16 MB when full. The least recently used one is forgotten, which means that it
 * begins anew with a whole burst. That gives nothing away as long as fewer keys than this ask
 * within the time in which a burst grows back: by then a key left alone is as good as new.
 */
export const KEYS_MAX = 100_000;

/** One request in the units of `Spent.level`, which stay whole numbers for any whole rate. */
const REQUEST = 1000;

interface Spent {
  /** Thousandths of requests taken and not yet grown back, at `atMs`. */
  level: number;
  atMs: number;
}

export interface RateLimiter {
  /**
   * One request of `key`, which may make `burst` (>= 1) at once and `perSecond` (> 0) for ever.
   * Answers 0 when it is allowed, else after how many whole milliseconds (>= 1) one more will be;
   * a refused request takes nothing. Rate and burst may change from one call to the next.
   */
  readonly take: (key: string, perSecond: number, burst: number) => number;
  /** Takes up to `most` requests at once, as many as are allowed now. */
  readonly takeUpTo: (key: string, perSecond: number, burst: number, most: number) => number;
}

/**
 * The generic cell rate algorithm in its form of a leaking bucket (ITU-T I.371, annex A): in no
 * window of time more than burst + rate x window requests.
 * `clockMs` should be monotonic; a step back counts as no time.
 */
export function makeRateLimiter(clockMs: () => number): RateLimiter {
  const keys = new LruMap<Spent>(KEYS_MAX);
  const spentOf = (key: string, nowMs: number): Spent => {
    const known = keys.get(key);
    if (known !== undefined) return known;
    const spent = { level: 0, atMs: nowMs };
    keys.set(key, spent);
    return spent;
  };
  /** As it is now. */
  const grown = (key: string, perSecond: number): Spent => {
    const nowMs = clockMs();
    const spent = spentOf(key, nowMs);
    // A thousandth of a request per millisecond is a request per second.
    const grownBack = Math.max(0, nowMs - spent.atMs) * perSecond;
    spent.level = Math.max(0, spent.level - grownBack);
    spent.atMs = nowMs;
    return spent;
  };
  return {
    take: (key, perSecond, burst) => {
      const spent = grown(key, perSecond);
      const over = spent.level + REQUEST - burst * REQUEST;
      if (over > 0) return Math.ceil(over / perSecond);
      spent.level += REQUEST;
      return 0;
    },
    takeUpTo: (key, perSecond, burst, most) => {
      const spent = grown(key, perSecond);
      const free = Math.max(0, Math.floor((burst * REQUEST - spent.level) / REQUEST));
      const count = Math.min(most, free);
      spent.level += count * REQUEST;
      return count;
    },
  };
}
