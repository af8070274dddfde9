// The one file that knows everything: composes the server from its parts, and takes it down.
import { readdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import pino, { type Logger } from 'pino';
import { LruMap } from 'toad-cache';
import { loadDemo } from '../jobs/demo.ts';
import { FLUSH_AGE_MS, FLUSH_ROWS, flushDataset } from '../jobs/flush.ts';
import { rollWhenDue } from '../jobs/journalRoll.ts';
import { makeUpkeep } from '../jobs/upkeep.ts';
import { SeriesCache } from '../query/seriesCache.ts';
import type { SelectPlan } from '../query/sql/selectPlan.ts';
import { Runner } from '../jobs/runner.ts';
import { adminToken } from '../store/adminToken.ts';
import { Accounts, type TokenShown } from '../store/accounts.ts';
import { billingDays } from '../store/billingDays.ts';
import { type Clock, monotonicMs, systemClock } from '../store/clock.ts';
import { type AtCrashPoint, survive } from '../store/crashPoints.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { type Disk, localDisk } from '../store/disk.ts';
import { DuckDbPool } from '../store/duckdb/pool.ts';
import { reasonOf } from '../store/failure.ts';
import { type Files, localFiles } from '../store/files.ts';
import { type Folder, lockFolder, openFolder } from '../store/folder.ts';
import { Lake } from '../store/lake.ts';
import { Ledger } from '../store/ledger.ts';
import { migrate } from '../store/migrate.ts';
import { NamedQueries } from '../store/namedQueries.ts';
import { Pending } from '../store/pending.ts';
import { makeScrub } from '../store/scrub.ts';
import { openSecrets } from '../store/secrets.ts';
import type { Settings } from '../store/settings.ts';
import { checkStorage, makeStorage } from '../store/storage.ts';
import { sweepOrphans } from '../store/sweep.ts';
import type { Environment, Services } from './endpoint.ts';
import { ENDPOINTS } from './endpoints/index.ts';
import { makeMetrics } from './metrics.ts';
import { makeReplays } from './replays.ts';
import type { ServerState } from './operations.ts';
import { buildServer } from './server.ts';
import { makeThrottle } from './throttle.ts';

/** Threads of one ingestion: it is the only heavy work of a small machine. */
const INGEST_THREADS = 2;
/** A flush beside 1,000 pushes a second took their p99 from 8 ms to 26 ms at 0. */
const INGEST_NICENESS = 10;

/** Threads of one SQL query: as many as a bare DuckDB takes on the machine of the targets. */
const SQL_THREADS = 2;
/** SQL gives way to series, and ingestion to both. */
const SQL_NICENESS = 5;
/** Plans of SQL texts that are kept. */
const SQL_PLANS = 1_000;

/** How often it is looked whether the journal is to become Parquet. */
const ROLL_LOOK_MS = 60_000;
/** How often datasets that changed are looked at. */
const UPKEEP_LOOK_MS = 30_000;
/** How often old versions are let go. */
const THIN_LOOK_MS = 600_000;
/** How often it is looked whether pushed records are to become a file. */
const FLUSH_LOOK_MS = 1_000;

/** What the crash tests replace; production takes the defaults. */
export interface Seams {
  readonly clock?: Clock;
  /** Milliseconds that never go back, for rates. */
  readonly monotonic?: () => number;
  readonly disk?: Disk;
  /** false: nothing happens by itself, such as flushes and compaction. */
  readonly watch?: boolean;
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
  /** The same of the test environment, when there is one. */
  readonly sandbox: string | undefined;
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
  { clock = systemClock, disk = localDisk, at = survive, watch = true }: Seams,
  folder: Folder,
  database: Database,
  unlock: () => void,
): Promise<Core> {
  const log = pino({ level: settings.logLevel }, pino.destination({ fd: 2, sync: true }));
  const told =
    (what: string) =>
    (reason: unknown, jobId?: string): void =>
      log.error({ reason: reasonOf(reason), ...(jobId === undefined ? {} : { jobId }) }, what);
  await migrate(database);
  const files = localFiles(folder.lake, disk, at);
  const lake = await Lake.open({ database, files, clock, at });
  const swept = await sweepOrphans(database, files, folder, disk);
  if (swept > 0) log.info({ files: swept }, 'removed files that no commit had named');
  const secrets = openSecrets(settings.encryptionKey, folder.key);
  const accounts = await Accounts.open(database, secrets, clock);
  const first = await firstAccount(accounts, settings);
  const days = billingDays(settings.zone);
  const ledger = await Ledger.open({ database, clock, days, at, onFault: told('ledger') });
  const pools = poolsOf(settings, folder);
  const pending = await Pending.open(database, clock, at);
  const storage = makeStorage(database, lake);
  const queries = await NamedQueries.open(database, clock);
  const scrub = makeScrub(database);
  // A purge may have been cut off before its end.
  await scrub();
  const opened = { settings, clock, database, folder, disk, at, lake, accounts, storage };
  const parts = { ...opened, ledger, pending, queries, scrub, days };
  const services: Services = {
    ...parts,
    ...workOf(parts, pools, files, told('job')),
    adminToken: adminToken(settings.adminToken, folder.adminToken),
  };
  const { runner } = services;
  await runner.resume(await readdir(folder.spool));
  const demoJobs = await demoOnce(database, settings.demo, () =>
    loadDemo(lake, runner, first.accountId, clock()),
  );
  const watched = watch ? watchLake(services, told) : undefined;
  const close = async (): Promise<void> => {
    await watched?.stop();
    await pending.settle();
    await runner.stop();
    await ledger.flush();
    await accounts.saveUses();
    await Promise.all([pools.read.close(), pools.sql.close(), pools.ingest.close()]);
    await database.destroy();
    unlock();
  };
  return { services, log, ...first, demoJobs, close };
}

type Work = Pick<Services, 'ingestion' | 'runner' | 'series' | 'sql' | 'journal'>;

/** What runs on the children: loads, reads, and the journal's way into the lake. */
function workOf(
  parts: Omit<Services, keyof Work | 'adminToken'>,
  pools: Pools,
  files: Files,
  onFault: (reason: unknown, jobId: string) => void,
): Work {
  const { settings, clock, database, folder, disk, at, lake, days, pending } = parts;
  const { accounts, storage } = parts;
  const { temporary } = folder;
  const deadlineMs = settings.jobTimeoutMs;
  const shared = { lake, pool: pools.ingest, temporary, clock, deadlineMs };
  const ingestion = { ...shared, at };
  const runner = new Runner({
    database,
    clock,
    services: ingestion,
    jobsAtOnce: settings.jobsAtOnce,
    spool: folder.spool,
    removeFile: (path) => disk.remove(path),
    onFault,
    checkRoom: async (accountId, workspace) => {
      const account = accounts.account(accountId);
      if (account !== undefined) await checkStorage(storage, account, workspace);
    },
    beforeTurn: async (workspace, name) => {
      const dataset = lake.catalogue.dataset(workspace, name);
      if (dataset !== undefined) await flushDataset(dataset, { pending, ingestion });
    },
  });
  const cache = new SeriesCache(settings.cacheBytes);
  lake.onChange(({ snapshot, tableIds, touches }) => cache.changed(tableIds, snapshot, touches));
  const reading = { deadlineMs: settings.readTimeoutMs, temporary };
  const series = { files, pool: pools.read, cache, ...reading };
  const journal = { ...shared, database, days, monthsKept: settings.journalMonths };
  const sql = { files, pool: pools.sql, plans: new LruMap<SelectPlan>(SQL_PLANS) };
  return { ingestion, runner, series, sql, journal };
}

/** What happens by itself while the server runs; one thing of each kind at a time. */
function watchLake(
  services: Services,
  told: (what: string) => (reason: unknown) => void,
): { stop(): Promise<void> } {
  const { keepAllMs, keepHourlyMs, keepDailyMs } = services.settings;
  const keep = { allMs: keepAllMs, hourlyMs: keepHourlyMs, dailyMs: keepDailyMs };
  const upkeep = makeUpkeep({ ...services, keep });
  const watches = [
    { name: 'journal', everyMs: ROLL_LOOK_MS, look: () => rollWhenDue(services.journal) },
    { name: 'flush', everyMs: FLUSH_LOOK_MS, look: () => flushDue(services) },
    { name: 'upkeep', everyMs: UPKEEP_LOOK_MS, look: () => upkeep.look() },
    { name: 'retention', everyMs: THIN_LOOK_MS, look: () => upkeep.thin() },
  ];
  const running = new Map<string, Promise<unknown>>();
  const timers = watches.map(({ name, everyMs, look }) =>
    setInterval(() => {
      if (running.has(name)) return;
      const work = look()
        .catch(told(name))
        .finally(() => running.delete(name));
      running.set(name, work);
    }, everyMs).unref(),
  );
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running.values());
    },
  };
}

