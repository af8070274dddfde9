// Watches datasets for written records: reads each commit or push once, exactly the records that were not
// published before, and publishes them to subscribers.
import { monotonicMs } from '../../store/base/clock.ts';
import type { Hub } from '../../store/bus/hub.ts';
import type { Moment } from '../../store/lake/history/history.ts';

/** A record with the key that subscribers filter by; undefined for all subscribers. */
export interface WrittenRecord {
  readonly key: string | undefined;
  readonly json: string;
}

/** The position of a watch: a moment whose records are all published, or nothing of the dataset yet. */
export type WatchPosition = Moment | 'nothing';

export interface Change {
  /** At most `WRITTEN_MAX`. */
  readonly records: readonly WrittenRecord[];
  /** The position after these records. */
  readonly moment: Moment;
  /** Keys of ended records, `any` if they are unknown; only from readers that report it. */
  readonly endedKeys?: ReadonlySet<string> | 'any';
  /** The records written since are not available any more. */
  readonly isExpired?: boolean;
}

/** Reads records of one dataset, with the rights of the first subscriber. */
export interface RecordReader {
  /** The current position: existing records are not published. */
  readonly begin: () => Promise<WatchPosition>;
  /** @param until undefined for now */
  readonly since: (position: WatchPosition, until?: Moment) => Promise<Change>;
}

/** Maximum records of one read; of a larger load only these are published, with a notice of more. */
export const WRITTEN_MAX = 10_000;
/** Records published before the event loop is yielded. */
const YIELD_AFTER_RECORDS = 500;
/** Time for a client that requested a topic to join it; the watch runs without subscribers until then. */
const OPENING_MS = 60_000;

interface Watch {
  readonly name: string;
  readonly tableId: number;
  readonly reader: RecordReader;
  /** The watch ends when this returns false. */
  readonly isWanted: () => boolean;
  readonly onChange: (change: Change) => Promise<void>;
  position: WatchPosition;
  isReading: boolean;
  isDue: boolean;
  /** Work to run between two reads. */
  readonly turns: (() => Promise<void>)[];
}

interface WatchParts {
  readonly hub: Hub;
  readonly onFault: (reason: unknown) => void;
}

/** A message as stored in a log. */
interface LateMessage {
  readonly symbol: string;
  readonly json: string;
}

type RecalledLog = NonNullable<ReturnType<NonNullable<Hub['log']>['recovered']>>;

const isAfter = (one: Moment, other: Moment): boolean =>
  one.snapshot > other.snapshot || one.sequence > other.sequence;

/** The notice to subscribers that receive only a part of a load. */
export const MORE = JSON.stringify({ type: 'more' });

export class RecordWatches {
  readonly #parts: WatchParts;
  /** Watches by name. */
  readonly #watches = new Map<string, Watch>();
  /** The time of the last request for each topic. */
  readonly #requestedMs = new Map<string, number>();

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** Starts publishing a dataset's new records. @returns the topic */
  async watch(tableId: number, shape: string, reader: RecordReader): Promise<string> {
    const topic = `records/${tableId}/${shape}`;
    this.#requestedMs.set(topic, monotonicMs());
    await this.follow({
      name: topic,
      tableId,
      reader,
      isWanted: () => this.#parts.hub.hasTopicSubscribers(topic) || this.#wasRequested(topic),
      onChange: ({ records }) => this.#publish(topic, records),
    });
    return topic;
  }

  #wasRequested(topic: string): boolean {
    return monotonicMs() - (this.#requestedMs.get(topic) ?? -Infinity) < OPENING_MS;
  }

  /**
   * Runs a function between two reads of a watched topic, so that everything published before is of one
   * moment. Undefined if the topic is not watched any more.
   */
  async between<T>(topic: string, run: (position: WatchPosition) => T): Promise<T | undefined> {
    const watch = this.#watches.get(topic);
    if (watch === undefined) return undefined;
    return new Promise((resolve) => {
      this.#turn(watch, async () => resolve(run(watch.position)));
    });
  }

