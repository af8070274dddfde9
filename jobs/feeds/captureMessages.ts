// Replays a recording of an exchange's feed as messages at their original times: its trades, its best offers,
// or the prices of its books.
import { setTimeout as sleep } from 'node:timers/promises';
import { type CaptureSummary, playedPieces } from '../../market/capture/capture.ts';
import { CaptureRecords, recordOfLine, tradeKey } from '../../market/capture/captureRecords.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { type CaptureDefinition, SourceFailure } from '../../pipeline/sources/base/source.ts';
import type { FeedMessage, FeedOrder } from '../../pipeline/sources/feed/feedOrder.ts';

/** A message that is due sooner is sent immediately. */
const STEP_MS = 10;

export interface CaptureOrder extends Omit<FeedOrder, 'definition'> {
  readonly definition: CaptureDefinition;
}

/** Counts of a recording, with messages that are missing, duplicate, or of broken trades. */
export interface CaptureCounts extends Omit<CaptureSummary, 'types' | 'protocols'> {
  /** Trades that were broken later: they are left out. */
  readonly breaks: number;
  /** All of it was sent. */
  readonly isOver: boolean;
}

interface Due extends FeedMessage {
  readonly timeMs: number;
}

/**
 * Ends only with its signal: a recording that is over has no more messages, and is not restarted.
 * @param path of the file
 * @throws SourceFailure of a file without messages; the signal's reason.
 */
export async function* captureMessages(
  { definition, lastId, onOpen, signal }: CaptureOrder,
  path: string,
  onCounts: (counts: CaptureCounts) => void,
): AsyncGenerator<FeedMessage, void> {
  const input = definition.dataset;
  const { broken, summary } = await scanCapture(path, signal);
  if (summary.messages === 0) throw new SourceFailure(`${definition.path} has no messages`, false);
  const counts = { ...summary, breaks: broken.size };
  onCounts({ ...counts, isOver: false });
  onOpen();
  const queue: Due[] = [];
  // Its position is the count of records that it has sent.
  let [count, timeMs] = [0, 0];
  const records = new CaptureRecords(
    broken,
    (of, line) => {
      if (of !== input) return;
      count += 1;
      queue.push({ text: recordOfLine(of, line), id: String(count), timeMs });
    },
    false,
  );
  const pieces = playedPieces(path, (tick, place) => {
    ({ timeMs } = tick);
    records.add(tick, place);
  });
  const wait = createPacer(definition.speed ?? 1, signal);
  const lastCount = Number(lastId ?? 0);
  for await (const _ of pieces) {
    signal.throwIfAborted();
    for (const due of queue.splice(0)) {
      if (Number(due.id) <= lastCount) continue;
      await wait(due.timeMs);
      yield due;
    }
  }
  onCounts({ ...counts, isOver: true });
  await sleep(TIMER_MS_MAX, undefined, { signal, ref: false });
}

/** Longest delay of a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1;

async function scanCapture(
  path: string,
  signal: AbortSignal,
): Promise<{ readonly broken: ReadonlySet<string>; readonly summary: Summary }> {
  const broken = new Set<string>();
  const pieces = playedPieces(path, (tick) => {
    if (tick.kind === 'break') broken.add(tradeKey(tick));
  });
  try {
    for (;;) {
      const { done, value } = await pieces.next();
      if (done === true) {
        const { protocols: _, types: __, ...summary } = value;
        return { broken, summary };
      }
      signal.throwIfAborted();
    }
  } finally {
    await pieces[Symbol.asyncDispose]();
  }
}

type Summary = Omit<CaptureCounts, 'breaks' | 'isOver'>;

/** Returns a function that waits until a time is due, relative to the first call. */
function createPacer(
  speed: number | 'max',
  signal: AbortSignal,
): (timeMs: number) => Promise<void> {
  let began: { readonly atMs: number; readonly timeMs: number } | undefined;
  return async (timeMs) => {
    if (speed === 'max') return;
    began ??= { atMs: monotonicMs(), timeMs };
    for (;;) {
      const leftMs = began.atMs + (timeMs - began.timeMs) / speed - monotonicMs();
      if (leftMs < STEP_MS) return;
      await sleep(Math.min(leftMs, TIMER_MS_MAX), undefined, { signal, ref: false });
    }
  };
}
