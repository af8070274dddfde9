// Stores pushed records as durable catalog rows until they become a file; they are visible immediately. One
// group commit serves all writers; memory mirrors the table, so that a read queries no database (DESIGN.md
// idea 4).
import { monotonicMs } from '../../base/clock.ts';
import type { AtCrashPoint } from '../../base/crashPoints.ts';
import type { Database } from '../../catalog/database.ts';
import type { BatchStatement } from '../../catalog/statements.ts';
import { toBatchStatement, runBatch } from '../../catalog/statementBatch.ts';
import { Failure } from '../../base/failure.ts';
import { GroupCommit } from '../../queues/groupCommit.ts';
import type { ReadBarrier } from '../../queues/readBarrier.ts';
import type { LakeClock } from '../../catalog/lakeClock.ts';
import {
  addByKey,
  type MergedRows,
  mergeByKey,
  selectKeys,
  type PendingRow,
  type Push,
} from './pendingRows.ts';
import {
  dropPushes,
  readPushEnd,
  type FlushedRow,
  isWithin,
  type PushCut,
  readPushes,
} from './pushLog.ts';
import {
  readFlushedSequence,
  insertRows,
  type PushedRows,
  saveFlushedSequence,
  readPending,
} from './pendingTable.ts';

/**
 * Delay of a group: as long as two commits take, within these bounds. A fast disk answers fast; a slow one
 * gets no more commits than it can handle.
 */
const GROUP_MS_MIN = 1;
const GROUP_MS_MAX = 20;
/** Records at which a group is committed immediately. */
const GROUP_RECORDS = 1_000;
/** Limit of records that wait for the disk; more are refused. */
const WAITING_MAX = 100_000;
/** Limit of pending records of a dataset: a flush runs long before. */
const PENDING_MAX = 50_000;
/** Retention of flushed rows in memory: a reader may use the version before the flush. */
const FLUSHED_RETENTION_MS = 120_000;
/** Rows of one statement: SQLite binds 32,766 values. */
const BATCH_SIZE = 200;

interface TableState {
  /** Oldest first. */
  rows: PendingRow[];
  /** Sequence of the latest row, flushed or not. */
  newest: number;
  /** Rows that are in a snapshot now, oldest first. */
  flushed: {
    readonly snapshot: number;
    readonly atMs: number;
    readonly rows: readonly PendingRow[];
  }[];
  /** Merged `rows`, updated incrementally: a read between pushes must not merge them all. */
  net: Map<string, MergedRows>;
  /** Rows of a version that is not visible yet. */
  flushing: { readonly snapshot: number; readonly rows: readonly PendingRow[] } | undefined;
}

