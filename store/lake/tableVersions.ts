// Caches versions of tables: the current ones, recently read earlier ones, and the version of each table's
// latest change.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { LruMap } from 'toad-cache';
import type { Database } from '../catalog/database.ts';
import { readHorizons, resolveSnapshot } from './history/history.ts';
import { readTable, readTables, type Table } from './versions/lakeRead.ts';

/** Limit of cached earlier versions. */
const EARLIER_TABLES_MAX = 64;
/** Tables loaded in one turn of the event loop: some 10 ms. */
const BATCH_SIZE = 100;

type PendingTable = Promise<Table | undefined>;

export class TableVersions {
  readonly #database: Database;
  readonly #latestSnapshot: () => number;
  readonly #current = new Map<number, PendingTable>();
  /** Version of a table's latest change in this process. */
  readonly #changed = new Map<number, number>();
  /** Earlier versions; the least recently read one is evicted. */
  readonly #earlier = new LruMap<PendingTable>(EARLIER_TABLES_MAX);

  /** @param latestSnapshot returns the latest visible snapshot */
  constructor(database: Database, latestSnapshot: () => number) {
    this.#database = database;
    this.#latestSnapshot = latestSnapshot;
  }

  /** Returns the current table; undefined when it does not exist now. */
  current(tableId: number): PendingTable {
    const cached = this.#current.get(tableId);
    if (cached !== undefined) return cached;
    const loading = readTable(this.#database, tableId, this.#latestSnapshot());
    this.#current.set(tableId, loading);
    loading.catch(() => this.#current.delete(tableId));
    return loading;
  }

  /** Loads tables before they are requested, many with one statement; cached ones are skipped. */
  async preload(tableIds: readonly number[]): Promise<void> {
    const uncached = tableIds.filter((tableId) => !this.#current.has(tableId));
    for (let at = 0; at < uncached.length; at += BATCH_SIZE) {
      const batch = uncached.slice(at, at + BATCH_SIZE);
      const loading = readTables(this.#database, batch, this.#latestSnapshot());
      for (const tableId of batch) {
        const table = loading.then((tables) => tables.get(tableId));
        this.#current.set(tableId, table);
        table.catch(() => this.#current.delete(tableId));
      }
      await loading;
      await othersTurn();
    }
  }

  /** @throws Failure InvalidParameter when the version never existed, Gone when it has ended. */
  earlier(tableId: number, snapshot: number): PendingTable {
    const key = `${tableId}@${snapshot}`;
    const cached = this.#earlier.get(key) ?? this.#readEarlier(tableId, snapshot);
    this.#earlier.set(key, cached);
    cached.catch(() => this.#earlier.delete(key));
    return cached;
  }

  /** Returns the version of a table's latest change; 0 when it was before this process started. */
  changedAt(tableId: number): number {
    return this.#changed.get(tableId) ?? 0;
  }

  /** Marks tables as changed by a version. */
  markChanged(tableIds: readonly number[], snapshot: number): void {
    for (const tableId of tableIds) {
      this.#current.delete(tableId);
      this.#changed.set(tableId, snapshot);
    }
  }

  /** Clears earlier versions after some have ended. */
  clearEarlier(): void {
    this.#earlier.clear();
  }

  /** Reads in one transaction: a version that ends meanwhile is complete, or reported as ended. */
  #readEarlier(tableId: number, snapshot: number): PendingTable {
    return this.#database.transaction().execute(async (transaction) => {
      const horizon = (await readHorizons(transaction)).get(tableId);
      const asOf = { kind: 'snapshot', snapshot, sequence: 0 } as const;
      await resolveSnapshot(transaction, asOf, this.#latestSnapshot(), horizon);
      return readTable(transaction, tableId, snapshot);
    });
  }
}
