// The rows of a streamed result, and whether they were all. The binding's `fetchChunk` says nothing of an
// error, an interrupt or a lack of memory: the chunk is empty then, as it is behind the last row.
import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import { Failure } from '../base/failure.ts';
import type { Bound } from './protocol.ts';
import { runOne } from './statement.ts';

/** Of a result that broke off; why is asked by `whyBroken`. */
const BROKEN = 'the rows broke off';

/** The next rows; undefined behind the last one. @throws Failure when they broke off. */
export async function nextChunk(result: DuckDBResult): Promise<DuckDBDataChunk | undefined> {
  const chunk: DuckDBDataChunk | null = await result.fetchChunk();
  if (chunk !== null && chunk.rowCount > 0) return chunk;
  // An error makes of it a result that is none.
  if (!result.isStreaming) throw new Failure('SystemError', BROKEN);
  return undefined;
}

export const isBroken = (error: unknown): boolean =>
  error instanceof Failure && error.detail === BROKEN;

/**
 * Runs a statement again whose rows broke off: kept whole it fails with DuckDB's sentence.
 * @throws what it says; nothing when it does not fail again.
 */
export async function whyBroken(
  connection: DuckDBConnection,
  query: string,
  parameters: readonly Bound[],
): Promise<void> {
  // It goes with the connection.
  await runOne(connection, `CREATE TEMP TABLE broken AS ${query}`, parameters);
}
