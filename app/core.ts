// Opens all services over a data folder, without listening, and closes them.
import { type Clock, systemClock, monotonicMs } from '../store/base/clock.ts';
import { type Disk, localDisk } from '../store/base/disk.ts';
import { type AtCrashPoint, survive } from '../store/base/crashPoints.ts';
import type { Pace } from '../api/request/body/pace.ts';
import type { Services } from '../api/request/endpoint.ts';
import { type TokenWithText, Accounts } from '../store/accounts/accounts.ts';
import type { Settings } from '../store/base/settings/settings.ts';
import { openFolder, lockFolder, type Folder } from '../store/catalog/folder.ts';
import type { Database } from '../store/catalog/database.ts';
import { type LakePlaces, openPlaces, refuseTwoCatalogs } from './lake/lakePlaces.ts';
import type { Bucket } from '../store/files/bucket/bucket.ts';
import { readCatalogHead, checkCatalogExists } from '../store/files/catalogCheck.ts';
import type { NatsLog } from '../store/bus/nats/natsLog.ts';
import { STARTS_MAX } from '../jobs/run/runner.ts';
import { openLog } from '../api/http/logging.ts';
import { type FaultLog, watchLake } from './automaticWork.ts';
import { reasonOf } from '../store/base/failure.ts';
import { prepareCatalog, openLake } from './lake/openLake.ts';
import { finishRotation } from '../store/work/keyRotation.ts';
import { createLiveSecrets, openSecrets } from '../store/catalog/secrets/secrets.ts';
import { setUpCore, setUpDemo, setUpAccount } from './firstStart.ts';
import { makeFailedTime } from '../reads/request/failedTime.ts';
import type { ThreadPool } from '../store/sqlite/writer.ts';
import type { ChildProcesses } from '../store/duckdb/slot.ts';
import { createPools, type Pools } from './pools.ts';
import { openLakeFiles } from './lake/lakeFiles.ts';
import { billingDays } from '../store/ledger/billingDays.ts';
import { QueryCursors } from '../store/lake/history/queryCursors.ts';
import { NamedQueries } from '../store/lake/datasets/views.ts';
import { makeScrub } from '../store/catalog/scrub.ts';
import { Publications } from '../store/publications/publications.ts';
import { DownloadGrants } from '../api/request/downloadGrants.ts';
import { createStorage } from '../store/lake/storage.ts';
import { WriteKeys } from '../store/work/writeKeys.ts';
import { composeServices } from './services.ts';
import { loadDemo } from '../jobs/upkeep/demo.ts';
import { type Exchange, makeExchange } from '../jobs/exchange/fill.ts';
import { storedFeed } from '../jobs/feeds/storedFeed.ts';
import { exchangeFeed } from '../jobs/feeds/exchangeFeed.ts';
import { CORE } from '../store/lake/datasets/datasets.ts';
import { isPlaceholder } from '../store/lake/datasets/placeholders.ts';
import { EXCHANGE, type ExchangeShape } from '../market/exchange/exchange.ts';
import { JOBS_SHARE } from '../api/http/drain.ts';
import { closeDecoders } from '../pipeline/decode/child/decoders.ts';
import { Ledger } from '../store/ledger/ledger.ts';
import type { Logger } from 'pino';

/** Replaceable parts for the crash tests; production uses the defaults. */
export interface Seams {
  readonly clock?: Clock;
  /** Milliseconds that never go back, for rates. */
  readonly monotonic?: () => number;
  readonly disk?: Disk;
  /** false: no automatic work, such as flushes and compaction. */
  readonly watch?: boolean;
  readonly at?: AtCrashPoint;
  /** Starts after which a job that ended with the server is not retried. */
  readonly startsMax?: number;
  /** false: a read process starts with its first request. */
  readonly warm?: boolean;
  /** Size and seed of the synthetic exchange. */
  readonly exchange?: Partial<ExchangeShape>;
  /** Source of query processes. */
  readonly processes?: ChildProcesses;
  /** Source of catalog threads. */
  readonly threads?: ThreadPool;
  /**
   * Called when another process has taken the catalog: this one must end. By default an exception ends it.
   */
  readonly onTaken?: (error: Error) => void;
  /** Minimum pace at which answers must be read. */
  readonly pace?: Pace;
}

