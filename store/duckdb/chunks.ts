// Reads the rows of a streamed result, and detects whether they are complete. The binding's `fetchChunk`
// reports no error, interrupt or lack of memory: it returns an empty chunk, as after the last row.
import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import { Failure } from '../base/failure.ts';
import type { Bound } from './protocol.ts';
import { runOne } from './statement.ts';

/** Message of an incomplete result; `whyBroken` finds the reason. */
const BROKEN = 'the rows broke off';

/** Reads the next rows; undefined after the last one. @throws Failure if the result is incomplete. */
export async function nextChunk(result: DuckDBResult): Promise<DuckDBDataChunk | undefined> {
  const chunk: DuckDBDataChunk | null = await result.fetchChunk();
  if (chunk !== null && chunk.rowCount > 0) return chunk;
  // After an error the result is no longer a streaming one.
  if (!result.isStreaming) throw new Failure('SystemError', BROKEN);
  return undefined;
}

export const isIncompleteResult = (error: unknown): boolean =>
  error instanceof Failure && error.detail === BROKEN;

/**
 * Runs the statement of an incomplete result again: materialized it fails with DuckDB's message.
 * @throws DuckDB's error, unless the repetition succeeds
 */
export async function rethrowReason(
  connection: DuckDBConnection,
  query: string,
  parameters: readonly Bound[],
): Promise<void> {
  // The table is dropped with the connection.
  await runOne(connection, `CREATE TEMP TABLE broken AS ${query}`, parameters);
}