interface Writer {
  readonly tableId: number;
  readonly pushes: readonly Push[];
  /** Further statements of the same transaction. */
  readonly alongside: readonly BatchStatement[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Pending rows at an earlier moment. */
export interface EarlierRows {
  /** Sequence of the latest row before it that is not in a file of the version; 0 for none. */
  readonly sequence: number;
  /** Returns rows of these keys or of all: one for each index value. */
  readonly rows: (keys?: readonly string[]) => readonly PendingRow[];
}

const PUSHES_EXPIRED = new Failure(
  'Gone',
  'the pushes of that moment between two versions are no longer stored: request a version',
);

export class Pending {
  readonly #database: Database;
  readonly #clock: LakeClock;
  readonly #at: AtCrashPoint;
  readonly #tables = new Map<number, TableState>();
  /** Tables whose schema is changing. */
  readonly #paused = new Set<number>();
  #writers: Writer[] = [];
  #writerRecords = 0;
  readonly #groups = new GroupCommit(() => this.#commit());
  #sequence = 0;
  /** Sequence of the latest visible row. */
  #visibleSequence = 0;
  #groupMs = GROUP_MS_MIN;
  readonly #listeners = new Set<(pushed: readonly PushedRows[]) => void>();
  #readBarrier: ReadBarrier = () => undefined;
  #onFlush: (tableId: number, snapshot: number, sequences: readonly number[]) => void = () =>
    undefined;

  private constructor(database: Database, clock: LakeClock, at: AtCrashPoint) {
    this.#database = database;
    this.#clock = clock;
    this.#at = at;
  }

  static async open(database: Database, clock: LakeClock, at: AtCrashPoint): Promise<Pending> {
    const pending = new Pending(database, clock, at);
    pending.#sequence = await readFlushedSequence(database);
    pending.#visibleSequence = pending.#sequence;
    for (const { tableId, rows } of await readPending(database)) {
      pending.#add(tableId, rows);
      pending.#sequence = Math.max(pending.#sequence, rows.at(-1)?.sequence ?? 0);
    }
    return pending;
  }

  /** Creates an empty instance for a replica, which receives each push as a message. */
  static empty(database: Database, clock: LakeClock, at: AtCrashPoint): Pending {
    return new Pending(database, clock, at);
  }

  /** Adds a listener for rows that became visible, called once for each group. */
  onPush(listener: (pushed: readonly PushedRows[]) => void): void {
    this.#listeners.add(listener);
  }

  /** Sets a listener for rows that are no longer pending. */
  onFlush(
    listener: (tableId: number, snapshot: number, sequences: readonly number[]) => void,
  ): void {
    this.#onFlush = listener;
  }

  /** @param readBarrier pauses other nodes while rows become visible */
  setReadBarrier(readBarrier: ReadBarrier): void {
    this.#readBarrier = readBarrier;
  }

  /** Returns the latest visible sequence of all tables: with a snapshot it identifies what readers see. */
  get sequence(): number {
    return this.#visibleSequence;
  }

  /**
   * Resolves when the records are durable and visible.
   * @param alongside statements of the same transaction
   * @throws Failure Busy when too many wait.
   */
  async push(
    tableId: number,
    pushes: readonly Push[],
    alongside: readonly BatchStatement[] = [],
  ): Promise<void> {
    const loggedSequences = this.#tables.get(tableId)?.rows.length ?? 0;
    const total = this.#writerRecords + pushes.length;
    if (total > WAITING_MAX || loggedSequences + pushes.length > PENDING_MAX) {
      throw new Failure('Busy', 'too many pushed records wait to be stored: try again shortly');
    }
    this.#writerRecords = total;
    await new Promise<void>((resolve, reject) => {
      this.#writers.push({ tableId, pushes, alongside, resolve, reject });
      this.#groups.schedule(this.#writerRecords >= GROUP_RECORDS ? 0 : this.#groupMs);
    });
  }

  /**
   * Returns pending rows beside a snapshot's files, of some keys or of all, up to a sequence: one for each
   * index value, those of a key in order of arrival.
   */
  rowsBeside(
    tableId: number,
    snapshot: number,
    keys?: readonly string[],
    upTo = this.#visibleSequence,
  ): readonly PendingRow[] {
    const table = this.#tables.get(tableId);
    if (table === undefined) return [];
    const later = table.flushed.filter((flush) => flush.snapshot > snapshot);
    if (later.length === 0 && table.newest <= upTo) return selectKeys(table.net, keys);
    const rows = [...later.flatMap((flush) => flush.rows), ...table.rows];
    return selectKeys(mergeByKey(rows.filter(({ sequence }) => sequence <= upTo)), keys);
  }

  /**
   * Returns pending rows beside a snapshot's files at an earlier moment.
   * @throws Failure Gone when the moment is a sequence and its pushes are no longer stored
   */
  async rowsAt(tableId: number, snapshot: number, cut: PushCut): Promise<EarlierRows> {
    // Reads memory first: rows flushed meanwhile are in the log by then.
    const pendingRows = this.pendingRows(tableId).filter((row) => isWithin(cut, row));
    const logged = await this.flushedSince(tableId, snapshot, cut);
    const loggedSequences = new Set(logged.map(({ sequence }) => sequence));
    const rows = [
      ...logged,
      ...pendingRows.filter(({ sequence }) => !loggedSequences.has(sequence)),
    ];
    const sequence = rows.reduce((newest, row) => Math.max(newest, row.sequence), 0);
    const net = mergeByKey(rows);
    return { sequence, rows: (keys) => selectKeys(net, keys) };
  }

  /**
   * Returns rows that later versions contain and that were pushed by an earlier moment.
   * @throws Failure Gone as for the earlier rows.
   */
  async flushedSince(
    tableId: number,
    snapshot: number,
    cut: PushCut,
  ): Promise<readonly FlushedRow[]> {
    if (cut.kind === 'sequence' && cut.sequence === 0) return [];
    const end = cut.kind === 'time' ? undefined : await readPushEnd(this.#database, tableId);
    if (end !== undefined && end > snapshot) throw PUSHES_EXPIRED;
    return readPushes(this.#database, tableId, snapshot, cut);
  }

  /** Distinguishes answers beside the same snapshot: it increases with each push. */
  latestSequence(tableId: number): number {
    return this.#tables.get(tableId)?.newest ?? 0;
  }

  /** Returns rows that are not in a file yet, oldest first. */
  pendingRows(tableId: number): readonly PendingRow[] {
    return this.#tables.get(tableId)?.rows ?? [];
  }

  /** Returns tables with pending state. */
  tables(): readonly number[] {
    return [...this.#tables.keys()];
  }

  /** Returns tables with `minRows` rows, or with one older than `ageMs`. */
  listDue(minRows: number, ageMs: number): readonly number[] {
    const before = this.#clock.now() - ageMs;
    return [...this.#tables].flatMap(([tableId, { rows }]) => {
      const oldest = rows[0];
      if (oldest === undefined) return [];
      return rows.length >= minRows || oldest.timeMs <= before ? [tableId] : [];
    });
  }

  /** Removes rows from the pending table in the transaction of the snapshot that contains them. */
  async markFlushed(
    transaction: Database,
    tableId: number,
    rows: readonly PendingRow[],
    snapshot: number,
  ): Promise<void> {
    const pieces: BatchStatement[] = [];
    for (let from = 0; from < rows.length; from += BATCH_SIZE) {
      const sequences = rows.slice(from, from + BATCH_SIZE).map(({ sequence }) => sequence);
      const flushedSequences = transaction.deleteFrom('pending').where('sequence', 'in', sequences);
      pieces.push(toBatchStatement(flushedSequences));
    }
    // Pushes wait for the end of this transaction: one message for each statement doubled its duration.
    await runBatch(transaction, pieces);
    await saveFlushedSequence(transaction, rows.at(-1)?.sequence ?? 0);
    const table = this.#tables.get(tableId);
    if (table !== undefined) table.flushing = { snapshot, rows };
  }

  /**
   * Finishes a flush when its snapshot is visible: readers of older snapshots still get the rows, those of
   * newer ones do not. Acts once; the next flush replaces an aborted one.
   */
  finishFlush(tableId: number, snapshot: number): void {
    const table = this.#tables.get(tableId);
    if (table?.flushing?.snapshot !== snapshot) return;
    const { rows } = table.flushing;
    table.flushing = undefined;
    const flushedSequences = new Set(rows.map(({ sequence }) => sequence));
    const atMs = monotonicMs();
    table.rows = table.rows.filter(({ sequence }) => !flushedSequences.has(sequence));
    table.flushed = table.flushed.filter((flush) => atMs - flush.atMs < FLUSHED_RETENTION_MS);
    table.flushed.push({ snapshot, atMs, rows });
    table.net = mergeByKey(table.rows);
    this.#onFlush(tableId, snapshot, [...flushedSequences]);
  }

  /** Applies a flush of another process: rows of these sequences are in a visible snapshot. */
  applyFlushed(tableId: number, snapshot: number, sequences: readonly number[]): void {
    const table = this.#tables.get(tableId);
    if (table === undefined) return;
    const flushedSequences = new Set(sequences);
    const rows = table.rows.filter(({ sequence }) => flushedSequences.has(sequence));
    table.flushing = { snapshot, rows };
    this.finishFlush(tableId, snapshot);
  }

  /** Removes flushed rows from memory after a purge. */
  clearFlushed(tableId: number): void {
    const table = this.#tables.get(tableId);
    if (table !== undefined) table.flushed = [];
  }

  /** Removes pending rows in the transaction that drops a table. */
  async drop(transaction: Database, tableId: number): Promise<void> {
    await transaction.deleteFrom('pending').where('table_id', '=', tableId).execute();
    await dropPushes(transaction, tableId);
    // Their sequences are never reused.
    await saveFlushedSequence(transaction, this.#visibleSequence);
  }

  /** Removes the table from memory after that transaction. */
  removeTable(tableId: number): void {
    this.#tables.delete(tableId);
  }

  /**
   * Runs `work` while pushes into a table are paused, once earlier ones are durable. Writers check the pause
   * before a push, in the same tick.
   */
  async withoutPushes(tableId: number, work: () => Promise<void>): Promise<void> {
    this.#paused.add(tableId);
    try {
      await this.flush();
      await work();
    } finally {
      this.#paused.delete(tableId);
    }
  }

  isPaused(tableId: number): boolean {
    return this.#paused.has(tableId);
  }

  /** Makes all waiting pushes durable. */
  flush(): Promise<void> {
    return this.#groups.flush();
  }

  async #commit(): Promise<void> {
    const writers = this.#writers;
    if (writers.length === 0) return;
    this.#writers = [];
    this.#writerRecords = 0;
    const startedMs = monotonicMs();
    let pushed: readonly PushedRows[];
    try {
      pushed = await this.#insert(writers);
      this.#at('pushes-committed');
    } catch (error) {
      for (const { reject } of writers) reject(error);
      return;
    }
    const tookMs = monotonicMs() - startedMs;
    this.#groupMs = Math.min(GROUP_MS_MAX, Math.max(GROUP_MS_MIN, 2 * tookMs));
    const pausing = this.#readBarrier(pushed.map(({ tableId }) => tableId));
    const resume = pausing && (await pausing);
    this.applyPushed(pushed);
    resume?.();
    for (const { resolve } of writers) resolve();
  }

  /** Makes durable rows visible: those of this process, or those of a message. */
  applyPushed(pushed: readonly PushedRows[]): void {
    for (const { tableId, rows } of pushed) this.#add(tableId, rows);
    for (const listener of this.#listeners) listener(pushed);
  }

  async #insert(writers: readonly Writer[]): Promise<readonly PushedRows[]> {
    const { groups, marked: markWritten } = await this.#database
      .transaction()
      .execute(async (transaction) => {
        // Time and sequence are assigned in the transaction's turn, so that later pushes are later.
        const timeMs = this.#clock.next();
        const pushed = writers.map(({ tableId, pushes }) => ({
          tableId,
          rows: pushes.map((push) => ({ ...push, sequence: (this.#sequence += 1), timeMs })),
        }));
        const markWritten = await this.#clock.writeMarks(transaction);
        await insertRows(transaction, pushed);
        const beside = writers.flatMap(({ alongside }) => alongside);
        await runBatch(transaction, beside);
        this.#at('pushes-written');
        return { groups: pushed, marked: markWritten };
      });
    markWritten();
    return groups;
  }

  #add(tableId: number, rows: readonly PendingRow[]): void {
    const empty = { rows: [], newest: 0, flushed: [], net: new Map(), flushing: undefined };
    const table: TableState = this.#tables.get(tableId) ?? empty;
    for (const row of rows) {
      table.rows.push(row);
      addByKey(table.net, row);
    }
    table.newest = rows.at(-1)?.sequence ?? table.newest;
    this.#visibleSequence = Math.max(this.#visibleSequence, table.newest);
    this.#tables.set(tableId, table);
  }
}
