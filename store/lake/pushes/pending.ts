// Pushed records: durable rows of the catalog until they become a file, visible at once. One group
// commit for all writers; memory mirrors the table, so that a read asks no database (DESIGN.md idea 4).
import { monotonicMs } from '../../base/clock.ts';
import type { AtCrashPoint } from '../../base/crashPoints.ts';
import type { Database } from '../../catalog/database.ts';
import type { Piece } from '../../catalog/statements.ts';
import { pieceOf, runTogether } from '../../catalog/together.ts';
import { Failure } from '../../base/failure.ts';
import { GroupCommit } from '../../queues/groupCommit.ts';
import type { Quiet } from '../../queues/quiet.ts';
import type { LakeClock } from '../../catalog/lakeClock.ts';
import { addByKey, type Net, netByKey, ofKeys, type PendingRow, type Push } from './pendingRows.ts';
import {
  dropPushes,
  endOfPushes,
  type FlushedRow,
  isWithin,
  type PushCut,
  readPushes,
} from './pushLog.ts';
import {
  flushedSequence,
  insertRows,
  type MadeRows,
  noteFlushed,
  readPending,
} from './pendingTable.ts';

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
  /** Rows that a version which is not announced yet will hold. */
  leaving: { readonly snapshot: number; readonly rows: readonly PendingRow[] } | undefined;
}

interface Writer {
  readonly tableId: number;
  readonly pushes: readonly Push[];
  /** More statements of the transaction that stores it. */
  readonly alongside: readonly Piece[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** What was pending at a moment of the past. */
export interface PastRows {
  /** Of the last row before it that is no file of the version; 0 for none. */
  readonly sequence: number;
  /** Of these keys or of all: each index value once. */
  readonly rows: (keys?: readonly string[]) => readonly PendingRow[];
}

const PAST_GONE = new Failure(
  'Gone',
  'what was pushed between versions is not known any more of that moment: ask a version',
);

export class Pending {
  readonly #database: Database;
  readonly #clock: LakeClock;
  readonly #at: AtCrashPoint;
  readonly #tables = new Map<number, TableRows>();
  /** Tables whose schema is being changed. */
  readonly #held = new Set<number>();
  #waiting: Writer[] = [];
  #waitingRecords = 0;
  readonly #groups = new GroupCommit(() => this.#commit());
  #sequence = 0;
  /** Sequence of the last row that readers see. */
  #seen = 0;
  #groupMs = GROUP_MS_LEAST;
  readonly #listeners = new Set<(made: readonly MadeRows[]) => void>();
  #quiet: Quiet = () => undefined;
  #onFlush: (tableId: number, snapshot: number, sequences: readonly number[]) => void = () =>
    undefined;

  private constructor(database: Database, clock: LakeClock, at: AtCrashPoint) {
    this.#database = database;
    this.#clock = clock;
    this.#at = at;
  }

  static async open(database: Database, clock: LakeClock, at: AtCrashPoint): Promise<Pending> {
    const pending = new Pending(database, clock, at);
    pending.#sequence = await flushedSequence(database);
    pending.#seen = pending.#sequence;
    for (const { tableId, rows } of await readPending(database)) {
      pending.#add(tableId, rows);
      pending.#sequence = Math.max(pending.#sequence, rows.at(-1)?.sequence ?? 0);
    }
    return pending;
  }

  /** For who hears of each push: nothing is pending until it says so. */
  static empty(database: Database, clock: LakeClock, at: AtCrashPoint): Pending {
    return new Pending(database, clock, at);
  }

  /** Told when rows of tables became visible: those of each push by themselves. */
  onPush(listener: (made: readonly MadeRows[]) => void): void {
    this.#listeners.add(listener);
  }

  /** Told when rows of these sequences are pending no more. */
  onFlush(
    listener: (tableId: number, snapshot: number, sequences: readonly number[]) => void,
  ): void {
    this.#onFlush = listener;
  }

  /** @param quiet nobody else answers by what was there, from its end to the call of what it returns */
  whileQuiet(quiet: Quiet): void {
    this.#quiet = quiet;
  }

  /** Of the last row that readers see, of all tables: with a snapshot it names what they see. */
  get sequence(): number {
    return this.#seen;
  }

  /**
   * Resolves when the records are durable and visible.
   * @param alongside statements of the same transaction
   * @throws Failure Busy when too many wait.
   */
  async push(
    tableId: number,
    pushes: readonly Push[],
    alongside: readonly Piece[] = [],
  ): Promise<void> {
    const known = this.#tables.get(tableId)?.rows.length ?? 0;
    const most = this.#waitingRecords + pushes.length;
    if (most > WAITING_MAX || known + pushes.length > PENDING_MAX) {
      throw new Failure('Busy', 'too many pushed records wait to be stored: try again shortly');
    }
    this.#waitingRecords = most;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ tableId, pushes, alongside, resolve, reject });
      this.#groups.soon(this.#waitingRecords >= GROUP_RECORDS ? 0 : this.#groupMs);
    });
  }

