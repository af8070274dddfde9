// Pushed records: durable rows of the catalog until they become a file, visible at once. One group
// commit for all writers; memory mirrors the table, so that a read asks no database (DESIGN.md idea 4).
import { type Clock, isoTime, monotonicMs } from './clock.ts';
import { UPDATED_COLUMN } from './columns.ts';
import type { AtCrashPoint } from './crashPoints.ts';
import type { Database } from './database.ts';
import { Failure } from './failure.ts';

/**
 * Writers of one group wait for each other as long as two commits take, within these bounds: a fast
 * disk answers fast, a slow one is not asked more often than it can answer.
 */
const GROUP_MS_LEAST = 1;
const GROUP_MS_MOST = 20;
/** Records of one commit. */
const GROUP_RECORDS = 1_000;
/** Records that may wait for the disk; more are refused. */
const WAITING_MAX = 100_000;
/** Records of a dataset that may be pending: a flush takes them long before. */
const PENDING_MAX = 50_000;
/** Flushed rows are remembered so long: a reader may hold the version before the flush. */
const REMEMBERED_MS = 120_000;
/** Rows of one statement: SQLite binds 32,766 values. */
const ROWS_AT_ONCE = 200;

/** A record to push, checked and spelled as its columns are. */
export interface Push {
  /** JSON text of the values of the unique index. */
  readonly index: string;
  readonly replaces: boolean;
  readonly document: Readonly<Record<string, unknown>>;
}

/** A pending record, or what several of one index value come to. */
export interface PendingRow extends Push {
  readonly sequence: number;
  readonly timeMs: number;
}

interface TableRows {
  /** Oldest first. */
  rows: PendingRow[];
  /** Sequence of the last row that came, flushed or not. */
  newest: number;
  /** Rows that a snapshot holds now, oldest first. */
  flushed: {
    readonly snapshot: number;
    readonly atMs: number;
    readonly rows: readonly PendingRow[];
  }[];
  /** What `rows` come to, kept as they come: a read between pushes must not add them all up. */
  net: Map<string, Net>;
}

interface Writer {
  readonly tableId: number;
  readonly pushes: readonly Push[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Pending {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #at: AtCrashPoint;
  readonly #tables = new Map<number, TableRows>();
  /** Tables whose schema is being changed. */
  readonly #held = new Set<number>();
  #waiting: Writer[] = [];
  #waitingRecords = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #sequence = 0;
  #groupMs = GROUP_MS_LEAST;

  private constructor(database: Database, clock: Clock, at: AtCrashPoint) {
    this.#database = database;
    this.#clock = clock;
    this.#at = at;
  }

  static async open(database: Database, clock: Clock, at: AtCrashPoint): Promise<Pending> {
    const pending = new Pending(database, clock, at);
    const rows = await database.selectFrom('pending').selectAll().orderBy('sequence').execute();
    for (const row of rows) {
      pending.#add(row.table_id, [
        {
          sequence: row.sequence,
          index: row.index_json,
          replaces: row.replaces === 1,
          document: JSON.parse(row.document) as Record<string, unknown>,
          timeMs: row.time_ms,
        },
      ]);
      pending.#sequence = row.sequence;
    }
    return pending;
  }

