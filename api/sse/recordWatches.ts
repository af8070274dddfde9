// Records of datasets as they are written: read once after each commit or push, exactly those that were not
// told before, and published to whoever listens.
import { monotonicMs } from '../../store/base/clock.ts';
import type { Hub } from '../../store/bus/hub.ts';
import type { Moment } from '../../store/lake/history/history.ts';

/** A record, and the key by which subscribers choose; undefined for all of them. */
export interface Written {
  readonly key: string | undefined;
  readonly json: string;
}

/** What was told: of a moment all that was there, or nothing of the dataset yet. */
export type Stand = Moment | 'nothing';

export interface Change {
  /** At most `WRITTEN_MAX`. */
  readonly records: readonly Written[];
  /** Where it stands after them. */
  readonly moment: Moment;
  /** Keys of records that are gone; `any` where nobody knows which. Of readers that tell it. */
  readonly gone?: ReadonlySet<string> | 'any';
  /** What was written since is not known any more. */
  readonly isUnknown?: boolean;
}

/** How records of one dataset are read, by the rights of who listened first. */
export interface RecordReader {
  /** Where it stands now: what is there is told to nobody. */
  readonly begin: () => Promise<Stand>;
  /** @param until undefined for now */
  readonly since: (stand: Stand, until?: Moment) => Promise<Change>;
}

/** Records of one reading; of a load of more only these are told, and that there are more. */
export const WRITTEN_MAX = 10_000;
/** Records that are told in one turn of the loop. */
const TURN_RECORDS = 500;
/** Whoever asked for a topic joins it soon: until then it is watched for nobody. */
const OPENING_MS = 60_000;

interface Watch {
  readonly name: string;
  readonly tableId: number;
  readonly reader: RecordReader;
  /** Else it ends. */
  readonly isWanted: () => boolean;
  readonly tell: (change: Change) => Promise<void>;
  stand: Stand;
  isReading: boolean;
  isDue: boolean;
  /** Done between two readings. */
  readonly turns: (() => Promise<void>)[];
}

interface WatchParts {
  readonly hub: Hub;
  readonly onFault: (reason: unknown) => void;
}

/** As a log keeps it. */
interface LateMessage {
  readonly symbol: string;
  readonly json: string;
}

const isAfter = (one: Moment, other: Moment): boolean =>
  one.snapshot > other.snapshot || one.sequence > other.sequence;

/** Message for those who get a part of a load. */
export const MORE = JSON.stringify({ type: 'more' });

export class RecordWatches {
  readonly #parts: WatchParts;
  /** By name. */
  readonly #watches = new Map<string, Watch>();
  /** When somebody asked for a topic last. */
  readonly #askedMs = new Map<string, number>();

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** The topic of a dataset's records from now on. */
  async watch(tableId: number, shape: string, reader: RecordReader): Promise<string> {
    const topic = `records/${tableId}/${shape}`;
    this.#askedMs.set(topic, monotonicMs());
    await this.follow({
      name: topic,
      tableId,
      reader,
      isWanted: () => this.#parts.hub.hears(topic) || this.#isAsked(topic),
      tell: ({ records }) => this.#publish(topic, records),
    });
    return topic;
  }

  #isAsked(topic: string): boolean {
    return monotonicMs() - (this.#askedMs.get(topic) ?? -Infinity) < OPENING_MS;
  }

  /**
   * Runs between two readings of a topic that is watched, at once: what was told until then is of one
   * moment. Undefined where it is not watched any more.
   */
  async between<T>(topic: string, run: (stand: Stand) => T): Promise<T | undefined> {
    const watch = this.#watches.get(topic);
    if (watch === undefined) return undefined;
    return new Promise((resolve) => {
      this.#turn(watch, async () => resolve(run(watch.stand)));
    });
  }

  #turn(watch: Watch, turn: () => Promise<void>): void {
    watch.turns.push(turn);
    if (!watch.isReading) void this.#read(watch);
  }

  /** Messages of a topic that is watched are kept from here on, after those that came since it was. */
  async keep(topic: string): Promise<void> {
    const { hub, onFault } = this.#parts;
    const { log } = hub;
    const watch = this.#watches.get(topic);
    if (log === undefined || watch === undefined || log.isKept(topic)) return;
    if (!(await log.opened())) return;
    await new Promise<void>((resolve) => {
      this.#turn(watch, async () => {
        const recalled = log.recalled(topic);
        const missing = recalled && (await this.#missing(watch, recalled).catch(onFault));
        log.keep(topic, missing ?? undefined);
        if (watch.stand !== 'nothing') log.mark(topic, JSON.stringify(watch.stand));
        resolve();
      });
    });
    // Who joins now goes on from behind what the log says of this.
    await log.settled();
  }

  /** What was written after what others told of a topic; undefined where nobody knows. */
  async #missing(
    { reader, stand: until }: Watch,
    { stand, told }: { readonly stand: string; readonly told: ReadonlySet<string> },
  ): Promise<readonly LateMessage[] | undefined> {
    const since = JSON.parse(stand) as Moment;
    // A catalog that was restored may stand before what was told.
    if (until === 'nothing' || isAfter(since, until)) return undefined;
    if (!isAfter(until, since)) return [];
    const { isUnknown, records } = await reader.since(since, until);
    if (isUnknown === true) return undefined;
    const missing = records.filter(({ json }) => !told.has(json));
    const all = missing.map(({ json, key = '' }) => ({ symbol: key, json }));
    return records.length < WRITTEN_MAX ? all : [...all, { symbol: '', json: MORE }];
  }

  /**
   * Records of a dataset from now on, as long as they are wanted. Again by one name it does nothing.
   * @returns whether it begins
   */
  async follow(
    watch: Pick<Watch, 'name' | 'tableId' | 'reader' | 'isWanted' | 'tell'>,
  ): Promise<boolean> {
    if (this.#watches.has(watch.name)) return false;
    const stand = await watch.reader.begin();
    // Another may have begun meanwhile.
    if (this.#watches.has(watch.name)) return false;
    this.#watches.set(watch.name, { ...watch, stand, isReading: false, isDue: false, turns: [] });
    return true;
  }

  /** What was written by then is told, or was there before; what is being told is not. */
  standOf(name: string): Stand | undefined {
    return this.#watches.get(name)?.stand;
  }

  /** Something was written into these tables. */
  changed(tableIds: readonly number[]): void {
    for (const watch of this.#watches.values()) {
      if (!tableIds.includes(watch.tableId)) continue;
      if (!watch.isWanted()) {
        this.#watches.delete(watch.name);
        this.#askedMs.delete(watch.name);
        this.#parts.hub.log?.forget(watch.name);
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
      // Told again with the next change: nothing is lost but time.
      this.#parts.onFault(error);
    } finally {
      watch.isReading = false;
      // Of those that came while the last reading failed.
      if (watch.turns.length > 0) void this.#read(watch);
    }
  }

  async #next(watch: Watch): Promise<void> {
    watch.isDue = false;
    const change = await watch.reader.since(watch.stand);
    await watch.tell(change);
    watch.stand = change.moment;
    this.#parts.hub.log?.mark(watch.name, JSON.stringify(change.moment));
  }

  async #publish(topic: string, records: readonly Written[]): Promise<void> {
    const { hub } = this.#parts;
    for (const [at, { json, key }] of records.entries()) {
      if (at % TURN_RECORDS === TURN_RECORDS - 1) await new Promise(setImmediate);
      if (key === undefined) hub.announce(topic, json);
      else hub.publish(topic, key, () => json);
    }
    if (records.length >= WRITTEN_MAX) hub.announce(topic, MORE);
  }
}
