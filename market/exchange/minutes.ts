// Minute bars, aggregated from the trades of a session.
import type { Trade } from './trades.ts';

/** Prices in cents. */
interface Minute {
  /** Since the opening. */
  readonly minute: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
  /** Cents. */
  readonly notional: number;
  readonly trades: number;
}

/** In the order of time; a minute without a trade has no bar. */
export function toMinutes(trades: readonly Trade[]): readonly Minute[] {
  const minutes: Minute[] = [];
  for (const { cents, minute, size } of trades) {
    const last = minutes.at(-1);
    const existing = last?.minute === minute ? minutes.pop() : undefined;
    minutes.push({
      minute,
      open: existing?.open ?? cents,
      high: Math.max(existing?.high ?? cents, cents),
      low: Math.min(existing?.low ?? cents, cents),
      close: cents,
      volume: (existing?.volume ?? 0) + size,
      notional: (existing?.notional ?? 0) + cents * size,
      trades: (existing?.trades ?? 0) + 1,
    });
  }
  return minutes;
}
