// One statement, prepared by itself: the binding's own `run` and `stream` first take a text apart, as if it
// had several, and each of their waits is a message between threads: 0.8 ms instead of 0.4 for `SELECT 1`.
import type {
  DuckDBConnection,
  DuckDBMaterializedResult,
  DuckDBPreparedStatement,
  DuckDBResult,
} from '@duckdb/node-api';
import type { Bound } from './protocol.ts';

/** The whole result. */
export const runOne = (
  connection: DuckDBConnection,
  statement: string,
  parameters: readonly Bound[] = [],
): Promise<DuckDBMaterializedResult> =>
  prepared(connection, statement, parameters, (one) => one.run());

/** The result, as it comes. */
export const streamOne = (
  connection: DuckDBConnection,
  statement: string,
  parameters: readonly Bound[] = [],
): Promise<DuckDBResult> => prepared(connection, statement, parameters, (one) => one.stream());

async function prepared<T>(
  connection: DuckDBConnection,
  statement: string,
  parameters: readonly Bound[],
  work: (one: DuckDBPreparedStatement) => Promise<T>,
): Promise<T> {
  const one = await connection.prepare(statement);
  try {
    if (parameters.length > 0) one.bind([...parameters]);
    return await work(one);
  } finally {
    one.destroySync();
  }
}
