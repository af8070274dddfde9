// A locked DuckDB instance: in memory, reading only the files of its scope, no extensions, no
// settings to change. STACK.md 1.4 lists what the lock refuses, and what it does not: that is why
// only our own printed statements run here, and why it lives in a child process.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Scope } from './protocol.ts';
import { literal } from './sqlText.ts';
import { runOne } from './statement.ts';

/** Files of more bytes together may have enough records to share out. */
const FEW_BYTES = 256 * 1024;
/** Of more files nobody asks the size. */
const FEW_FILES = 32;

/** An instance that is not locked yet: nothing of any scope, and nothing runs on it. */
export const blankInstance = (): Promise<DuckDBInstance> =>
  DuckDBInstance.create(':memory:', {
    // More of them start when a scope has them.
    threads: '1',
    preserve_insertion_order: 'true',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });

/** @param blank one that was made ahead: making one takes 12 ms, locking it 2 */
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
 * Progress is kept for what runs on the connection, and drawn nowhere. The lock lets these two pass, and
 * they are of one connection: those that say nothing of it are spared 0.5 ms, and all the computing of it.
 */
export async function keepProgress(connection: DuckDBConnection): Promise<void> {
  await runOne(connection, 'PRAGMA enable_progress_bar');
  await runOne(connection, 'PRAGMA disable_print_progress_bar');
}

/**
 * ORDER BY … LIMIT over Parquet runs about 5x slower with late materialization (STACK.md 2). Only a caller
 * may have written a part of a query twice.
 */
const disabledOptimizers = ({ kept, skips = [] }: Scope): ReadonlySet<string> =>
  new Set(['late_materialization', ...(kept === true ? [] : ['common_subplan']), ...skips]);

function lockStatements(scope: Scope): readonly string[] {
  const spill = scope.folder === undefined ? '' : scope.folder;
  // Into a kept instance's folder nothing is written that is read again.
  const isOfJobs =
    scope.shared !== undefined || (scope.folder !== undefined && scope.kept !== true);
  const byFolder = scope.folder === undefined && scope.folders !== undefined;
  const folders = [...(spill === '' ? [] : [spill]), ...(scope.folders ?? [])];
  return [
    `SET threads = ${scope.threads}`,
    `SET memory_limit = '${Math.floor(scope.memoryBytes / 1024)}KiB'`,
    // These two are of one connection otherwise, and each question has a connection of its own.
    `SET GLOBAL TimeZone = 'UTC'`,
    `SET disabled_optimizers = '${[...disabledOptimizers(scope)].join(',')}'`,
    // Both of these take a file of the same length and second for the one that was read before. Footers of
    // the lake's files, which never change, are kept: one of 10 M records takes 4 ms to read.
    `SET GLOBAL parquet_metadata_cache = ${!isOfJobs}`,
    // The system keeps the bytes: a key of 3 M records takes 4.3 ms with this and without it.
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
 * What a scope asks for, or one for little: its files, and what its job has written. DuckDB shares out work
 * by tens of thousands of records: of fewer, one thread does all, and the one that waits for it spins. With
 * a second one small loads took 8 to 14 % more processor time, and were no shorter.
 */
export async function threadsFor(scope: Scope): Promise<number> {
  return scope.threads === 1 || (await isFew(scope)) ? 1 : scope.threads;
}

export async function isFew({ files, folder, kept }: Scope): Promise<boolean> {
  const written = folder === undefined || kept === true ? [] : await filesIn(folder);
  const paths = [...new Set([...files, ...written])];
  if (paths.length > FEW_FILES) return false;
  const sizes = await Promise.all(paths.map(bytesOf));
  return sizes.reduce((sum, bytes) => sum + bytes, 0) <= FEW_BYTES;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder);
  return names.map((name) => join(folder, name));
}

/** What is not there is told by the statement that reads it. */
const bytesOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );
