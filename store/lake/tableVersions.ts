// Versions of tables in memory: the present ones, those that were read last of the past, and since when a
// table is as it is.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { LruMap } from 'toad-cache';
import type { Database } from '../catalog/database.ts';
import { readHorizons, snapshotAsked } from './history/history.ts';
import { readTable, readTables, type Table } from './versions/lakeRead.ts';

/** Old versions kept in memory. */
const OLD_TABLES_MAX = 64;
/** Tables that are read in one turn of the event loop: some 10 ms. */
const TABLES_AT_ONCE = 100;

type Reading = Promise<Table | undefined>;

export class TableVersions {
  readonly #database: Database;
  readonly #newest: () => number;
  readonly #current = new Map<number, Reading>();
  /** The version at which a table was last changed, as far as this process knows. */
  readonly #changed = new Map<number, number>();
  /** Old versions; past so many the one read longest ago is dropped. */
  readonly #old = new LruMap<Reading>(OLD_TABLES_MAX);

  /** @param newest id of the newest snapshot that readers see */
  constructor(database: Database, newest: () => number) {
    this.#database = database;
    this.#newest = newest;
  }

  /** Undefined where there is no such table now. */
  current(tableId: number): Reading {
    const known = this.#current.get(tableId);
    if (known !== undefined) return known;
    const loading = readTable(this.#database, tableId, this.#newest());
    this.#current.set(tableId, loading);
    loading.catch(() => this.#current.delete(tableId));
    return loading;
  }

  /** Reads tables that are asked for next, many by one statement; what is known is not read again. */
  async expect(tableIds: readonly number[]): Promise<void> {
    const unknown = tableIds.filter((tableId) => !this.#current.has(tableId));
    for (let at = 0; at < unknown.length; at += TABLES_AT_ONCE) {
      const some = unknown.slice(at, at + TABLES_AT_ONCE);
      const loading = readTables(this.#database, some, this.#newest());
      for (const tableId of some) {
        const table = loading.then((tables) => tables.get(tableId));
        this.#current.set(tableId, table);
        table.catch(() => this.#current.delete(tableId));
      }
      await loading;
      await othersTurn();
    }
  }

  /** @throws Failure InvalidParameter when there never was such a version, Gone when it has ended. */
  old(tableId: number, snapshot: number): Reading {
    const key = `${tableId}@${snapshot}`;
    const known = this.#old.get(key) ?? this.#readOld(tableId, snapshot);
    this.#old.set(key, known);
    known.catch(() => this.#old.delete(key));
    return known;
  }

  /** The version at which a table was last changed; 0 where that was before this process knew of it. */
  changedAt(tableId: number): number {
    return this.#changed.get(tableId) ?? 0;
  }

  /** Tables are others from a version on. */
  change(tableIds: readonly number[], snapshot: number): void {
    for (const tableId of tableIds) {
      this.#current.delete(tableId);
      this.#changed.set(tableId, snapshot);
    }
  }

  /** Some of the past ended. */
  forgetOld(): void {
    this.#old.clear();
  }

  /** In one transaction: a version that ends meanwhile is there whole, or told as ended. */
  #readOld(tableId: number, snapshot: number): Reading {
    return this.#database.transaction().execute(async (transaction) => {
      const horizon = (await readHorizons(transaction)).get(tableId);
      const asOf = { kind: 'snapshot', snapshot, sequence: 0 } as const;
      await snapshotAsked(transaction, asOf, this.#newest(), horizon);
      return readTable(transaction, tableId, snapshot);
    });
  }
}
