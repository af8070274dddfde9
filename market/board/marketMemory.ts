// Cache of records and answers of market types, valid until their sources change. Records are cached by key
// and window, so that types and batches share them; answers as bytes, until their records change, or the
// clock brings another session or makes a delayed price visible.
import type { Row } from '../derive/values.ts';
import type { InputBody } from '../types/inputRows.ts';
import type { Body } from '../../store/duckdb/protocol.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { Pending } from '../../store/lake/pushes/pending.ts';

interface Stored {
  readonly lake: Pick<Lake, 'state'>;
  readonly pending: Pick<Pending, 'sequence' | 'latestSequence'>;
}

/** Version of a table at an instant. */
interface Stamp {
  readonly tableId: number;
  readonly changes: number;
  readonly pushed: number;
}

/** Versions of the tables of a read; taken before they are read. */
export interface Stamps {
  readonly tables: readonly Stamp[];
  readonly state: number;
  readonly sequence: number;
}

/** Records of one key in one window. */
export interface KnownRecords {
  /** Parsed ones, or the bytes of many, which are parsed where they are used. */
  readonly records: readonly Row[] | InputBody;
  readonly count: number;
  readonly snapshot: number;
  /** Distinguishes answers of these records from others. */
  readonly version: readonly (string | number)[];
  /** Upper bound of records by the catalog's statistics: a count that may be shown for data of others. */
  readonly most: number;
  /** Size of their JSON. */
  readonly bytes: number;
}

export interface KnownAnswer {
  readonly body: Body;
  readonly snapshot: number;
  readonly tag: string | undefined;
  /** Upper bound of objects for the price shown in advance. */
  readonly most: number;
  /** Instant at which the clock may change it, epoch milliseconds. */
  readonly steadyUntilMs: number;
}

export const isParsed = (records: KnownRecords['records']): records is readonly Row[] =>
  Array.isArray(records);

/** Limit of each kind; an entry of more than a quarter is not cached. */
const BYTES_MAX = 96 * 1024 ** 2;
/** Objects of a record take several times the size of their JSON. */
const ROWS_FACTOR = 4;
const OVERHEAD_BYTES = 1_024;
/** Cached lists. */
const LISTS_MAX = 16;

export class MarketMemory {
  readonly records: BytesLru<KnownRecords>;
  readonly answers: BytesLru<KnownAnswer>;
  /** Results computed from all records of an input; few, each of at most one wide read. */
  readonly lists: BytesLru<Promise<object>>;
  /** Count of changes of each table. */
  readonly #changes = new Map<number, number>();

  /** @param cacheBytes the operator's limit for the cache of series; an eighth of it is used twice */
  constructor(cacheBytes: number) {
    const bytesMax = Math.min(BYTES_MAX, cacheBytes / 8);
    const changesOf = (tableId: number): number => this.#changes.get(tableId) ?? 0;
    const sizeOf = ({ bytes, records }: KnownRecords): number =>
      isParsed(records) ? bytes * ROWS_FACTOR : bytes;
    this.records = new BytesLru(bytesMax, sizeOf, changesOf);
    this.lists = new BytesLru(LISTS_MAX * OVERHEAD_BYTES, () => 0, changesOf);
    this.answers = new BytesLru(bytesMax, ({ body }) => body.bytes.byteLength, changesOf);
  }

  /** Called before a commit is visible. */
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
        pushed: stored.pending.latestSequence(tableId),
      })),
      state: stored.lake.state,
      sequence: stored.pending.sequence,
    };
  }
}

/** Bounded by bytes: least recently used entries are evicted, and changed ones when they are read. */
class BytesLru<Value> {
  readonly #bytesMax: number;
  readonly #sizeOf: (value: Value) => number;
  readonly #changesOf: (tableId: number) => number;
  readonly #entries = new Map<
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
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    const stamps = refreshStamps(entry.stamps, stored, this.#changesOf);
    if (stamps === undefined) {
      this.drop(name);
      return undefined;
    }
    entry.stamps = stamps;
    // The last entry of the map is the most recently used.
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry.value;
  }

  keep(name: string, value: Value, stamps: Stamps): void {
    this.drop(name);
    const size = this.#sizeOf(value) + name.length * 2 + OVERHEAD_BYTES;
    if (size > this.#bytesMax / 4) return;
    this.#entries.set(name, { value, stamps, size });
    this.#bytes += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.drop(oldest);
    }
  }

  drop(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.#entries.delete(name);
    this.#bytes -= entry.size;
  }
}

/** Returns current stamps if nothing has changed since; nearly always by one comparison of the whole. */
function refreshStamps(
  stamps: Stamps,
  { lake, pending }: Stored,
  changesOf: (tableId: number) => number,
): Stamps | undefined {
  const { state } = lake;
  const { sequence } = pending;
  if (stamps.state === state && stamps.sequence === sequence) return stamps;
  const isSame = stamps.tables.every(
    ({ changes, pushed, tableId }) =>
      changesOf(tableId) === changes && pending.latestSequence(tableId) === pushed,
  );
  return isSame ? { ...stamps, state, sequence } : undefined;
}