export interface Core {
  readonly services: Services;
  readonly log: Logger;
  /** Tokens that were created at this start, to be shown once. */
  readonly madeTokens: readonly TokenWithText[];
  readonly accountId: string;
  /** Warnings of this start for the operator, one sentence each. */
  readonly warnings: readonly string[];
  /** Jobs that fill the demo workspace, if this start queued them. */
  readonly demoJobs: readonly string[];
  /** Keeps the synthetic exchange in CORE up to date; undefined where it is disabled. */
  readonly exchange: Exchange | undefined;
  close(): Promise<void>;
}

/** Opens the data folder and all services, without listening. */
export async function openCore(settings: Settings, seams: Seams = {}): Promise<Core> {
  const folder = openFolder(settings.data);
  const unlock = lockFolder(folder);
  const log = openLog(settings.logLevel);
  let where: LakePlaces | undefined;
  let database: Database | undefined;
  try {
    const { clock = systemClock, disk = localDisk, threads } = seams;
    where = await openPlaces(settings, folder, { clock, disk, threads });
    await refuseTwoCatalogs(settings.database, folder, where.catalog);
    await checkCatalogExists(where.catalog, where.place);
    database = where.catalog.openForServer(
      createFaultLog(log)('the catalog is away'),
      seams.onTaken,
    );
    return await openParts(settings, seams, { ...where, folder, log }, database, unlock);
  } catch (error) {
    await database?.destroy();
    where?.bucket?.close();
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
    exchange = {},
    processes,
  }: Seams,
  { folder, log, ...where }: LakePlaces & { readonly folder: Folder; readonly log: Logger },
  database: Database,
  unlock: () => void,
): Promise<Core> {
  const faultLog = createFaultLog(log);
  for (const path of folder.restrictedPaths)
    log.warn({ path }, 'others could read it: closed to them');
  await prepareCatalog(database, where);
  if (settings.encryptionKey === '') await finishRotation(database, folder.key);
  const secrets = createLiveSecrets(openSecrets(settings.encryptionKey, folder.key));
  const accounts = await Accounts.open(database, secrets, clock);
  await accounts.completeTestTokens();
  const first = await setUpAccount(accounts, settings, folder);
  const failedTime = makeFailedTime(monotonicMs, accounts);
  const pools = createPools(settings, folder, failedTime.spent, processes);
  const storing = { database, folder, disk, clock, at, log };
  const { files, ...lakeParts } = await openLakeFiles(storing, pools.ingest, settings, where);
  const opening = { ...storing, ...where, files, onBack: settings.clockBack };
  const { lake, lakeClock, pending } = await openLake(opening);
  const days = billingDays(settings.zone);
  const ledger = await openLedger({ database, clock, days, at }, settings, log);
  const cursors = new QueryCursors(database, clock, faultLog('query cursor'));
  const queries = await NamedQueries.open(database, clock);
  const writeKeys = new WriteKeys(database, clock);
  const scrub = makeScrub(database, where.catalog);
  // An earlier purge may have been interrupted.
  await scrub();
  const { bucket, catalog } = where;
  const parts = { catalog, lake, lakeClock, pending, cursors, accounts };
  const opened = { settings, ...storing, ...lakeParts, ...parts };
  const publishing = await openPublications({ ...storing, ...lakeParts }, lake);
  const created = { ...publishing, ledger, queries, writeKeys, scrub, days, secrets, failedTime };
  const logs = await streamLog(settings, database, faultLog('bus'));
  const running = { files, log, logs, pools, startsMax, faultLog };
  await setUpCore(lake, accounts, clock());
  const services = await composeServices({ ...opened, ...created }, running);
  await services.runner.resume();
  const play = storedFeed(services);
  await services.streams.feeds.add({ name: 'stored', play, onFault: faultLog('feed') });
  const demo = await setUpDemo(database, settings.demo, () =>
    loadDemo(lake, services.runner, first.accountId, clock()),
  );
  const symbols = demo.on && settings.demo ? settings.demoSymbols : 0;
  const filling = await openExchange(services, { ...EXCHANGE, symbols, ...exchange }, faultLog);
  const watched = watch ? watchLake(services, faultLog) : undefined;
  const close = createCloser({ services, logs, pools, filling, watched, bucket, unlock, log });
  return { services, log, ...first, demoJobs: demo.jobs, exchange: filling, close };
}

