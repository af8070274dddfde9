// A catalog made anew in another engine: every row of every table, in one transaction, compared afterwards.
import { createHash } from 'node:crypto';
import { type Insertable, sql } from 'kysely';
import { Failure } from '../base/failure.ts';
import type { Database, Tables } from './database.ts';
import { FOLDER_VERSION, folderVersion, migrateInside } from './migrate.ts';

export type CatalogRow = Readonly<Record<string, unknown>>;

/** Rows of a table, some at once; whoever asks for them reads one moment. */
export type PagesOf = (database: Database, table: string) => AsyncIterable<readonly CatalogRow[]>;

export interface CopyOrder {
  readonly from: Database;
  readonly pagesFrom: PagesOf;
  /** Without any table. */
  readonly to: Database;
  readonly pagesTo: PagesOf;
}

export interface Copied {
  readonly tables: number;
  readonly rows: number;
}

/** Parameters of one statement: what both engines take. */
const PARAMETERS_MAX = 30_000;
/** Rows of a page. */
export const PAGE_ROWS = 2_000;

/**
 * Nothing is left in the target unless all is there.
 * @throws Failure Conflict when the source is of another version, or what was written is not what was read
 */
export async function copyCatalog(order: CopyOrder): Promise<Copied> {
  const version = await folderVersion(order.from);
  if (version !== FOLDER_VERSION) {
    const told = `it has version ${version}, this program makes ${FOLDER_VERSION}: start its server once`;
    throw new Failure('Conflict', `the catalog can not be copied: ${told}`);
  }
  return order.to.transaction().execute(async (transaction) => {
    await migrateInside(transaction);
    const tables = await order.from.introspection.getTables();
    let rows = 0;
    for (const { name } of tables) rows += await copyTable(order, transaction, name);
    return { tables: tables.length, rows };
  });
}

/** The first table whose rows are not the same in both; undefined where all are. */
export async function differentTable(order: CopyOrder): Promise<string | undefined> {
  const { from, pagesFrom, pagesTo, to } = order;
  return to.transaction().execute(async (transaction) => {
    for (const { name } of await from.introspection.getTables()) {
      const one = await fingerprintOf(pagesFrom(from, name));
      const other = await fingerprintOf(pagesTo(transaction, name));
      if (one.text !== other.text) return name;
    }
    return undefined;
  });
}

async function fingerprintOf(pages: AsyncIterable<readonly CatalogRow[]>): Promise<Fingerprint> {
  const print = new Fingerprint();
  for await (const page of pages) print.add(page.map(portable));
  return print;
}

async function copyTable(
  { from, pagesFrom, pagesTo }: CopyOrder,
  to: Database,
  table: string,
): Promise<number> {
  await sql`delete from ${sql.table(table)}`.execute(to);
  const read = new Fingerprint();
  for await (const asRead of pagesFrom(from, table)) {
    const page = asRead.map(portable);
    read.add(page);
    await insertPage(to, table, page);
  }
  const written = await fingerprintOf(pagesTo(to, table));
  if (written.text === read.text) return read.rows;
  const told = `table ${table}: ${read.rows} rows were read, ${written.rows} are there, or differ`;
  throw new Failure('Conflict', `the copy of the catalog is not what was copied: ${told}`);
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

/** The same for the same rows, in any order and from either engine. */
class Fingerprint {
  rows = 0;
  readonly #sums = [0n, 0n];

  get text(): string {
    return `${this.rows} ${this.#sums.join(' ')}`;
  }

  add(page: readonly CatalogRow[]): void {
    for (const row of page) {
      const digest = createHash('sha256').update(lineOf(row)).digest();
      // A sum, so that equal rows count as often as they are there.
      this.#sums[0] = BigInt.asUintN(64, (this.#sums[0] ?? 0n) + digest.readBigUInt64LE(0));
      this.#sums[1] = BigInt.asUintN(64, (this.#sums[1] ?? 0n) + digest.readBigUInt64LE(8));
      this.rows += 1;
    }
  }
}

const lineOf = (row: CatalogRow): string =>
  JSON.stringify(
    Object.keys(row)
      .sort()
      .map((name) => [name, asBoth(row[name])]),
  );

/** A value as both engines have it. */
const asBoth = (value: unknown): unknown => (typeof value === 'boolean' ? (value ? 1 : 0) : value);

/** PostgreSQL's text has no character 0; a bound with another one instead would be none. */
const portable = (row: CatalogRow): CatalogRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (typeof value !== 'string' || !value.includes('\0')) return [name, value];
      const isBound = name === 'min_value' || name === 'max_value';
      return [name, isBound ? null : value.replaceAll('\0', '\uFFFD')];
    }),
  );
