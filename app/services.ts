// Composes the services from an opened data folder: engines first, then readers, then jobs.
import type { Logger } from 'pino';
import type { Services, Streaming } from '../api/request/endpoint.ts';
import { RecordWatches } from '../reads/live/recordWatches.ts';
import { OpenStreams } from '../api/sse/openStreams.ts';
import { Feeds } from '../jobs/feeds/feeds.ts';
import { LiveBoard, QUOTE_TOPIC } from '../market/live/liveBoard.ts';
import { LiveQuotes } from '../market/live/liveQuotes.ts';
import { Hub } from '../store/bus/hub.ts';
import type { NatsLog } from '../store/bus/nats/natsLog.ts';
import { type RulesAndAlerts, composeRules } from './ruleServices.ts';
import { makeFillProgress } from '../jobs/exchange/progress.ts';
import { composeUpstreams } from './upstreamServices.ts';
import { type JobServices, composeJobs } from './jobServices.ts';
import { listTableIds } from '../store/lake/pushes/pendingTable.ts';
import { makeBucketListing, makePull } from '../pipeline/sources/pull.ts';
import { datasetPull } from '../api/datasets/ingest/datasetPull.ts';
import { openExports } from '../api/datasets/ingest/exporting.ts';
import { inputDefaults } from '../market/files/inputDefaults.ts';
import { loadAdminToken } from '../store/catalog/secrets/adminToken.ts';
import type { Files } from '../store/files/files.ts';
import type { Pools } from './pools.ts';
import type { FaultLog } from './automaticWork.ts';
import type { Bodies } from '../store/files/bodies.ts';
import { WorkerPool } from '../workers/workerPool.ts';
import { PageLoads } from '../query/series/pageLoads.ts';
import { SeriesCache } from '../query/series/seriesCache.ts';
import { MarketMemory } from '../market/board/marketMemory.ts';
import { FileShapes } from '../store/lake/versions/fileShapes.ts';
import { LruMap } from 'toad-cache';
import { SqlAnswers } from '../query/sql/run/answers.ts';
import type { SelectPlan } from '../query/sql/plan/selectPlan.ts';

/** Cached plans of SQL texts. */
const SQL_PLANS = 1_000;

/** Everything that exists before jobs and engines are created. */
type Opened = Omit<
  Services,
  | keyof JobServices
  | keyof Engines
  | keyof RulesAndAlerts
  | 'filling'
  | 'journal'
  | 'exports'
  | 'adminToken'
  | 'streams'
  | 'upstreams'
> & { readonly bodies: Bodies };

type EngineParts = Pick<Services, 'lake' | 'settings'> & {
  readonly folder: Pick<Services['folder'], 'temporary'>;
};

type Engines = Pick<Services, 'market' | 'series' | 'sql' | 'workers'>;

export async function composeServices(
  parts: Opened,
  { files, log, logs, pools, startsMax, faultLog }: Running,
): Promise<Services> {
  const { at, clock, database, days, folder, lake, settings } = parts;
  const deadlineMs = settings.jobTimeoutMs;
  const { temporary } = folder;
  const shared = { lake, pool: pools.ingest, temporary, clock, deadlineMs };
  // Each load or push writes its records with a unique time, which distinguishes changes of a record.
  const loading = {
    ...shared,
    at,
    pushes: parts.pending,
    clock: () => parts.lakeClock.next(),
    defaultsOf: inputDefaults,
  };
  const engines = composeEngines(parts, pools, files);
  const reading = { ...parts, ...engines };
  const firstAccountId = parts.accounts.list()[0]?.accountId;
  const onRefused = faultLog('source');
  const pull = makePull({ ...settings, dataset: datasetPull(reading), firstAccountId, onRefused });
  const sources = { pull, listBucket: makeBucketListing({ ...settings, onRefused }) };
  const work = await composeJobs({ ...parts, startsMax, log }, loading, sources, faultLog);
  const { ingestion } = work;
  const journal = { ...shared, database, days, monthsKept: settings.journalMonths };
  const exports = openExports(reading, pools.ingest, faultLog('export'));
  const token = loadAdminToken(settings.adminToken, folder.adminToken);
  const listeners: ((symbol: string) => void)[] = [];
  const streams = composeStreaming(reading, listeners, faultLog('stream'), logs);
  const ruling = composeRules({ ...reading, ...work, ingestion, streams }, faultLog('rule'));
  listeners.push((symbol) => ruling.rules.changed(symbol));
  const upstreams = composeUpstreams({ ...reading, ...work, ingestion }, log);
  const created = { streams, upstreams, ...ruling, ingestion, journal, exports, adminToken: token };
  return { ...reading, ...work, ...created, filling: makeFillProgress() };
}

/** Parts that run beside the services. */
interface Running {
  readonly files: Files;
  /** Log of stream messages, for other nodes. */
  readonly logs: NatsLog | undefined;
  readonly pools: Pools;
  readonly startsMax: number;
  readonly log: Logger;
  readonly faultLog: FaultLog;
}

/** Ticks change the board, and the board publishes to listeners. */
function composeStreaming(
  { clock, lake, pending }: Pick<Services, 'clock' | 'lake' | 'pending'>,
  listeners: readonly ((symbol: string) => void)[],
  onFault: (reason: unknown) => void,
  bus: NatsLog | undefined,
): Streaming {
  const hub = new Hub(clock, bus);
  const board: LiveBoard = new LiveBoard((topic, symbol, make) => {
    if (topic === QUOTE_TOPIC) {
      quotes.changed(symbol);
      for (const changed of listeners) changed(symbol);
    } else hub.publish(topic, symbol, make);
  });
  const quotes = new LiveQuotes({ board, clock, hub, onFault });
  const records = new RecordWatches({ hub, onFault });
  lake.onChange(({ tableIds }) => {
    quotes.forget(tableIds);
    records.scheduleReads(tableIds);
  });
  pending.onPush((pushes) => {
    const tableIds = listTableIds(pushes);
    quotes.forget(tableIds);
    records.scheduleReads(tableIds);
  });
  const open = new OpenStreams({ clock, onFault });
  return { board, records, feeds: new Feeds(), hub, open, quotes, bus };
}

/** Creates both engines over one cache of series and of the shapes of files. */
export function composeEngines(
  { folder, lake, settings }: EngineParts,
  pools: Pick<Pools, 'read' | 'sql'>,
  files: Files,
): Engines {
  const cache = new SeriesCache(settings.cacheBytes);
  const market = new MarketMemory(settings.cacheBytes);
  const answers = new SqlAnswers(settings.sqlCacheBytes);
  lake.onChange(({ snapshot, tableIds, touches }) => {
    cache.applyCommit(tableIds, snapshot, touches);
    market.changed(tableIds);
    answers.evictTables(tableIds);
  });
  const reading = { deadlineMs: settings.readTimeoutMs, temporary: folder.temporary };
  const shapes = new FileShapes();
  return {
    series: { files, shapes, pool: pools.read, cache, pageLoads: new PageLoads(), ...reading },
    market,
    workers: new WorkerPool(),
    sql: { files, shapes, pool: pools.sql, plans: new LruMap<SelectPlan>(SQL_PLANS), answers },
  };
}
