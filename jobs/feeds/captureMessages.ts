// A recording of an exchange's feed as messages that come when they came then: its trades, its best offers,
// or the prices of its books.
import { setTimeout as sleep } from 'node:timers/promises';
import { type CaptureSummary, playedPieces } from '../../market/capture/capture.ts';
import { CaptureRecords, recordOfLine, tradeKey } from '../../market/capture/captureRecords.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { type CaptureDefinition, SourceFailure } from '../../pipeline/sources/base/source.ts';
import type { FeedMessage, FeedOrder } from '../../pipeline/sources/feed/feedOrder.ts';

/** A message that is due in less is told now. */
const STEP_MS = 10;

export interface CaptureOrder extends Omit<FeedOrder, 'definition'> {
  readonly definition: CaptureDefinition;
}

/** What a recording has, and what of it never came, came twice, or did not happen. */
export interface CaptureTold extends Omit<CaptureSummary, 'types' | 'protocols'> {
  /** Trades that were broken later: they are left out. */
  readonly breaks: number;
  /** All of it was told. */
  readonly isOver: boolean;
}

interface Due extends FeedMessage {
  readonly timeMs: number;
}

/**
 * Ends with its signal: a recording that is over has nothing more to tell, and is not begun again.
 * @param path of the file
 * @throws SourceFailure of a file without messages; the signal's reason.
 */
export async function* captureMessages(
  { definition, lastId, onOpen, signal }: CaptureOrder,
  path: string,
  onTold: (told: CaptureTold) => void,
): AsyncGenerator<FeedMessage, void> {
  const input = definition.dataset;
  const { broken, summary } = await lookThrough(path, signal);
  if (summary.messages === 0) throw new SourceFailure(`${definition.path} has no messages`, false);
  const told = { ...summary, breaks: broken.size };
  onTold({ ...told, isOver: false });
  onOpen();
  const found: Due[] = [];
  // Where it stands is how many records it has told.
  let [count, timeMs] = [0, 0];
  const records = new CaptureRecords(
    broken,
    (of, line) => {
      if (of !== input) return;
      count += 1;
      found.push({ text: recordOfLine(of, line), id: String(count), timeMs });
    },
    false,
  );
  const pieces = playedPieces(path, (tick, place) => {
    ({ timeMs } = tick);
    records.add(tick, place);
  });
  const wait = paced(definition.speed ?? 1, signal);
  const known = Number(lastId ?? 0);
  for await (const _ of pieces) {
    signal.throwIfAborted();
    for (const due of found.splice(0)) {
      if (Number(due.id) <= known) continue;
      await wait(due.timeMs);
      yield due;
    }
  }
  onTold({ ...told, isOver: true });
  await sleep(MOST_MS, undefined, { signal, ref: false });
}

/** A timer waits no longer. */
const MOST_MS = 2 ** 31 - 1;

async function lookThrough(
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

type Summary = Omit<CaptureTold, 'breaks' | 'isOver'>;

/** Waits until what happened at a time is due, by the first time that it is asked for. */
function paced(speed: number | 'max', signal: AbortSignal): (timeMs: number) => Promise<void> {
  let began: { readonly atMs: number; readonly timeMs: number } | undefined;
  return async (timeMs) => {
    if (speed === 'max') return;
    began ??= { atMs: monotonicMs(), timeMs };
    for (;;) {
      const leftMs = began.atMs + (timeMs - began.timeMs) / speed - monotonicMs();
      if (leftMs < STEP_MS) return;
      await sleep(Math.min(leftMs, MOST_MS), undefined, { signal, ref: false });
    }
  };
}
