// The DuckDB processes of a server, by what they are for.
import { sep } from 'node:path';
import { DuckDbPool } from '../store/duckdb/pool.ts';
import type { ChildProcesses } from '../store/duckdb/slot.ts';
import type { Folder } from '../store/catalog/folder.ts';
import type { Settings } from '../store/base/settings/settings.ts';

/** Threads of one ingestion: it is the only heavy work of a small machine. */
const INGEST_THREADS = 2;
/** A flush beside 1,000 pushes a second took their p99 from 8 ms to 26 ms at 0. */
const INGEST_NICENESS = 10;

/** Threads of one SQL query: as many as a bare DuckDB takes on the machine of the targets. */
const SQL_THREADS = 2;
/** SQL gives way to series, and ingestion to both. */
export const NICENESS = { read: 0, sql: 5, ingest: INGEST_NICENESS } as const;

export interface Pools {
  readonly read: DuckDbPool;
  readonly sql: DuckDbPool;
  readonly ingest: DuckDbPool;
}

/** Reads, SQL and ingestion have children of their own: no load and no query stands before a read. */
export function poolsOf(
  settings: Settings,
  folder: Folder,
  onFailed: (accountId: string, ms: number) => void,
  processes?: ChildProcesses,
): Pools {
  const from = processes === undefined ? {} : { processes };
  const lake = settings.standby ? { lake: `${folder.lake}${sep}` } : {};
  return {
    read: readPool(settings, { ...from, ...lake }),
    sql: sqlPool(settings, folder.temporary, { ...from, ...lake, onFailed }),
    // What loads read and write is of this machine; so are files whose hashes are asked for.
    ingest: ingestPool(settings, { ...from, ...lake, isSaid: true }),
  };
}

/** Processes for loads. */
export const ingestPool = (
  { ingestMemoryBytes: memoryBytes, jobsAtOnce: children }: Settings,
  more: PoolMore = {},
): DuckDbPool =>
  new DuckDbPool({
    ...more,
    children,
    memoryBytes,
    shared: true,
    threads: INGEST_THREADS,
    niceness: INGEST_NICENESS,
  });

/** Processes for reads of series. */
export const readPool = (
  { childMemoryBytes: memoryBytes, children }: Settings,
  more: PoolMore = {},
): DuckDbPool =>
  new DuckDbPool({
    ...more,
    niceness: NICENESS.read,
    children,
    memoryBytes,
    threads: 1,
    byFolder: true,
  });

type PoolMore = Partial<ConstructorParameters<typeof DuckDbPool>[0] & object>;

/** Processes for SQL. @param temporary where they spill */
export const sqlPool = (
  { sqlChildren: children, sqlMemoryBytes: memoryBytes, sqlSpillBytes: bytes }: Settings,
  temporary: string,
  more: PoolMore = {},
): DuckDbPool =>
  new DuckDbPool({
    ...more,
    children,
    memoryBytes,
    spill: {
      folder: temporary,
      bytes,
    },
    threads: SQL_THREADS,
    niceness: NICENESS.sql,
  });
