// The only file that reads the clock. Everything else takes a `Clock` or a time as an argument.

/** Epoch milliseconds. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Monotonic milliseconds, for durations only. */
export const monotonicMs = (): number => performance.now();

/** `2026-01-31T12:00:00.000Z` of an epoch-millisecond time. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** A file name for a time: `2026-01-31T120000.000Z`. */
export const momentName = (ms: number): string => isoTime(ms).replaceAll(':', '');