/** Every turn of a dataset begins with its flush: an empty one does nothing more. */
async function flushDue({ lake, pending, runner }: Services): Promise<void> {
  for (const tableId of pending.due(FLUSH_ROWS, FLUSH_AGE_MS)) {
    const dataset = lake.catalogue.datasetById(tableId);
    if (dataset === undefined) pending.dropped(tableId);
    else await runner.inTurn(dataset.workspace, dataset.dataset, async () => undefined);
  }
}

/** Opens everything and listens. */
export async function startTapedeck(settings: Settings, seams: Seams = {}): Promise<Tapedeck> {
  const core = await openCore(settings, seams);
  const { services } = core;
  services.series.pool.warm();
  const state = stateOf(core);
  const servers: FastifyInstance[] = [];
  const open = async (environment: Environment, port: number): Promise<string> => {
    const server = await openDoor(core, environment, state, seams);
    servers.push(server);
    await server.listen({ host: settings.host, port });
    return addressOf(settings, (server.server.address() as AddressInfo).port);
  };
  const close = async (): Promise<void> => {
    state.draining = true;
    await Promise.all(servers.map((server) => server.close()));
    await core.close();
  };
  try {
    const base = await open('production', settings.port);
    const { sandboxPort } = settings;
    const sandbox = sandboxPort === undefined ? undefined : await open('test', sandboxPort);
    return { ...core, base, sandbox, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The routes of one port; the operator's are not part of the test environment. */
function openDoor(
  { services, log }: Core,
  environment: Environment,
  state: ServerState,
  { monotonic = monotonicMs }: Seams,
): Promise<FastifyInstance> {
  const rows = ENDPOINTS.filter(({ token }) => environment === 'production' || token !== 'admin');
  const throttle = makeThrottle(services.settings.rateLimit, environment, monotonic);
  const { trustedProxies: proxies } = services.settings;
  const door = { environment, proxies, throttle, replays: makeReplays(monotonic) };
  return buildServer(rows, { services, log, door }, state);
}

/** The same routes without a port, for the command line. */
export const openUnlistened = (core: Core): Promise<FastifyInstance> =>
  openDoor(core, 'production', stateOf(core), {});

const stateOf = ({ services }: Core): ServerState => ({
  draining: false,
  metrics: makeMetrics(services),
});

function addressOf({ host, tlsCert }: Settings, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `${tlsCert === '' ? 'http' : 'https'}://${name}:${port}`;
}

interface Pools {
  readonly read: DuckDbPool;
  readonly sql: DuckDbPool;
  readonly ingest: DuckDbPool;
}

/** Reads, SQL and ingestion have children of their own: no load and no query stands before a read. */
function poolsOf(settings: Settings, folder: Folder): Pools {
  return {
    read: new DuckDbPool({
      children: settings.children,
      memoryBytes: settings.childMemoryBytes,
      threads: 1,
    }),
    sql: new DuckDbPool({
      children: settings.sqlChildren,
      memoryBytes: settings.sqlMemoryBytes,
      spill: { folder: folder.temporary, bytes: settings.sqlSpillBytes },
      threads: SQL_THREADS,
      niceness: SQL_NICENESS,
    }),
    ingest: new DuckDbPool({
      children: settings.jobsAtOnce,
      memoryBytes: settings.ingestMemoryBytes,
      shared: true,
      threads: INGEST_THREADS,
      niceness: INGEST_NICENESS,
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
