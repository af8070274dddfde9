// DuckDB in the process of tests, for what they look at themselves: one instance for all, since making one
// takes longer than most looks.
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

let kept: Promise<DuckDBInstance> | undefined;

/**
 * Whoever asks closes it. What it makes is temporary, and gone then.
 * Files are read anew each time: a test may have written them again.
 */
export async function connectionHere(): Promise<DuckDBConnection> {
  kept ??= DuckDBInstance.create(':memory:', {
    threads: '1',
    autoinstall_known_extensions: 'false',
    enable_external_file_cache: 'false',
  });
  return (await kept).connect();
}