  /**
   * What is pending beside a snapshot's files, of some keys or of all, up to a sequence: each index
   * value once, those of a key in the order they came.
   */
  beside(
    tableId: number,
    snapshot: number,
    keys?: readonly string[],
    upTo = this.#seen,
  ): readonly PendingRow[] {
    const table = this.#tables.get(tableId);
    if (table === undefined) return [];
    const later = table.flushed.filter((flush) => flush.snapshot > snapshot);
    if (later.length === 0 && table.newest <= upTo) return ofKeys(table.net, keys);
    const rows = [...later.flatMap((flush) => flush.rows), ...table.rows];
    return ofKeys(netByKey(rows.filter(({ sequence }) => sequence <= upTo)), keys);
  }

  /**
   * What was pending beside a snapshot's files at a moment of the past.
   * @throws Failure Gone when a moment was named by its sequence and what was pushed is not known
   */
  async past(tableId: number, snapshot: number, cut: PushCut): Promise<PastRows> {
    // Memory first: what it loses meanwhile is in the log by then.
    const waiting = this.rows(tableId).filter((row) => isWithin(cut, row));
    const logged = await this.flushedSince(tableId, snapshot, cut);
    const known = new Set(logged.map(({ sequence }) => sequence));
    const rows = [...logged, ...waiting.filter(({ sequence }) => !known.has(sequence))];
    const sequence = rows.reduce((newest, row) => Math.max(newest, row.sequence), 0);
    const net = netByKey(rows);
    return { sequence, rows: (keys) => ofKeys(net, keys) };
  }

