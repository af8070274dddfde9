// A locked DuckDB instance: in memory, it reads only the files of its scope, without extensions or
// changes of settings. STACK.md 1.4 lists what the lock refuses and what it does not: therefore it runs
// only generated statements, in a child process.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Scope } from './protocol.ts';
import { literal } from './sqlText.ts';
import { runOne } from './statement.ts';

/** Files with more bytes in total may have enough records for several threads. */
const SMALL_BYTES_MAX = 256 * 1024;
/** The sizes of more files are not read. */
const SMALL_FILES_MAX = 32;

/** Creates an instance that is not locked yet and has no scope. */
export const blankInstance = (): Promise<DuckDBInstance> =>
  DuckDBInstance.create(':memory:', {
    // More threads start when a scope allows them.
    threads: '1',
    preserve_insertion_order: 'true',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });

/** Locks an instance. @param blank created ahead: that takes 12 ms, locking 2 ms */
export async function lockedInstance(
  scope: Scope,
  blank: Promise<DuckDBInstance> = blankInstance(),
): Promise<DuckDBInstance> {
  const instance = await blank;
  const connection = await instance.connect();
  await connection.run(lockStatements(scope).join(';'));
  connection.closeSync();
  return instance;
}

/**
 * Tracks progress on the connection without printing it. The lock allows these two settings, which apply to
 * one connection: requests without progress save 0.5 ms and its computation.
 */
export async function trackProgress(connection: DuckDBConnection): Promise<void> {
  await runOne(connection, 'PRAGMA enable_progress_bar');
  await runOne(connection, 'PRAGMA disable_print_progress_bar');
}

/**
 * ORDER BY … LIMIT over Parquet runs about 5x slower with late materialization (STACK.md 2). Only callers'
 * queries may contain a common subplan.
 */
const disabledOptimizers = ({ isKept, skips = [] }: Scope): ReadonlySet<string> =>
  new Set(['late_materialization', ...(isKept === true ? [] : ['common_subplan']), ...skips]);

function lockStatements(scope: Scope): readonly string[] {
  const spill = scope.folder === undefined ? '' : scope.folder;
  // Files written to the folder of a kept instance are never read again.
  const isJobInstance =
    scope.shared !== undefined || (scope.folder !== undefined && scope.isKept !== true);
  const byFolder = scope.folder === undefined && scope.folders !== undefined;
  const folders = [...(spill === '' ? [] : [spill]), ...(scope.folders ?? [])];
  return [
    `SET threads = ${scope.threads}`,
    `SET memory_limit = '${Math.floor(scope.memoryBytes / 1024)}KiB'`,
    // GLOBAL, because each request has its own connection.
    `SET GLOBAL TimeZone = 'UTC'`,
    `SET disabled_optimizers = '${[...disabledOptimizers(scope)].join(',')}'`,
    // Both caches confuse files of equal length and modification second. Footers of the lake's files, which
    // never change, are cached: one of 10 M records takes 4 ms to read.
    `SET GLOBAL parquet_metadata_cache = ${!isJobInstance}`,
    // The system caches the bytes: a key of 3 M records takes 4.3 ms with and without this cache.
    `SET GLOBAL enable_external_file_cache = false`,
    `SET temp_directory = ${literal(spill)}`,
    ...(scope.spillBytes === undefined
      ? []
      : [`SET max_temp_directory_size = '${Math.ceil(scope.spillBytes / 1024)}KiB'`]),
    `SET allowed_paths = [${byFolder ? '' : scope.files.map(literal).join(', ')}]`,
    `SET allowed_directories = [${folders.map(literal).join(', ')}]`,
    `SET enable_external_access = false`,
    `SET lock_configuration = true`,
  ];
}

/**
 * The threads of a scope, or one if its files and those that its job has written are small. DuckDB
 * distributes work by tens of thousands of records: with fewer, one thread does all, and the waiting one
 * spins. With a second one small loads took 8 to 14 % more processor time, and were not faster.
 */
export async function chooseThreads(scope: Scope): Promise<number> {
  return scope.threads === 1 || (await hasFewBytes(scope)) ? 1 : scope.threads;
}

export async function hasFewBytes({ files, folder, isKept }: Scope): Promise<boolean> {
  const written = folder === undefined || isKept === true ? [] : await filesIn(folder);
  const paths = [...new Set([...files, ...written])];
  if (paths.length > SMALL_FILES_MAX) return false;
  const sizes = await Promise.all(paths.map(fileSize));
  return sizes.reduce((sum, bytes) => sum + bytes, 0) <= SMALL_BYTES_MAX;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder);
  return names.map((name) => join(folder, name));
}

/** The size of a file; 0 if it is missing, which the statement that reads it reports. */
const fileSize = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );
