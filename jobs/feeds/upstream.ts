// A feed of others: its messages become records, and are stored some at a time, in their order.
import type { Clock } from '../../store/base/clock.ts';
import type { FeedMessage } from '../../pipeline/sources/feed/feedOrder.ts';
import { recordsOf } from '../../pipeline/sources/feed/feedRecords.ts';
import type { FollowedDefinition } from '../../pipeline/sources/base/source.ts';
import type { CaptureTold } from './captureMessages.ts';
import type { Playing } from './feed.ts';

/** Records that are stored at once, and how long the first of them waits. */
const BATCH_RECORDS = 500;
const BATCH_MS = 50;
/** Between two times that its place is kept: what came since is asked for again after a crash. */
const KEPT_MS = 1_000;

type Records = readonly Readonly<Record<string, unknown>>[];

/** What became of records that were handed over. */
export interface Stored {
  readonly stored: number;
  readonly rejected: number;
  /** Why the first of those was. */
  readonly reason: string | undefined;
}

interface Opening {
  readonly onOpen: () => void;
  /** Of a recording. */
  readonly onTold: (told: CaptureTold) => void;
}

/** Where it goes on after a start of the server. */
interface KeptPosition {
  readonly read: () => Promise<string | undefined>;
  readonly save: (lastId: string) => Promise<void>;
}

export interface UpstreamParts {
  readonly clock: Clock;
  readonly definition: FollowedDefinition;
  readonly position: KeptPosition;
  readonly open: (
    lastId: string | undefined,
    playing: Pick<Playing, 'signal'> & Opening,
  ) => AsyncIterable<FeedMessage>;
  /** @throws Failure of what keeps all of them from being stored: they are lost with the connection. */
  readonly write: (records: Records) => Promise<Stored>;
}

/** What it told since the server began. */
interface Counts {
  records: number;
  rejected: number;
  reason: string | undefined;
  /** When a record was stored last; undefined for never. */
  storedMs: number | undefined;
  /** What the recording has that it plays. */
  capture: CaptureTold | undefined;
}

export class Upstream {
  readonly #parts: UpstreamParts;
  /** It goes on after the last message whose records are stored. */
  #lastId: string | undefined;
  #keptId: string | undefined;
  #keptMs = 0;
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

  /** Until it ends, or a write fails: then what came since is read again, where its server can. */
  async play({ onReady, onTicks, signal }: Playing): Promise<void> {
    const { definition, open, position } = this.#parts;
    if (this.#lastId === undefined) this.#keptId = this.#lastId = await position.read();
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
      const onTold = (told: CaptureTold): void => void (this.#counts.capture = told);
      const opening = { signal: ending, onOpen: onReady, onTold };
      for await (const message of open(this.#lastId, opening)) {
        failing.signal.throwIfAborted();
        id = message.id ?? id;
        const told = recordsOf(message.text, definition);
        if ('reason' in told) this.#reject(1, told.reason);
        else batch.push(...told.records);
        if (batch.length >= BATCH_RECORDS) await flush();
        else if (batch.length > 0) timer ??= setTimeout(() => void flush(), BATCH_MS);
      }
    } finally {
      // What came is stored, also when the server stops.
      await flush().finally(() => this.#keep());
    }
  }

  async #store(records: Records, lastId: string | undefined): Promise<void> {
    const { reason, rejected, stored } = await this.#parts.write(records);
    this.#counts.records += stored;
    if (stored > 0) this.#counts.storedMs = this.#parts.clock();
    if (rejected > 0) this.#reject(rejected, reason ?? '');
    this.#lastId = lastId;
    if (this.#parts.clock() - this.#keptMs >= KEPT_MS) await this.#keep();
  }

  async #keep(): Promise<void> {
    const lastId = this.#lastId;
    if (lastId === undefined || lastId === this.#keptId) return;
    await this.#parts.position.save(lastId);
    [this.#keptId, this.#keptMs] = [lastId, this.#parts.clock()];
  }

  #reject(count: number, reason: string): void {
    this.#counts.rejected += count;
    this.#counts.reason = reason;
  }
}
