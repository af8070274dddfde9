// DuckDB in the process of tests, for their own queries: one instance for all, since creating one
// takes longer than most queries.
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

let sharedInstance: Promise<DuckDBInstance> | undefined;

/**
 * The caller closes the connection. Its tables are temporary, and end with it.
 * Files are read again each time, because a test may have rewritten them.
 */
export async function connectionHere(): Promise<DuckDBConnection> {
  sharedInstance ??= DuckDBInstance.create(':memory:', {
    threads: '1',
    autoinstall_known_extensions: 'false',
    enable_external_file_cache: 'false',
  });
  return (await sharedInstance).connect();
}