  /**
   * Rows that versions after a snapshot hold and that were pushed by a moment of the past.
   * @throws Failure as `past`.
   */
  async flushedSince(
    tableId: number,
    snapshot: number,
    cut: PushCut,
  ): Promise<readonly FlushedRow[]> {
    if (cut.kind === 'sequence' && cut.sequence === 0) return [];
    const end = cut.kind === 'time' ? undefined : await endOfPushes(this.#database, tableId);
    if (end !== undefined && end > snapshot) throw PAST_GONE;
    return readPushes(this.#database, tableId, snapshot, cut);
  }

  /** Tells two answers beside the same snapshot apart: it grows with each push. */
  newest(tableId: number): number {
    return this.#tables.get(tableId)?.newest ?? 0;
  }

  /** Rows that wait to become a file, oldest first. */
  rows(tableId: number): readonly PendingRow[] {
    return this.#tables.get(tableId)?.rows ?? [];
  }

  /** Tables that pushed records wait for. */
  tables(): readonly number[] {
    return [...this.#tables.keys()];
  }

  /** Tables with `least` rows, or with one that is older than `ageMs`. */
  due(least: number, ageMs: number): readonly number[] {
    const before = this.#clock.now() - ageMs;
    return [...this.#tables].flatMap(([tableId, { rows }]) => {
      const oldest = rows[0];
      if (oldest === undefined) return [];
      return rows.length >= least || oldest.timeMs <= before ? [tableId] : [];
    });
  }

  /** In the transaction of the snapshot that holds them: the named rows are pending no more. */
  async forget(
    transaction: Database,
    tableId: number,
    rows: readonly PendingRow[],
    snapshot: number,
  ): Promise<void> {
    const pieces: Piece[] = [];
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      const sequences = rows.slice(from, from + ROWS_AT_ONCE).map(({ sequence }) => sequence);
      const gone = transaction.deleteFrom('pending').where('sequence', 'in', sequences);
      pieces.push(pieceOf(gone));
    }
    // Pushes wait for the end of this transaction: a message for each statement made it twice as long.
    await runTogether(transaction, pieces);
    await noteFlushed(transaction, rows.at(-1)?.sequence ?? 0);
    const table = this.#tables.get(tableId);
    if (table !== undefined) table.leaving = { snapshot, rows };
  }

  /**
   * When readers see that snapshot: those of older ones still get the rows, those of newer do not.
   * Once: what did not come to its end is not pending any more, and the next flush says so anew.
   */
  flushed(tableId: number, snapshot: number): void {
    const table = this.#tables.get(tableId);
    if (table?.leaving?.snapshot !== snapshot) return;
    const { rows } = table.leaving;
    table.leaving = undefined;
    const gone = new Set(rows.map(({ sequence }) => sequence));
    const atMs = monotonicMs();
    table.rows = table.rows.filter(({ sequence }) => !gone.has(sequence));
    table.flushed = table.flushed.filter((flush) => atMs - flush.atMs < REMEMBERED_MS);
    table.flushed.push({ snapshot, atMs, rows });
    table.net = netByKey(table.rows);
    this.#onFlush(tableId, snapshot, [...gone]);
  }

  /** Another process tells that rows of these sequences are in a snapshot that readers see from now on. */
  heardFlushed(tableId: number, snapshot: number, sequences: readonly number[]): void {
    const table = this.#tables.get(tableId);
    if (table === undefined) return;
    const gone = new Set(sequences);
    const rows = table.rows.filter(({ sequence }) => gone.has(sequence));
    table.leaving = { snapshot, rows };
    this.flushed(tableId, snapshot);
  }

  /** After a purge: nothing of what was flushed stays in memory. */
  forgetFlushed(tableId: number): void {
    const table = this.#tables.get(tableId);
    if (table !== undefined) table.flushed = [];
  }

  /** In the transaction that drops a table: what is pending for it goes with it. */
  async drop(transaction: Database, tableId: number): Promise<void> {
    await transaction.deleteFrom('pending').where('table_id', '=', tableId).execute();
    await dropPushes(transaction, tableId);
    // What was named by them is not named by later ones.
    await noteFlushed(transaction, this.#seen);
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
  settle(): Promise<void> {
    return this.#groups.flush();
  }

  async #commit(): Promise<void> {
    const writers = this.#waiting;
    if (writers.length === 0) return;
    this.#waiting = [];
    this.#waitingRecords = 0;
    const startedMs = monotonicMs();
    let made: readonly MadeRows[];
    try {
      made = await this.#insert(writers);
      this.#at('pushes-committed');
    } catch (error) {
      for (const { reject } of writers) reject(error);
      return;
    }
    const tookMs = monotonicMs() - startedMs;
    this.#groupMs = Math.min(GROUP_MS_MOST, Math.max(GROUP_MS_LEAST, 2 * tookMs));
    const quieting = this.#quiet(made.map(({ tableId }) => tableId));
    const resume = quieting && (await quieting);
    this.heard(made);
    resume?.();
    for (const { resolve } of writers) resolve();
  }

  /** Rows that are durable are to be seen: this process's own, or those that another one tells. */
  heard(made: readonly MadeRows[]): void {
    for (const { tableId, rows } of made) this.#add(tableId, rows);
    for (const listener of this.#listeners) listener(made);
  }

  async #insert(writers: readonly Writer[]): Promise<readonly MadeRows[]> {
    const { groups, marked } = await this.#database.transaction().execute(async (transaction) => {
      // Its time and its place are told when its turn has come: later ones are later.
      const timeMs = this.#clock.next();
      const made = writers.map(({ tableId, pushes }) => ({
        tableId,
        rows: pushes.map((push) => ({ ...push, sequence: (this.#sequence += 1), timeMs })),
      }));
      const done = await this.#clock.write(transaction);
      await insertRows(transaction, made);
      const beside = writers.flatMap(({ alongside }) => alongside);
      await runTogether(transaction, beside);
      this.#at('pushes-written');
      return { groups: made, marked: done };
    });
    marked();
    return groups;
  }

  #add(tableId: number, rows: readonly PendingRow[]): void {
    const none = { rows: [], newest: 0, flushed: [], net: new Map(), leaving: undefined };
    const table: TableRows = this.#tables.get(tableId) ?? none;
    for (const row of rows) {
      table.rows.push(row);
      addByKey(table.net, row);
    }
    table.newest = rows.at(-1)?.sequence ?? table.newest;
    this.#seen = Math.max(this.#seen, table.newest);
    this.#tables.set(tableId, table);
  }
}
