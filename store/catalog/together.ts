// Statements that go to the catalog in one message, in one transaction: what a window gathered.
import { CompiledQuery, type Insertable, type InsertQueryBuilder, type InsertResult } from 'kysely';
import type { Database, Tables } from './database.ts';
import { type Piece, TOGETHER } from './statements.ts';

interface Compiles {
  compile(): CompiledQuery;
}

/** A statement as a piece. */
export function pieceOf(query: Compiles): Piece {
  const { parameters, sql } = query.compile();
  return { sql, each: [parameters] };
}

/**
 * Rows of one table, each with the members of the first, in its order.
 * @param also what the statement says beside its values
 */
export function insertEach<T extends keyof Tables>(
  database: Database,
  table: T,
  rows: readonly Insertable<Tables[T]>[],
  also: (insert: InsertQueryBuilder<Tables, T, InsertResult>) => Compiles = (insert) => insert,
): readonly Piece[] {
  const [first] = rows;
  if (first === undefined) return [];
  const { sql } = also(database.insertInto(table).values(first)).compile();
  return [{ sql, each: rows.map((row) => Object.values(row)) }];
}

/** Runs pieces in a transaction, one after the other. */
export async function runTogether(transaction: Database, pieces: readonly Piece[]): Promise<void> {
  if (pieces.length === 0) return;
  await transaction.executeQuery(CompiledQuery.raw(TOGETHER, [...pieces]));
}
