// Records a mark in each transaction, which exists if, and only if, the transaction was committed. It
// resolves the outcome of a commit whose answer was lost. PostgreSQL's transaction numbers can't: a
// transaction that was lost before any of it was synced leaves its number to another one.
import type { PostgresConnection } from './postgresConnection.ts';

/** Table in the schema, beside the catalog's tables. */
export const MARK_TABLE = 'tapedeck_commits';

/** Number of older marks that are removed together: only the latest is ever looked up. */
const MARKS_PER_CLEANUP = 1_000;

/** Requires the lock. Empties the table: marks of earlier holders are never looked up. */
export async function createMarkTable(link: PostgresConnection): Promise<void> {
  await link.run(`create table if not exists ${MARK_TABLE} (number bigint not null)`, []);
  await link.run(`delete from ${MARK_TABLE}`, []);
}

/** Runs the statements of a transaction that just began. */
export function insertMark(link: PostgresConnection, number: number): readonly Promise<unknown>[] {
  const inserted = link.run(`insert into ${MARK_TABLE} values ($1)`, [number]);
  if (number % MARKS_PER_CLEANUP !== 0) return [inserted];
  return [inserted, link.run(`delete from ${MARK_TABLE} where number < $1`, [number])];
}

/** Requires the lock, so that no earlier session has an open transaction. */
export async function hasMark(link: PostgresConnection, number: number): Promise<boolean> {
  const query = `select exists (select from ${MARK_TABLE} where number = $1) as stored`;
  return ((await link.run(query, [number])).rows[0] as { readonly stored: boolean }).stored;
}
