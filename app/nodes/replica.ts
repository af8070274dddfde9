// State of a replica: the same memory as the serving node's, kept up to date by messages, over a read-only
// catalog.
import { join } from 'node:path';
import { mkdir, rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { SeriesServices } from '../../reads/series/series.ts';
import { makeFailedTime } from '../../reads/request/failedTime.ts';
import type { SqlServices } from '../../reads/sql/sql.ts';
import { Accounts } from '../../store/accounts/accounts.ts';
import { monotonicMs, systemClock } from '../../store/base/clock.ts';
import { survive } from '../../store/base/crashPoints.ts';
import { localDisk } from '../../store/base/disk.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { createFileHasher } from '../../store/base/fileDigest.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { Bucket } from '../../store/files/bucket/bucket.ts';
import type { FileCache } from '../../store/files/bucket/fileCache.ts';
import type { Database } from '../../store/catalog/database.ts';
import { LakeClock } from '../../store/catalog/lakeClock.ts';
import { openSecrets } from '../../store/catalog/secrets/secrets.ts';
import type { DuckDbPool } from '../../store/duckdb/pool.ts';
import { FileProofs } from '../../store/files/fileProofs.ts';
import type { Files } from '../../store/files/files.ts';
import { QueryCursors } from '../../store/lake/history/queryCursors.ts';
import { Lake } from '../../store/lake/lake.ts';
import { Pending } from '../../store/lake/pushes/pending.ts';
import type { StateMessage } from '../../store/replica/messages.ts';
import { NamedQueries } from '../../store/lake/datasets/views.ts';
import { openFileStore } from '../lake/lakeFiles.ts';
import { readPool, sqlPool } from '../pools.ts';
import { composeEngines } from '../services.ts';

/** Folder of file copies, and of temporary files. */
export interface ReadingFolder {
  readonly lake: string;
  readonly temporary: string;
}

/** Empties the folder: copies of an earlier run can't be trusted. */
export async function readingFolder(data: string): Promise<ReadingFolder> {
  const root = rootIn(data);
  await rm(root, { recursive: true, force: true });
  const folder = { lake: join(root, 'lake'), temporary: join(root, 'tmp') };
  for (const path of Object.values(folder)) await mkdir(path, { recursive: true, mode: 0o700 });
  return folder;
}

export const dropReadingFolder = (data: string): Promise<void> =>
  rm(rootIn(data), { recursive: true, force: true });

const rootIn = (data: string): string => join(data, 'reading');

interface FileParts {
  readonly bucket: Bucket;
  readonly cacheBytes: number;
  readonly folder: ReadingFolder;
  readonly log: Logger;
  readonly pool: DuckDbPool;
}

/** The lake's files, each verified before it is read from its copy. */
export async function readingFiles({
  bucket,
  cacheBytes,
  folder,
  log,
  pool,
}: FileParts): Promise<Pick<ReplicaParts, 'copies' | 'files'>> {
  const hash = createFileHasher(pool);
  const proofs = new FileProofs({
    root: folder.lake,
    hash,
    monotonic: monotonicMs,
    // Only the serving node stores results.
    onCompared: ({ path }, { damage }) => {
      if (damage !== null) log.error({ file: `lake/${path}` }, `a copy of a file ${damage}`);
    },
  });
  const place = { at: survive, disk: localDisk, folder, log };
  const { cache: copies, files } = await openFileStore(place, { hash, proofs }, bucket, cacheBytes);
  return { files, copies: copies === undefined ? [] : [copies] };
}

/** Files may have been removed while no messages were received: then all copies are dropped. */
export type Copies = Pick<FileCache, 'clear' | 'remove'>;

interface ReplicaParts {
  readonly settings: Settings;
  /** Read only. */
  readonly database: Database;
  readonly files: Files;
  /** Copies of files, which are removed with them. */
  readonly copies: readonly Copies[];
  readonly folder: ReadingFolder;
  readonly pools: ReadingPools;
  /** Messages start after this snapshot. */
  readonly snapshot: number;
}

/** Its own processes, besides those that it provides to the serving node. */
export interface ReadingPools {
  readonly read: DuckDbPool;
  readonly sql: DuckDbPool;
  /** Called with the duration of an account's failed query. */
  readonly onFailed: { now: (accountId: string, ms: number) => void };
}

export function readingPools(settings: Settings, { temporary }: ReadingFolder): ReadingPools {
  const onFailed: ReadingPools['onFailed'] = { now: () => undefined };
  const more = { onFailed: (accountId: string, ms: number): void => onFailed.now(accountId, ms) };
  return { read: readPool(settings), sql: sqlPool(settings, temporary, more), onFailed };
}

interface Replica {
  readonly services: Omit<SeriesServices & SqlServices, 'ledger'> & { readonly accounts: Accounts };
  readonly apply: (news: StateMessage) => void | Promise<void>;
  /** Ends the updates of a table. */
  readonly forget: (tableId: number) => void;
}

export async function openReplica(parts: ReplicaParts): Promise<Replica> {
  const { database, files, pools, settings } = parts;
  const clock = systemClock;
  const secrets = openSecrets(settings.encryptionKey, '');
  const lakeClock = LakeClock.readOnly(clock);
  const accounts = await Accounts.open(database, secrets, clock);
  const lake = await Lake.open(
    { database, files, clock: lakeClock, at: survive, owner: NOBODY },
    parts.snapshot,
  );
  const pending = Pending.empty(database, lakeClock, survive);
  const queries = await NamedQueries.open(database, clock);
  const failedTime = makeFailedTime(monotonicMs, accounts);
  pools.onFailed.now = failedTime.spent;
  // Named queries are not answered here.
  const cursors = new QueryCursors(database, clock, () => undefined);
  const forget = (tableId: number): void => pending.removeTable(tableId);
  const shared = { accounts, clock, database, lake, pending, queries, settings };
  return {
    services: {
      ...shared,
      ...composeEngines({ ...parts, lake }, pools, files),
      cursors,
      failedTime,
    },
    apply: createApply({ accounts, forget, lake, pending, queries }),
    forget,
  };
}

/** The owner of a lake that commits nothing. */
const NOBODY = { lake: '', run: '', moved: async (): Promise<void> => undefined };

interface ReplicaState extends Pick<Replica, 'forget'> {
  readonly accounts: Accounts;
  readonly lake: Lake;
  readonly pending: Pending;
  readonly queries: NamedQueries;
}

const createApply =
  ({ accounts, forget, lake, pending, queries }: ReplicaState): Replica['apply'] =>
  async (news) => {
    if (news.kind === 'pushed') return pending.applyPushed(news.made);
    if (news.kind === 'flushed') {
      return pending.applyFlushed(news.tableId, news.snapshot, news.sequences);
    }
    if (news.kind === 'accounts') return accounts.reload();
    if (news.kind === 'queries') return queries.reload();
    // Copies are handled elsewhere, also at a node that answers no reads.
    if (news.kind === 'forgotten' || news.kind === 'removed') return;
    if (news.kind === 'table') {
      forget(news.pending.tableId);
      return pending.applyPushed([news.pending]);
    }
    const { endsHistory, tableIds, touches } = news.change;
    await lake.applyChange(news.change);
    if (touches?.kind === 'records') return;
    for (const tableId of tableIds) {
      // Purged records must not stay anywhere. Otherwise a query that began earlier still needs flushed
      // records.
      if (endsHistory) pending.clearFlushed(tableId);
      if (lake.directory.datasetById(tableId) === undefined) forget(tableId);
    }
  };

export const createWarningLog =
  (log: Logger) =>
  (reason: unknown): void =>
    log.warn({ reason: reasonOf(reason) }, 'reads are handed on');
