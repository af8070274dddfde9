// Records of datasets as they are written: read once after each commit or push, exactly those that were not
// told before, and published to whoever listens.
import type { Hub } from '../../store/bus/hub.ts';
import type { Moment } from '../../store/history/history.ts';

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
}

/** How records of one dataset are read, by the rights of who listened first. */
export interface RecordReader {
  /** Where it stands now: what is there is told to nobody. */
  readonly begin: () => Promise<Stand>;
  readonly since: (stand: Stand) => Promise<Change>;
}

/** Records of one reading; of a load of more only these are told, and that there are more. */
export const WRITTEN_MAX = 10_000;
/** Records that are told in one turn of the loop. */
const TURN_RECORDS = 500;

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
}

interface WatchParts {
  readonly hub: Hub;
  readonly onFault: (reason: unknown) => void;
}

/** Message for those who get a part of a load. */
const MORE = JSON.stringify({ type: 'more' });

export class RecordWatches {
  readonly #parts: WatchParts;
  /** By name. */
  readonly #watches = new Map<string, Watch>();

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** The topic of a dataset's records from now on. */
  async watch(tableId: number, shape: string, reader: RecordReader): Promise<string> {
    const topic = `records/${tableId}/${shape}`;
    await this.follow({
      ...{ name: topic, tableId, reader },
      isWanted: () => this.#parts.hub.hears(topic),
      tell: ({ records }) => this.#publish(topic, records),
    });
    return topic;
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
    this.#watches.set(watch.name, { ...watch, stand, isReading: false, isDue: false });
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
        continue;
      }
      watch.isDue = true;
      if (!watch.isReading) void this.#read(watch);
    }
  }

  async #read(watch: Watch): Promise<void> {
    watch.isReading = true;
    try {
      while (watch.isDue) {
        watch.isDue = false;
        const change = await watch.reader.since(watch.stand);
        await watch.tell(change);
        watch.stand = change.moment;
      }
    } catch (error) {
      // Told again with the next change: nothing is lost but time.
      this.#parts.onFault(error);
    } finally {
      watch.isReading = false;
    }
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
