// The DuckDB processes of a server, by purpose.
import { sep } from 'node:path';
import { DuckDbPool } from '../store/duckdb/pool.ts';
import type { ChildProcesses } from '../store/duckdb/slot.ts';
import type { Folder } from '../store/catalog/folder.ts';
import type { Settings } from '../store/base/settings/settings.ts';

/** Threads of one ingestion: it is the only heavy work of a small machine. */
const INGEST_THREADS = 2;
/** With 0, a flush beside 1,000 pushes a second raised their p99 from 8 ms to 26 ms. */
const INGEST_NICENESS = 10;

/** Threads of one SQL query: as many as plain DuckDB uses on the machine of the targets. */
const SQL_THREADS = 2;
/** Series have priority over SQL, and both over ingestion. */
export const NICENESS = { read: 0, sql: 5, ingest: INGEST_NICENESS } as const;

export interface Pools {
  readonly read: DuckDbPool;
  readonly sql: DuckDbPool;
  readonly ingest: DuckDbPool;
}

/** Creates separate processes for reads, SQL and ingestion: no load and no query delays a read. */
export function createPools(
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
    // Files of loads are on this machine only, as are files to be hashed.
    ingest: ingestPool(settings, { ...from, ...lake, onlyDeclared: true }),
  };
}

/** Creates processes for loads. */
export const ingestPool = (
  { ingestMemoryBytes: memoryBytes, jobConcurrency: children }: Settings,
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

/** Creates processes for reads of series. */
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

/** Creates processes for SQL. @param temporary folder for spills */
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
