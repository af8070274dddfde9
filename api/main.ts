// The one file that knows everything: composes the server from its parts, and takes it down.
import { readdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import pino, { type Logger } from 'pino';
import { loadDemo } from '../jobs/demo.ts';
import { Runner } from '../jobs/runner.ts';
import { Accounts, type TokenShown } from '../store/accounts.ts';
import { billingDays } from '../store/billingDays.ts';
import { type Clock, systemClock } from '../store/clock.ts';
import { type AtCrashPoint, survive } from '../store/crashPoints.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { type Disk, localDisk } from '../store/disk.ts';
import { DuckDbPool } from '../store/duckdb/pool.ts';
import { reasonOf } from '../store/failure.ts';
import { localFiles } from '../store/files.ts';
import { type Folder, lockFolder, openFolder } from '../store/folder.ts';
import { Lake } from '../store/lake.ts';
import { Ledger } from '../store/ledger.ts';
import { migrate } from '../store/migrate.ts';
import { openSecrets } from '../store/secrets.ts';
import type { Settings } from '../store/settings.ts';
import { sweepOrphans } from '../store/sweep.ts';
import type { Services } from './endpoint.ts';
import { ENDPOINTS } from './endpoints/index.ts';
import { makeMetrics } from './metrics.ts';
import { buildServer } from './server.ts';

/** Threads of one ingestion: it is the only heavy work of a small machine. */
const INGEST_THREADS = 2;

/** What the crash tests replace; production takes the defaults. */
export interface Seams {
  readonly clock?: Clock;
  readonly disk?: Disk;
  readonly at?: AtCrashPoint;
}

export interface Core {
  readonly services: Services;
  readonly log: Logger;
  /** Tokens that were made at this start, to be shown once. */
  readonly madeTokens: readonly TokenShown[];
  readonly accountId: string;
  /** Jobs that fill the demo workspace, when this start handed them in. */
  readonly demoJobs: readonly string[];
  close(): Promise<void>;
}

export interface Tapedeck extends Core {
  /** `http://host:port`. */
  readonly base: string;
}

/** Opens the data folder and everything behind the doors, without listening. */
export async function openCore(settings: Settings, seams: Seams = {}): Promise<Core> {
  const folder = openFolder(settings.data);
  const unlock = lockFolder(folder);
  const database = openDatabase(folder.catalog);
  try {
    return await openParts(settings, seams, folder, database, unlock);
  } catch (error) {
    await database.destroy();
    unlock();
    throw error;
  }
}

async function openParts(
  settings: Settings,
  { clock = systemClock, disk = localDisk, at = survive }: Seams,
  folder: Folder,
  database: Database,
  unlock: () => void,
): Promise<Core> {
  const log = pino({ level: settings.logLevel }, pino.destination({ fd: 2, sync: true }));
  await migrate(database);
  const files = localFiles(folder.lake, disk, at);
  const lake = await Lake.open({ database, files, clock, at });
  const swept = await sweepOrphans(database, files, folder, disk);
  if (swept > 0) log.info({ files: swept }, 'removed files that no commit had named');
  const secrets = openSecrets(settings.encryptionKey, folder.key);
  const accounts = await Accounts.open(database, secrets, clock);
  const first = await firstAccount(accounts, settings);
  const days = billingDays(settings.zone);
  const onFault = (reason: unknown): void => log.error({ reason: reasonOf(reason) }, 'ledger');
  const ledger = await Ledger.open({ database, clock, days, at, onFault });
  const pools = poolsOf(settings);
  const deadlineMs = settings.jobTimeoutMs;
  const { temporary } = folder;
  const ingestion = { lake, pool: pools.ingest, temporary, clock, at, deadlineMs };
  const runner = new Runner({
    database,
    clock,
    services: ingestion,
    jobsAtOnce: settings.jobsAtOnce,
    spool: folder.spool,
    removeFile: (path) => disk.remove(path),
    onFault: (reason, jobId) => log.error({ jobId, reason: reasonOf(reason) }, 'job'),
  });
  const series = { files, pool: pools.read, deadlineMs: settings.readTimeoutMs };
  const shared = { settings, clock, database, folder, disk, at, lake, accounts };
  const services: Services = { ...shared, ledger, days, series, runner, ingestion };
  await runner.resume(await readdir(folder.spool));
  const demoJobs = await demoOnce(database, settings.demo, () =>
    loadDemo(lake, runner, first.accountId, clock()),
  );
  const close = async (): Promise<void> => {
    await runner.stop();
    await ledger.flush();
    await Promise.all([pools.read.close(), pools.ingest.close()]);
    await database.destroy();
    unlock();
  };
  return { services, log, ...first, demoJobs, close };
}

/** Opens everything and listens. */
export async function startTapedeck(settings: Settings, seams: Seams = {}): Promise<Tapedeck> {
  const core = await openCore(settings, seams);
  core.services.series.pool.warm();
  const state = { draining: false, metrics: makeMetrics(core.services) };
  const server = await buildServer(ENDPOINTS, core.services, core.log, state);
  try {
    await server.listen({ host: settings.host, port: settings.port });
  } catch (error) {
    await core.close();
    throw error;
  }
  const { port } = server.server.address() as AddressInfo;
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  return {
    ...core,
    base: `${settings.tlsCert === '' ? 'http' : 'https'}://${host}:${port}`,
    close: async () => {
      state.draining = true;
      await server.close();
      await core.close();
    },
  };
}

/** Reads and ingestion have children of their own: a load never stands before a read. */
function poolsOf(settings: Settings): { readonly read: DuckDbPool; readonly ingest: DuckDbPool } {
  return {
    read: new DuckDbPool({
      children: settings.children,
      memoryBytes: settings.childMemoryBytes,
      threads: 1,
    }),
    ingest: new DuckDbPool({
      children: settings.jobsAtOnce,
      memoryBytes: settings.ingestMemoryBytes,
      shared: true,
      threads: INGEST_THREADS,
    }),
  };
}

/** Whether the demo is wanted is decided once, at the folder's first start. */
async function demoOnce(
  database: Database,
  wanted: boolean,
  load: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const decided = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', 'demo')
    .executeTakeFirst();
  if (decided !== undefined) return [];
  const jobs = wanted ? await load() : [];
  const row = { key: 'demo', value: wanted ? 'on' : 'off' };
  await database.insertInto('folder').values(row).execute();
  return jobs;
}

/** One account with a publishable and a secret token, made at the first start. */
async function firstAccount(
  accounts: Accounts,
  settings: Settings,
): Promise<{ readonly accountId: string; readonly madeTokens: readonly TokenShown[] }> {
  const { publishableToken: publishable, secretToken: secret } = settings;
  const made = await accounts.createFirst({ publishable, secret });
  if (made !== undefined) return { accountId: made.accountId, madeTokens: made.tokens };
  const [known] = await accounts.tokens();
  return { accountId: known?.accountId ?? '', madeTokens: [] };
}