const createFaultLog =
  (log: Logger): FaultLog =>
  (what) =>
  (reason, jobId): void =>
    log.error({ reason: reasonOf(reason), ...(jobId === undefined ? {} : { jobId }) }, what);

type Close = () => Promise<void>;

/** Everything that is closed with the folder. */
interface Closing {
  readonly services: Services;
  readonly logs: NatsLog | undefined;
  readonly pools: Pools;
  readonly filling: Exchange | undefined;
  readonly watched: ReturnType<typeof watchLake> | undefined;
  readonly bucket: Bucket | undefined;
  readonly unlock: () => void;
  readonly log: Logger;
}

const createCloser =
  ({ bucket, filling, log, logs, pools, services, unlock, watched }: Closing): Close =>
  async () => {
    await Promise.all([services.streams.feeds.stop(), services.upstreams.stop(), filling?.stop()]);
    await services.rules.stop();
    await logs?.close();
    await watched?.stop();
    await closeServices(services, pools, log);
    bucket?.close();
    unlock();
  };

/** The stream is named by the lake: several lakes may share a server. */
async function streamLog(
  { bus }: Settings,
  database: Database,
  onFault: (reason: unknown) => void,
): Promise<NatsLog | undefined> {
  if (bus === undefined) return undefined;
  const lake = (await readCatalogHead(database))?.lake ?? '';
  // Loaded only where it is configured: loading takes 50 ms of each start.
  const { NatsLog } = await import('../store/bus/nats/natsLog.ts');
  return new NatsLog({ settings: bus, lake, onFault });
}

async function openPublications(
  parts: ConstructorParameters<typeof Publications>[0] & { readonly log: Logger },
  lake: Services['lake'],
): Promise<Pick<Services, 'publications' | 'downloads' | 'storage'>> {
  const publications = new Publications(parts);
  const { aside, folder } = await publications.sweep();
  const details = { files: aside, folder };
  if (aside > 0) parts.log.warn(details, 'published files that no row names: put aside');
  const storage = createStorage(parts.database, lake, publications);
  return { publications, downloads: new DownloadGrants(), storage };
}

async function openExchange(
  services: Services,
  shape: ExchangeShape,
  faultLog: FaultLog,
): Promise<Exchange | undefined> {
  if (shape.symbols === 0) return undefined;
  await addFeed(services, shape, faultLog);
  return makeExchange({ ...services, shape, onFault: faultLog('synthetic exchange') });
}

/** Adds the feed of the synthetic exchange, which plays as long as CORE contains its records. */
async function addFeed(
  services: Services,
  shape: ExchangeShape,
  faultLog: FaultLog,
): Promise<void> {
  const { clock, lake, settings, streams } = services;
  const isWanted = (): boolean =>
    ['TRADES', 'QUOTES'].every((id) => {
      const dataset = lake.directory.dataset(CORE, id);
      return dataset !== undefined && isPlaceholder(dataset);
    });
  const isAlways = settings.demoClock === 'always';
  const play = exchangeFeed({ board: streams.board, clock, shape, isAlways, isWanted });
  await streams.feeds.add({ name: 'synthetic', play, onFault: faultLog('feed') });
}

/** Closes services in the reverse order of their creation: sources of work first, the catalog last. */
async function closeServices(services: Services, pools: Pools, log: Logger): Promise<void> {
  const { accounts, database, deliveries, exports, ledger, pending, runner, scheduler } = services;
  await Promise.all([
    scheduler.stop(),
    deliveries.stop(),
    exports.stop(),
    services.alertDeliveries.stop(),
  ]);
  await pending.flush();
  await runner.stop(services.settings.drainMs * JOBS_SHARE);
  services.loadGiver.close();
  const lost = await ledger.close();
  if (lost > 0)
    log.error({ charges: lost }, 'the ledger can not be written: these charges are lost');
  if (!(await accounts.saveUses())) log.warn({}, 'the disk is full: when tokens were used is lost');
  await Promise.all([services.workers.close(), closeDecoders()]);
  await Promise.all([pools.read.close(), pools.sql.close(), pools.ingest.close()]);
  await database.destroy();
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
    const warning =
      'the clock is behind a month that was charged: calls are still charged to that month. ' +
      'If the clock was wrong then, set TAPEDECK_BILLING_MONTH to the present month';
    log.warn({ month: ledger.month, clock: present }, warning);
  }
  return ledger;
}
