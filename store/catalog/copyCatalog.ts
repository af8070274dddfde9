// Copies the catalog to another engine: every row of every table, in one transaction, compared afterwards.
import { createHash } from 'node:crypto';
import { type Insertable, sql } from 'kysely';
import { Failure } from '../base/failure.ts';
import type { Database, Tables } from './database.ts';
import { FOLDER_VERSION, folderVersion, migrateInside } from './migrate.ts';

export type CatalogRow = Readonly<Record<string, unknown>>;

/** Reads the rows of a table in pages, in one snapshot. */
export type PageReader = (
  database: Database,
  table: string,
) => AsyncIterable<readonly CatalogRow[]>;

export interface CopyOrder {
  readonly from: Database;
  readonly pagesFrom: PageReader;
  /** An empty database. */
  readonly to: Database;
  readonly pagesTo: PageReader;
}

export interface CopyResult {
  readonly tables: number;
  readonly rows: number;
}

/** Parameters of one statement that both engines accept. */
const PARAMETERS_MAX = 30_000;
/** Rows of a page. */
export const PAGE_ROWS = 2_000;

/**
 * Copies the catalog in one transaction of the target.
 * @throws Failure Conflict if the source has another version, or the copy differs from it
 */
export async function copyCatalog(order: CopyOrder): Promise<CopyResult> {
  const version = await folderVersion(order.from);
  if (version !== FOLDER_VERSION) {
    const reason = `it has version ${version}, this program makes ${FOLDER_VERSION}: start its server once`;
    throw new Failure('Conflict', `the catalog can not be copied: ${reason}`);
  }
  return order.to.transaction().execute(async (transaction) => {
    await migrateInside(transaction);
    const tables = await order.from.introspection.getTables();
    let rows = 0;
    for (const { name } of tables) rows += await copyTable(order, transaction, name);
    return { tables: tables.length, rows };
  });
}

/** Finds the first table whose rows differ; undefined if all are equal. */
export async function findDifferentTable(order: CopyOrder): Promise<string | undefined> {
  const { from, pagesFrom, pagesTo, to } = order;
  return to.transaction().execute(async (transaction) => {
    for (const { name } of await from.introspection.getTables()) {
      const one = await computeFingerprint(pagesFrom(from, name));
      const other = await computeFingerprint(pagesTo(transaction, name));
      if (one.text !== other.text) return name;
    }
    return undefined;
  });
}

async function computeFingerprint(
  pages: AsyncIterable<readonly CatalogRow[]>,
): Promise<Fingerprint> {
  const fingerprint = new Fingerprint();
  for await (const page of pages) fingerprint.add(page.map(portableRow));
  return fingerprint;
}

async function copyTable(
  { from, pagesFrom, pagesTo }: CopyOrder,
  to: Database,
  table: string,
): Promise<number> {
  await sql`delete from ${sql.table(table)}`.execute(to);
  const read = new Fingerprint();
  for await (const sourcePage of pagesFrom(from, table)) {
    const page = sourcePage.map(portableRow);
    read.add(page);
    await insertPage(to, table, page);
  }
  const written = await computeFingerprint(pagesTo(to, table));
  if (written.text === read.text) return read.rows;
  const reason = `table ${table}: ${read.rows} rows were read, ${written.rows} are there, or differ`;
  throw new Failure('Conflict', `the copy of the catalog is not what was copied: ${reason}`);
}

async function insertPage(to: Database, table: string, page: readonly CatalogRow[]): Promise<void> {
  const columns = Math.max(1, Object.keys(page[0] ?? {}).length);
  const most = Math.floor(PARAMETERS_MAX / columns);
  for (let at = 0; at < page.length; at += most) {
    const rows = page.slice(at, at + most) as unknown as readonly Insertable<Tables['folder']>[];
    await to
      .insertInto(table as 'folder')
      .values(rows)
      .execute();
  }
}

/** A checksum of rows that is independent of their order and of the engine. */
class Fingerprint {
  rows = 0;
  readonly #sums = [0n, 0n];

  get text(): string {
    return `${this.rows} ${this.#sums.join(' ')}`;
  }

  add(page: readonly CatalogRow[]): void {
    for (const row of page) {
      const digest = createHash('sha256').update(canonicalRow(row)).digest();
      // A sum counts equal rows as often as they occur.
      this.#sums[0] = BigInt.asUintN(64, (this.#sums[0] ?? 0n) + digest.readBigUInt64LE(0));
      this.#sums[1] = BigInt.asUintN(64, (this.#sums[1] ?? 0n) + digest.readBigUInt64LE(8));
      this.rows += 1;
    }
  }
}

const canonicalRow = (row: CatalogRow): string =>
  JSON.stringify(
    Object.keys(row)
      .sort()
      .map((name) => [name, portableValue(row[name])]),
  );

/** Converts a value to the representation that both engines share. */
const portableValue = (value: unknown): unknown =>
  typeof value === 'boolean' ? (value ? 1 : 0) : value;

/** PostgreSQL's text has no character 0. A bound with a replaced character would be wrong: null instead. */
const portableRow = (row: CatalogRow): CatalogRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (typeof value !== 'string' || !value.includes('\0')) return [name, value];
      const isBound = name === 'min_value' || name === 'max_value';
      return [name, isBound ? null : value.replaceAll('\0', '\uFFFD')];
    }),
  );
