// Decides which due times of a schedule are run and which are skipped: pure.
import type { MissedRuns } from '../../store/work/schedules.ts';

/** Due times counted one by one; the rest is reported as one. */
const COUNTED_MAX = 10_000;
/** A due time older than this was missed: a busy minute is no miss. */
const GRACE_MS = 60_000;

/** One run, or none, for `dues` due times of which `dueMs` is the first. */
interface DueRun {
  readonly outcome: 'RUN' | 'SKIPPED';
  readonly dueMs: number;
  readonly dues: number;
}

interface Decision {
  /** At most one of them is a run. */
  readonly runs: readonly DueRun[];
  /** The next due time; null for none. */
  readonly nextMs: number | null;
}

/**
 * @param nextMs the first due time, at or before `nowMs`
 * @param after the due time after another one
 */
export function decideDueRuns(
  nextMs: number,
  missedRuns: MissedRuns,
  nowMs: number,
  after: (ms: number) => number | undefined,
): Decision {
  const one = (outcome: DueRun['outcome'], dueMs: number, dues = 1): DueRun => ({
    outcome,
    dueMs,
    dues,
  });
  if (missedRuns === 'all') return { runs: [one('RUN', nextMs)], nextMs: after(nextMs) ?? null };
  const dues = [nextMs];
  while (dues.length < COUNTED_MAX) {
    const next = after(dues.at(-1) ?? nextMs);
    if (next === undefined || next > nowMs) break;
    dues.push(next);
  }
  const rest = after(Math.max(nowMs, dues.at(-1) ?? nextMs)) ?? null;
  if (missedRuns === 'once') return { runs: [one('RUN', nextMs, dues.length)], nextMs: rest };
  const last = dues.at(-1) ?? nextMs;
  const timely = nowMs - last <= GRACE_MS;
  const missed = timely ? dues.length - 1 : dues.length;
  const skipped = missed === 0 ? [] : [one('SKIPPED', nextMs, missed)];
  return { runs: timely ? [...skipped, one('RUN', last)] : skipped, nextMs: rest };
}
