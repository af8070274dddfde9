// What market types were made of, and their answers, as long as both are still true. Records are kept by
// key and window, so that types and batches share them; answers as bytes, until what they were made of
// changes, or the clock brings another session or a price that was delayed.
import type { Row } from '../derive/values.ts';
import type { Body } from '../../store/duckdb/protocol.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { Pending } from '../../store/lake/pushes/pending.ts';

interface Stored {
  readonly lake: Pick<Lake, 'state'>;
  readonly pending: Pick<Pending, 'sequence' | 'newest'>;
}

/** A table as it was at an instant. */
interface Stamp {
  readonly tableId: number;
  readonly changes: number;
  readonly pushed: number;
}

/** Tables that something is read from, as they are at this instant; taken before they are read. */
export interface Stamps {
  readonly tables: readonly Stamp[];
  readonly state: number;
  readonly sequence: number;
}

export interface KnownRows {
  readonly rows: readonly Row[];
  readonly snapshot: number;
  /** Tells answers of these records from those of others. */
  readonly version: readonly (string | number)[];
  /** Records that there can be by the catalog's statistics: what may be told of data of others. */
  readonly most: number;
  /** Of their JSON. */
  readonly bytes: number;
}

export interface KnownAnswer {
  readonly body: Body;
  readonly snapshot: number;
  readonly tag: string | undefined;
  /** Objects that it could have had by what its price was told from. */
  readonly most: number;
  /** From when on the clock makes another one of it, epoch milliseconds. */
  readonly steadyUntilMs: number;
}

/** Of all that is kept of one kind; a single one of more than a quarter is not kept. */
const BYTES_MAX = 96 * 1024 ** 2;
/** Objects of a record are some times its JSON. */
const ROWS_FACTOR = 4;
const OVERHEAD_BYTES = 1_024;
/** Lists that are kept. */
const LISTS_MAX = 16;

export class MarketMemory {
  readonly rows: BytesLru<KnownRows>;
  readonly answers: BytesLru<KnownAnswer>;
  /** What was made of all records of an input; few, and each of no more than one wide read. */
  readonly lists: BytesLru<Promise<object>>;
  /** How often each table was changed. */
  readonly #changes = new Map<number, number>();

  /** @param cacheBytes what the operator lets the memory of series have; an eighth of it, twice */
  constructor(cacheBytes: number) {
    const bytesMax = Math.min(BYTES_MAX, cacheBytes / 8);
    const changesOf = (tableId: number): number => this.#changes.get(tableId) ?? 0;
    this.rows = new BytesLru(bytesMax, ({ bytes }) => bytes * ROWS_FACTOR, changesOf);
    this.lists = new BytesLru(LISTS_MAX * OVERHEAD_BYTES, () => 0, changesOf);
    this.answers = new BytesLru(bytesMax, ({ body }) => body.bytes.byteLength, changesOf);
  }

  /** Before a commit shows. */
  changed(tableIds: readonly number[]): void {
    for (const tableId of tableIds) {
      this.#changes.set(tableId, (this.#changes.get(tableId) ?? 0) + 1);
    }
  }

  /** Taken before the tables are read. */
  stampsOf(tableIds: readonly number[], stored: Stored): Stamps {
    return {
      tables: tableIds.map((tableId) => ({
        tableId,
        changes: this.#changes.get(tableId) ?? 0,
        pushed: stored.pending.newest(tableId),
      })),
      state: stored.lake.state,
      sequence: stored.pending.sequence,
    };
  }
}

/** Bounded by bytes: what was asked for longest ago goes first, and what has changed when it is asked for. */
class BytesLru<Value> {
  readonly #bytesMax: number;
  readonly #sizeOf: (value: Value) => number;
  readonly #changesOf: (tableId: number) => number;
  readonly #kept = new Map<
    string,
    { readonly value: Value; stamps: Stamps; readonly size: number }
  >();
  #bytes = 0;

  constructor(
    bytesMax: number,
    sizeOf: (value: Value) => number,
    changesOf: (tableId: number) => number,
  ) {
    this.#bytesMax = bytesMax;
    this.#sizeOf = sizeOf;
    this.#changesOf = changesOf;
  }

  find(name: string, stored: Stored): Value | undefined {
    const known = this.#kept.get(name);
    if (known === undefined) return undefined;
    const stamps = stillTrue(known.stamps, stored, this.#changesOf);
    if (stamps === undefined) {
      this.drop(name);
      return undefined;
    }
    known.stamps = stamps;
    // The last one of the map is the one that was asked for last.
    this.#kept.delete(name);
    this.#kept.set(name, known);
    return known.value;
  }

  keep(name: string, value: Value, stamps: Stamps): void {
    this.drop(name);
    const size = this.#sizeOf(value) + name.length * 2 + OVERHEAD_BYTES;
    if (size > this.#bytesMax / 4) return;
    this.#kept.set(name, { value, stamps, size });
    this.#bytes += size;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.drop(oldest);
    }
  }

  drop(name: string): void {
    const known = this.#kept.get(name);
    if (known === undefined) return;
    this.#kept.delete(name);
    this.#bytes -= known.size;
  }
}

/** The stamps as of now if nothing has changed since; nearly always by one look at the whole. */
function stillTrue(
  stamps: Stamps,
  { lake, pending }: Stored,
  changesOf: (tableId: number) => number,
): Stamps | undefined {
  const { state } = lake;
  const { sequence } = pending;
  if (stamps.state === state && stamps.sequence === sequence) return stamps;
  const isSame = stamps.tables.every(
    ({ changes, pushed, tableId }) =>
      changesOf(tableId) === changes && pending.newest(tableId) === pushed,
  );
  return isSame ? { ...stamps, state, sequence } : undefined;
}