  #turn(watch: Watch, turn: () => Promise<void>): void {
    watch.turns.push(turn);
    if (!watch.isReading) void this.#read(watch);
  }

  /** Starts logging the messages of a watched topic, after those published since the watch began. */
  async keep(topic: string): Promise<void> {
    const { hub, onFault } = this.#parts;
    const { log } = hub;
    const watch = this.#watches.get(topic);
    if (log === undefined || watch === undefined || log.isLogged(topic)) return;
    if (!(await log.ensureOpen())) return;
    await new Promise<void>((resolve) => {
      this.#turn(watch, async () => {
        const recalled = log.recovered(topic);
        const missing = recalled && (await this.#missing(watch, recalled).catch(onFault));
        log.startLogging(topic, missing ?? undefined);
        if (watch.position !== 'nothing') log.setCheckpoint(topic, JSON.stringify(watch.position));
        resolve();
      });
    });
    // A client that joins now continues after this position of the log.
    await log.flushed();
  }

  /** Reads the records written after the logged messages of a topic; undefined if they are not available. */
  async #missing(
    { reader, position: until }: Watch,
    { checkpoint: position, messages: publishedJson }: RecalledLog,
  ): Promise<readonly LateMessage[] | undefined> {
    const since = JSON.parse(position) as Moment;
    // A restored catalog may be behind the published messages.
    if (until === 'nothing' || isAfter(since, until)) return undefined;
    if (!isAfter(until, since)) return [];
    const { isExpired, records } = await reader.since(since, until);
    if (isExpired === true) return undefined;
    const missing = records.filter(({ json }) => !publishedJson.has(json));
    const all = missing.map(({ json, key = '' }) => ({ symbol: key, json }));
    return records.length < WRITTEN_MAX ? all : [...all, { symbol: '', json: MORE }];
  }

  /**
   * Watches the new records of a dataset while they are wanted; a second call with its name does nothing.
   * @returns whether the watch was started
   */
  async follow(
    watch: Pick<Watch, 'name' | 'tableId' | 'reader' | 'isWanted' | 'onChange'>,
  ): Promise<boolean> {
    if (this.#watches.has(watch.name)) return false;
    const position = await watch.reader.begin();
    // A concurrent call may have started it.
    if (this.#watches.has(watch.name)) return false;
    this.#watches.set(watch.name, {
      ...watch,
      position,
      isReading: false,
      isDue: false,
      turns: [],
    });
    return true;
  }

  /** The position of a watch: all earlier records are published or older; excludes the current read. */
  findPosition(name: string): WatchPosition | undefined {
    return this.#watches.get(name)?.position;
  }

  /** Schedules reads after a write into these tables. */
  scheduleReads(tableIds: readonly number[]): void {
    for (const watch of this.#watches.values()) {
      if (!tableIds.includes(watch.tableId)) continue;
      if (!watch.isWanted()) {
        this.#watches.delete(watch.name);
        this.#requestedMs.delete(watch.name);
        this.#parts.hub.log?.stopLogging(watch.name);
        continue;
      }
      watch.isDue = true;
      if (!watch.isReading) void this.#read(watch);
    }
  }

  async #read(watch: Watch): Promise<void> {
    watch.isReading = true;
    try {
      for (;;) {
        const [turn] = watch.turns.splice(0, 1);
        if (turn !== undefined) await turn();
        else if (watch.isDue) await this.#next(watch);
        else return;
      }
    } catch (error) {
      // The next change publishes these records too: they are only delayed.
      this.#parts.onFault(error);
    } finally {
      watch.isReading = false;
      // Runs work that arrived while the last read failed.
      if (watch.turns.length > 0) void this.#read(watch);
    }
  }

  async #next(watch: Watch): Promise<void> {
    watch.isDue = false;
    const change = await watch.reader.since(watch.position);
    await watch.onChange(change);
    watch.position = change.moment;
    this.#parts.hub.log?.setCheckpoint(watch.name, JSON.stringify(change.moment));
  }

  async #publish(topic: string, records: readonly WrittenRecord[]): Promise<void> {
    const { hub } = this.#parts;
    for (const [at, { json, key }] of records.entries()) {
      if (at % YIELD_AFTER_RECORDS === YIELD_AFTER_RECORDS - 1) await new Promise(setImmediate);
      if (key === undefined) hub.broadcast(topic, json);
      else hub.publish(topic, key, () => json);
    }
    if (records.length >= WRITTEN_MAX) hub.broadcast(topic, MORE);
  }
}