  /**
   * Resolves when the records are durable and visible.
   * @throws Failure Busy when too many wait.
   */
  async push(tableId: number, pushes: readonly Push[]): Promise<void> {
    const known = this.#tables.get(tableId)?.rows.length ?? 0;
    const most = this.#waitingRecords + pushes.length;
    if (most > WAITING_MAX || known + pushes.length > PENDING_MAX) {
      throw new Failure('Busy', 'too many pushed records wait to be stored: try again shortly');
    }
    this.#waitingRecords = most;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ tableId, pushes, resolve, reject });
      if (this.#waitingRecords >= GROUP_RECORDS) this.#commitSoon(0);
      else this.#commitSoon(this.#groupMs);
    });
  }

  /**
   * What is pending beside a snapshot's files, of some keys or of all: each index value once, those
   * of a key in the order they came.
   */
  beside(tableId: number, snapshot: number, keys?: readonly string[]): readonly PendingRow[] {
    const table = this.#tables.get(tableId);
    if (table === undefined) return [];
    const later = table.flushed.filter((flush) => flush.snapshot > snapshot);
    if (later.length === 0) {
      const nets = keys === undefined ? table.net.values() : keys.map((key) => table.net.get(key));
      return [...nets].flatMap((net) => (net === undefined ? [] : [...net.values()]));
    }
    const rows = [...later.flatMap((flush) => flush.rows), ...table.rows];
    return netOf(keys === undefined ? rows : rows.filter((row) => keys.includes(keyOf(row))));
  }

  /** Tells two answers beside the same snapshot apart: it grows with each push. */
  newest(tableId: number): number {
    return this.#tables.get(tableId)?.newest ?? 0;
  }

  /** Rows that wait to become a file, oldest first. */
  rows(tableId: number): readonly PendingRow[] {
    return this.#tables.get(tableId)?.rows ?? [];
  }

  /** Tables with `least` rows, or with one that is older than `ageMs`. */
  due(least: number, ageMs: number): readonly number[] {
    const before = this.#clock() - ageMs;
    return [...this.#tables].flatMap(([tableId, { rows }]) => {
      const oldest = rows[0];
      if (oldest === undefined) return [];
      return rows.length >= least || oldest.timeMs <= before ? [tableId] : [];
    });
  }

  /** In the transaction of the snapshot that holds them: the named rows are pending no more. */
  async forget(transaction: Database, rows: readonly PendingRow[]): Promise<void> {
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      const sequences = rows.slice(from, from + ROWS_AT_ONCE).map(({ sequence }) => sequence);
      await transaction.deleteFrom('pending').where('sequence', 'in', sequences).execute();
    }
  }

  /** After that transaction: readers of older snapshots still get the rows, those of newer do not. */
  flushed(tableId: number, rows: readonly PendingRow[], snapshot: number): void {
    const table = this.#tables.get(tableId);
    if (table === undefined) return;
    const gone = new Set(rows.map(({ sequence }) => sequence));
    const atMs = this.#clock();
    table.rows = table.rows.filter(({ sequence }) => !gone.has(sequence));
    table.flushed = table.flushed.filter((flush) => atMs - flush.atMs < REMEMBERED_MS);
    table.flushed.push({ snapshot, atMs, rows });
    table.net = new Map();
    for (const row of table.rows) addByKey(table.net, row);
  }

  /** After a purge: nothing of what was flushed stays in memory. */
  forgetFlushed(tableId: number): void {
    const table = this.#tables.get(tableId);
    if (table !== undefined) table.flushed = [];
  }

  /** In the transaction that drops a table: what is pending for it goes with it. */
  async drop(transaction: Database, tableId: number): Promise<void> {
    await transaction.deleteFrom('pending').where('table_id', '=', tableId).execute();
  }

  /** After that transaction. */
  dropped(tableId: number): void {
    this.#tables.delete(tableId);
  }

  /**
   * Runs `work` while nothing more is pushed into a table, once what waited is durable. Whoever
   * pushes asks `isHeld` first, and in the same tick.
   */
  async holding(tableId: number, work: () => Promise<void>): Promise<void> {
    this.#held.add(tableId);
    try {
      await this.settle();
      await work();
    } finally {
      this.#held.delete(tableId);
    }
  }

  isHeld(tableId: number): boolean {
    return this.#held.has(tableId);
  }

  /** All that waits is durable. */
  async settle(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#commit());
    await this.#writing;
  }

  #commitSoon(delayMs: number): void {
    if (delayMs > 0 && this.#timer !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.settle(), delayMs);
  }

  async #commit(): Promise<void> {
    const writers = this.#waiting;
    if (writers.length === 0) return;
    this.#waiting = [];
    this.#waitingRecords = 0;
    const timeMs = this.#clock();
    const made = writers.map(({ tableId, pushes }) => ({
      tableId,
      rows: pushes.map((push) => ({ ...push, sequence: (this.#sequence += 1), timeMs })),
    }));
    const startedMs = monotonicMs();
    try {
      await this.#insert(made);
      this.#at('pushes-committed');
    } catch (error) {
      for (const { reject } of writers) reject(error);
      return;
    }
    const tookMs = monotonicMs() - startedMs;
    this.#groupMs = Math.min(GROUP_MS_MOST, Math.max(GROUP_MS_LEAST, 2 * tookMs));
    for (const { tableId, rows } of made) this.#add(tableId, rows);
    for (const { resolve } of writers) resolve();
  }

  async #insert(
    made: readonly { readonly tableId: number; readonly rows: readonly PendingRow[] }[],
  ): Promise<void> {
    const values = made.flatMap(({ tableId, rows }) =>
      rows.map(({ sequence, index, replaces, document, timeMs }) => ({
        sequence,
        table_id: tableId,
        index_json: index,
        replaces: Number(replaces),
        document: JSON.stringify(document),
        time_ms: timeMs,
      })),
    );
    await this.#database.transaction().execute(async (transaction) => {
      for (let from = 0; from < values.length; from += ROWS_AT_ONCE) {
        const some = values.slice(from, from + ROWS_AT_ONCE);
        await transaction.insertInto('pending').values(some).execute();
      }
      this.#at('pushes-written');
    });
  }

  #add(tableId: number, rows: readonly PendingRow[]): void {
    const none = { rows: [], newest: 0, flushed: [], net: new Map() };
    const table: TableRows = this.#tables.get(tableId) ?? none;
    for (const row of rows) {
      table.rows.push(row);
      addByKey(table.net, row);
    }
    table.newest = rows.at(-1)?.sequence ?? table.newest;
    this.#tables.set(tableId, table);
  }
}

let spelled = { ms: Number.NaN, text: '' };

/** `2026-01-31 12:00:00.000`, as DuckDB spells a timestamp. Rows of one commit have one time. */
function timeText(ms: number): string {
  if (spelled.ms !== ms) spelled = { ms, text: isoTime(ms).replace('T', ' ').slice(0, -1) };
  return spelled.text;
}

/** The record of a pending row with when it was written. */
export const documentOf = ({
  document,
  timeMs,
}: PendingRow): Readonly<Record<string, unknown>> => ({
  ...document,
  [UPDATED_COLUMN]: timeText(timeMs),
});

/** One row for each index value, in the order that these came. */
type Net = Map<string, PendingRow>;

/** First value of the unique index: the key, where a dataset has one. */
export const keyOf = ({ index }: PendingRow): string => String((JSON.parse(index) as unknown[])[0]);

function addByKey(nets: Map<string, Net>, row: PendingRow): void {
  const key = keyOf(row);
  const net = nets.get(key) ?? new Map<string, PendingRow>();
  nets.set(key, net);
  addTo(net, row);
}

/** A row that replaces hides what is stored; another one is hidden by it. */
function addTo(net: Net, row: PendingRow): void {
  if (row.replaces || !net.has(row.index)) net.set(row.index, row);
}

/** One row for each index value: the last that replaces, or else the first. */
export function netOf(rows: readonly PendingRow[]): readonly PendingRow[] {
  const net: Net = new Map();
  for (const row of rows) addTo(net, row);
  return [...net.values()];
}
