// An upstream feed: its messages become records, which are stored in batches, in their order.
import type { Clock } from '../../store/base/clock.ts';
import type { FeedMessage } from '../../pipeline/sources/feed/feedOrder.ts';
import { parseRecords } from '../../pipeline/sources/feed/feedRecords.ts';
import type { FollowedDefinition } from '../../pipeline/sources/base/source.ts';
import type { CaptureCounts } from './captureMessages.ts';
import type { Playing } from './feed.ts';

/** Records of a batch, and how long the first of them waits. */
const BATCH_RECORDS = 500;
const BATCH_MS = 50;
/** Interval between two saves of its position: later messages are requested again after a crash. */
const SAVE_MS = 1_000;

type Records = readonly Readonly<Record<string, unknown>>[];

/** Outcome of a write. */
export interface WriteOutcome {
  readonly stored: number;
  readonly rejected: number;
  /** Why the first rejected record was. */
  readonly reason: string | undefined;
}

interface Opening {
  readonly onOpen: () => void;
  /** Of a recording. */
  readonly onCounts: (counts: CaptureCounts) => void;
}

/** The position at which it resumes after a start of the server. */
interface StoredPosition {
  readonly read: () => Promise<string | undefined>;
  readonly save: (lastId: string) => Promise<void>;
}

export interface UpstreamParts {
  readonly clock: Clock;
  readonly definition: FollowedDefinition;
  readonly position: StoredPosition;
  readonly open: (
    lastId: string | undefined,
    playing: Pick<Playing, 'signal'> & Opening,
  ) => AsyncIterable<FeedMessage>;
  /** @throws Failure where none of them can be stored: they are lost with the connection. */
  readonly write: (records: Records) => Promise<WriteOutcome>;
}

/** Counts since the server started. */
interface Counts {
  records: number;
  rejected: number;
  reason: string | undefined;
  /** Time of the last stored record; undefined for never. */
  storedMs: number | undefined;
  /** Counts of the recording that it plays. */
  capture: CaptureCounts | undefined;
}

export class Upstream {
  readonly #parts: UpstreamParts;
  /** Id of the last message whose records are stored: it resumes after it. */
  #lastId: string | undefined;
  #savedId: string | undefined;
  #savedMs = 0;
  readonly #counts: Counts = {
    records: 0,
    rejected: 0,
    reason: undefined,
    storedMs: undefined,
    capture: undefined,
  };

  constructor(parts: UpstreamParts) {
    this.#parts = parts;
  }

  counts(): Readonly<Counts> {
    return this.#counts;
  }

  /** Plays until it ends, or a write fails: then later messages are read again, if its server supports it. */
  async play({ onReady, onTicks, signal }: Playing): Promise<void> {
    const { definition, open, position } = this.#parts;
    if (this.#lastId === undefined) this.#savedId = this.#lastId = await position.read();
    const failing = new AbortController();
    const ending = AbortSignal.any([signal, failing.signal]);
    let batch: Readonly<Record<string, unknown>>[] = [];
    let id: string | undefined;
    let writing: Promise<void> = Promise.resolve();
    let timer: NodeJS.Timeout | undefined;
    const flush = (): Promise<void> => {
      clearTimeout(timer);
      timer = undefined;
      const [records, lastId] = [batch, id];
      batch = [];
      if (records.length > 0) {
        writing = writing
          .then(() => this.#store(records, lastId))
          .then(() => onTicks(records.length));
        writing.catch((error: unknown) => failing.abort(error));
      }
      return writing;
    };
    try {
      const onCounts = (counts: CaptureCounts): void => void (this.#counts.capture = counts);
      const opening = { signal: ending, onOpen: onReady, onCounts };
      for await (const message of open(this.#lastId, opening)) {
        failing.signal.throwIfAborted();
        id = message.id ?? id;
        const parsed = parseRecords(message.text, definition);
        if ('reason' in parsed) this.#reject(1, parsed.reason);
        else batch.push(...parsed.records);
        if (batch.length >= BATCH_RECORDS) await flush();
        else if (batch.length > 0) timer ??= setTimeout(() => void flush(), BATCH_MS);
      }
    } finally {
      // Received records are stored, also when the server stops.
      await flush().finally(() => this.#savePosition());
    }
  }

  async #store(records: Records, lastId: string | undefined): Promise<void> {
    const { reason, rejected, stored } = await this.#parts.write(records);
    this.#counts.records += stored;
    if (stored > 0) this.#counts.storedMs = this.#parts.clock();
    if (rejected > 0) this.#reject(rejected, reason ?? '');
    this.#lastId = lastId;
    if (this.#parts.clock() - this.#savedMs >= SAVE_MS) await this.#savePosition();
  }

  async #savePosition(): Promise<void> {
    const lastId = this.#lastId;
    if (lastId === undefined || lastId === this.#savedId) return;
    await this.#parts.position.save(lastId);
    [this.#savedId, this.#savedMs] = [lastId, this.#parts.clock()];
  }

  #reject(count: number, reason: string): void {
    this.#counts.rejected += count;
    this.#counts.reason = reason;
  }
}
