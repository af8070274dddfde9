// The one file that knows everything: composes the server from its parts, and takes it down.
import { readdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { LruMap } from 'toad-cache';
import { loadDemo } from '../jobs/upkeep/demo.ts';
import { flushDataset } from '../jobs/run/flush.ts';
import { Deliveries } from '../jobs/deliveries/deliveries.ts';
import type { FetchParts } from '../jobs/run/fetch.ts';
import { runPulling } from '../jobs/run/reingest.ts';
import { Scheduler } from '../jobs/schedule/scheduler.ts';
import { systemResolve } from '../pipeline/sources/base/guard.ts';
import { makePull } from '../pipeline/sources/pull.ts';
import type { Pull } from '../pipeline/sources/base/source.ts';
import { SeriesCache } from '../query/series/seriesCache.ts';
import type { SelectPlan } from '../query/sql/plan/selectPlan.ts';
import { Runner, STARTS_MAX } from '../jobs/run/runner.ts';
import { adminToken } from '../store/catalog/adminToken.ts';
import { Accounts, type TokenShown } from '../store/accounts/accounts.ts';
import { billingDays } from '../store/ledger/billingDays.ts';
import { refuseLostCatalog } from '../store/files/catalogCheck.ts';
import { type Clock, monotonicMs, systemClock } from '../store/base/clock.ts';
import { type AtCrashPoint, survive } from '../store/base/crashPoints.ts';
import { type Database, openDatabase } from '../store/catalog/database.ts';
import { type Disk, localDisk } from '../store/base/disk.ts';
import { Failure, reasonOf } from '../store/base/failure.ts';
import { FileShapes } from '../store/versions/fileShapes.ts';
import type { Files } from '../store/files/files.ts';
import { type Folder, lockFolder, openFolder } from '../store/catalog/folder.ts';
import { settleKey } from '../store/work/keyRotation.ts';
import { Ledger } from '../store/ledger/ledger.ts';
import { NamedQueries } from '../store/datasets/namedQueries.ts';
import { checkOpenFiles, openFilesMax } from '../store/base/openFiles.ts';
import { QueryCursors } from '../store/history/queryCursors.ts';
import { randomShare } from '../store/base/random.ts';
import { makeScrub } from '../store/catalog/scrub.ts';
import { openSecrets } from '../store/catalog/secrets.ts';
import type { Settings } from '../store/base/settings.ts';
import { checkStorage, makeStorage } from '../store/lake/storage.ts';
import { datasetPull } from '../api/ingest/datasetPull.ts';
import { ANSWERS_SHARE, closeDoors, JOBS_SHARE } from '../api/http/drain.ts';
import type { Services } from '../api/request/endpoint.ts';
import { demoOnce, firstAccount } from './firstStart.ts';
import { ENDPOINTS } from '../api/endpoints/index.ts';
import { openExports } from '../api/ingest/exporting.ts';
import { openLog } from '../api/http/logging.ts';
import { lakeFiles } from './lakeFiles.ts';
import { openLake, prepareCatalog } from './openLake.ts';
import { makeReplays } from '../api/auth/replays.ts';
import { makeState, type ServerState } from '../api/http/operations.ts';
import type { Pace } from '../api/request/pace.ts';
import { type Pools, poolsOf } from './pools.ts';
import { buildServer } from '../api/http/server.ts';
import { makeFailedTime } from '../api/request/failedTime.ts';
import { makeThrottle, type Environment } from '../api/request/throttle.ts';
import { type Told, watchLake } from './watch.ts';
import { keepRequestsYoung } from './v8Flags.ts';
import type { IngestServices } from '../pipeline/conform/load.ts';

/** Plans of SQL texts that are kept. */
const SQL_PLANS = 1_000;

/** A webhook answers within it, or is called again. */
const CALL_DEADLINE_MS = 10_000;

/** What the crash tests replace; production takes the defaults. */
export interface Seams {
  readonly clock?: Clock;
  /** Milliseconds that never go back, for rates. */
  readonly monotonic?: () => number;
  readonly disk?: Disk;
  /** false: nothing happens by itself, such as flushes and compaction. */
  readonly watch?: boolean;
  readonly at?: AtCrashPoint;
  /** Starts after which a job that ended with the server is not tried again. */
  readonly startsMax?: number;
  /** How slowly answers may be read. */
  readonly pace?: Pace;
}

export interface Core {
  readonly services: Services;
  readonly log: Logger;
  /** Tokens that were made at this start, to be shown once. */
  readonly madeTokens: readonly TokenShown[];
  readonly accountId: string;
  /** What the operator should know of this start, one sentence each. */
  readonly warnings: readonly string[];
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
  let database: Database | undefined;
  try {
    await refuseLostCatalog(folder, seams.disk ?? localDisk);
    database = openDatabase(folder.catalog);
    return await openParts(settings, seams, folder, database, unlock);
  } catch (error) {
    await database?.destroy();
    unlock();
    throw error;
  }
}

async function openParts(
  settings: Settings,
  {
    clock = systemClock,
    disk = localDisk,
    at = survive,
    watch = true,
    startsMax = STARTS_MAX,
  }: Seams,
  folder: Folder,
  database: Database,
  unlock: () => void,
): Promise<Core> {
  const log = openLog(settings.logLevel);
  const told: Told =
    (what) =>
    (reason, jobId): void =>
      log.error({ reason: reasonOf(reason), ...(jobId === undefined ? {} : { jobId }) }, what);
  for (const path of folder.closed) log.warn({ path }, 'others could read it: closed to them');
  await prepareCatalog(database, folder);
  if (settings.encryptionKey === '') await settleKey(database, folder.key);
  const secrets = openSecrets(settings.encryptionKey, folder.key);
  const accounts = await Accounts.open(database, secrets, clock);
  const first = await firstAccount(accounts, settings);
  const failedTime = makeFailedTime(monotonicMs, accounts);
  const pools = poolsOf(settings, folder, failedTime.spent);
  const storing = { database, folder, disk, clock, at, log };
  const { files, ...kept } = lakeFiles(storing, pools.ingest, settings);
  const onBack = settings.clockBack;
  const { lake, lakeClock, pending } = await openLake({ ...storing, files, onBack });
  const days = billingDays(settings.zone);
  const ledger = await openLedger({ database, clock, days, at }, settings, log);
  const cursors = new QueryCursors(database, clock, told('query cursor'));
  const queries = await NamedQueries.open(database, clock);
  const scrub = makeScrub(database);
  // A purge may have been cut off before its end.
  await scrub();
  const opened = { settings, ...storing, lake, lakeClock, pending, cursors, ...kept, accounts };
  const storage = makeStorage(database, lake);
  const made = { storage, ledger, queries, scrub, days, secrets, startsMax, failedTime };
  const services = await servicesOf({ ...opened, ...made }, pools, files, told);
  const { deliveries, runner, scheduler } = services;
  await runner.resume(await readdir(folder.spool));
  const demoJobs = await demoOnce(database, settings.demo, () =>
    loadDemo(lake, runner, first.accountId, clock()),
  );
  const watched = watch ? watchLake(services, told) : undefined;
  const close = async (): Promise<void> => {
    await Promise.all([scheduler.stop(), deliveries.stop(), services.exports.stop()]);
    await watched?.stop();
    await pending.settle();
    await runner.stop(settings.drainMs * JOBS_SHARE);
    await ledger.flush();
    await accounts.saveUses();
    await Promise.all([pools.read.close(), pools.sql.close(), pools.ingest.close()]);
    await database.destroy();
    unlock();
  };
  return { services, log, ...first, demoJobs, close };
}

async function openLedger(
  parts: Omit<Parameters<typeof Ledger.open>[0], 'onFault' | 'believedMonth'>,
  { billingMonth: believedMonth }: Settings,
  log: Logger,
): Promise<Ledger> {
  const onFault = (reason: unknown): void => log.error({ reason: reasonOf(reason) }, 'ledger');
  const ledger = await Ledger.open({ ...parts, believedMonth, onFault });
  const present = parts.days.month(parts.clock());
  if (ledger.month > present) {
    const told =
      'the clock is behind a month that was charged: calls go on being charged to it. ' +
      'If the clock was wrong then, set TAPEDECK_BILLING_MONTH to the present month';
    log.warn({ month: ledger.month, clock: present }, told);
  }
  return ledger;
}

type OpenServices = (parts: Opened, pools: Pools, files: Files, told: Told) => Promise<Services>;

const servicesOf: OpenServices = async (parts, pools, files, told) => {
  const { folder, settings } = parts;
  // A source may be a dataset: it is read with what it is itself a part of.
  const late: { services?: Services } = {};
  const now = (): Services => {
    if (late.services === undefined) throw new Failure('Busy', 'the server is starting');
    return late.services;
  };
  const dataset = datasetPull(now);
  const firstAccountId = parts.accounts.list()[0]?.accountId;
  const pull = makePull({ ...settings, dataset, firstAccountId });
  const work = await workOf(parts, pools, files, pull, told);
  const token = adminToken(settings.adminToken, folder.adminToken);
  const exports = openExports(parts, pools.ingest, now, told('export'));
  late.services = { ...parts, ...work, exports, adminToken: token };
  return late.services;
};

type Work = Pick<
  Services,
  'ingestion' | 'fetching' | 'runner' | 'scheduler' | 'deliveries' | 'series' | 'sql' | 'journal'
>;

/** What is there before anything runs on it. */
type Opened = Omit<Services, keyof Work | 'exports' | 'adminToken'> & {
  readonly startsMax: number;
};

/** What runs on the children: loads, reads, and the journal's way into the lake. */
async function workOf(
  parts: Opened,
  pools: Pools,
  files: Files,
  pull: Pull,
  told: Told,
): Promise<Work> {
  const { settings, clock, database, folder, at, lake, days } = parts;
  const { temporary } = folder;
  const deadlineMs = settings.jobTimeoutMs;
  const shared = { lake, pool: pools.ingest, temporary, clock, deadlineMs };
  // No two loads or pushes write records with one time: it tells changes of a record apart.
  const ingestion = { ...shared, at, clock: () => parts.lakeClock.next() };
  const jobs = await jobsOf(parts, ingestion, pull, told);
  const cache = new SeriesCache(settings.cacheBytes);
  lake.onChange(({ snapshot, tableIds, touches }) => cache.changed(tableIds, snapshot, touches));
  const reading = { deadlineMs: settings.readTimeoutMs, temporary };
  const shapes = new FileShapes();
  const series = { files, shapes, pool: pools.read, cache, ...reading };
  const journal = { ...shared, database, days, monthsKept: settings.journalMonths };
  const sql = { files, shapes, pool: pools.sql, plans: new LruMap<SelectPlan>(SQL_PLANS) };
  return { ingestion, ...jobs, series, sql, journal };
}

/** Jobs, when they run, and who is told of their ends. */
async function jobsOf(
  parts: Opened,
  ingestion: IngestServices,
  pull: Pull,
  told: Told,
): Promise<Pick<Work, 'fetching' | 'runner' | 'scheduler' | 'deliveries'>> {
  const { accounts, clock, database, disk, folder, lake, pending, settings, storage } = parts;
  const fetching: FetchParts = {
    database,
    clock,
    services: ingestion,
    secrets: parts.secrets,
    pending,
    pull,
    bytesMax: settings.sourceBytesMax,
    onFault: told('job'),
    checkRoom: async (accountId, workspace) => {
      const account = accounts.account(accountId);
      if (account !== undefined) await checkStorage(storage, account, workspace);
    },
    atEnd: async (transaction, end) => {
      await scheduler.atEnd(transaction, end);
      await deliveries.atEnd(transaction, end);
    },
  };
  const { allowPrivateAddresses } = settings;
  const rules = { allowPrivateAddresses, deadlineMs: CALL_DEADLINE_MS, resolve: systemResolve };
  const calling = { database, clock, secrets: parts.secrets, brand: settings.brand };
  const deliveries = new Deliveries({ ...calling, rules, onFault: told('webhook') });
  const runner: Runner = new Runner({
    ...fetching,
    jobsAtOnce: settings.jobsAtOnce,
    startsMax: parts.startsMax,
    accountOf: (workspace) => lake.catalogue.workspace(workspace)?.accountId ?? '',
    spool: folder.spool,
    removeFile: (path) => disk.remove(path),
    fetch: (run) => runPulling(run, fetching),
    afterEnd: async (jobId, order) => {
      await scheduler.afterEnd(jobId, order);
      deliveries.poke();
    },
    beforeTurn: async (workspace, name) => {
      const dataset = lake.catalogue.dataset(workspace, name);
      if (dataset !== undefined) await flushDataset(dataset, { pending, ingestion });
    },
  });
  const scheduler = await Scheduler.open({
    database,
    clock,
    random: randomShare,
    submit: (order, alongside) => runner.submit(order, alongside),
    onFault: told('schedule'),
  });
  return { fetching, runner, scheduler, deliveries };
}

/** Opens everything and listens. */
export async function startTapedeck(settings: Settings, seams: Seams = {}): Promise<Tapedeck> {
  keepRequestsYoung();
  const fewFiles = checkOpenFiles(openFilesMax());
  const opened = await openCore(settings, seams);
  const core = {
    ...opened,
    warnings: [...opened.warnings, ...(fewFiles === undefined ? [] : [fewFiles])],
  };
  const { services } = core;
  services.series.pool.warm();
  const state = makeState(services, seams.pace);
  const servers: FastifyInstance[] = [];
  const open = async (environment: Environment, port: number): Promise<string> => {
    const server = await openDoor(core, environment, state, seams);
    servers.push(server);
    await server.listen({ host: settings.host, port });
    return addressOf(settings, (server.server.address() as AddressInfo).port);
  };
  const close = async (): Promise<void> => {
    state.draining = true;
    await closeDoors(servers, settings.drainMs * ANSWERS_SHARE);
    await core.close();
  };
  try {
    const base = await open('production', settings.port);
    const { sandboxPort } = settings;
    const sandbox = sandboxPort === undefined ? undefined : await open('test', sandboxPort);
    // Only a server does what is due: a command on the folder must not.
    if (seams.watch !== false) {
      services.scheduler.start();
      services.deliveries.start();
    }
    await services.exports.resume();
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
  openDoor(core, 'production', makeState(core.services), {});

function addressOf({ host, tlsCert }: Settings, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `${tlsCert === '' ? 'http' : 'https'}://${name}:${port}`;
}
