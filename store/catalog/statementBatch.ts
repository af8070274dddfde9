// Batches statements: they are sent to the catalog in one message and run in one transaction.
import { CompiledQuery, type Insertable, type InsertQueryBuilder, type InsertResult } from 'kysely';
import type { Database, Tables } from './database.ts';
import { type BatchStatement, BATCH_MARKER } from './statements.ts';

interface CompilableQuery {
  compile(): CompiledQuery;
}

/** CompilableQuery a query to a statement of a batch. */
export function toBatchStatement(query: CompilableQuery): BatchStatement {
  const { parameters, sql } = query.compile();
  return { sql, each: [parameters] };
}

/**
 * Builds the insert of rows into one table. All rows have the members of the first, in its order.
 * @param also adds clauses to the statement
 */
export function insertEach<T extends keyof Tables>(
  database: Database,
  table: T,
  rows: readonly Insertable<Tables[T]>[],
  also: (insert: InsertQueryBuilder<Tables, T, InsertResult>) => CompilableQuery = (insert) =>
    insert,
): readonly BatchStatement[] {
  const [first] = rows;
  if (first === undefined) return [];
  const { sql } = also(database.insertInto(table).values(first)).compile();
  return [{ sql, each: rows.map((row) => Object.values(row)) }];
}

/** Runs a batch of statements in order in a transaction. */
export async function runBatch(
  transaction: Database,
  pieces: readonly BatchStatement[],
): Promise<void> {
  if (pieces.length === 0) return;
  await transaction.executeQuery(CompiledQuery.raw(BATCH_MARKER, [...pieces]));
}
