// What became of a transaction whose answer was lost. Each leaves a mark of its own, which is there if, and
// only if, it was committed. PostgreSQL's numbers of transactions do not tell that: one that was lost before
// anything of it was synced leaves its number to somebody else's.
import type { Link } from './link.ts';

/** In the schema, beside the catalog's tables. */
export const MARK_TABLE = 'tapedeck_commits';

/** Older ones go, so many at once: nobody asks for any but the last. */
const MARKS_MOST = 1_000;

/** The lock is this one's: marks of former holders are asked for by nobody. */
export async function makeMarkTable(link: Link): Promise<void> {
  await link.run(`create table if not exists ${MARK_TABLE} (number bigint not null)`, []);
  await link.run(`delete from ${MARK_TABLE}`, []);
}

/** Statements of a transaction that just began. */
export function leaveMark(link: Link, number: number): readonly Promise<unknown>[] {
  const left = link.run(`insert into ${MARK_TABLE} values ($1)`, [number]);
  if (number % MARKS_MOST !== 0) return [left];
  return [left, link.run(`delete from ${MARK_TABLE} where number < $1`, [number])];
}

/** For whoever has the lock, so that no session before it has a transaction. */
export async function hasMark(link: Link, number: number): Promise<boolean> {
  const asked = `select exists (select from ${MARK_TABLE} where number = $1) as found`;
  return ((await link.run(asked, [number])).rows[0] as { readonly found: boolean }).found;
}
