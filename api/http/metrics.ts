// What an operator watches, for Prometheus. Gauges are read when they are asked for.
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { lastBackup } from '../../jobs/backup/lastBackup.ts';
import { makeRequestTimes, type Observe } from './requestTimes.ts';
import type { Services, Streaming } from '../request/endpoint.ts';

type MetricsServices = Pick<
  Services,
  | 'accounts'
  | 'clock'
  | 'database'
  | 'fileCheck'
  | 'ingestion'
  | 'lake'
  | 'lakeClock'
  | 'ledger'
  | 'proofs'
  | 'runner'
  | 'scheduler'
  | 'series'
  | 'sql'
  | 'storage'
  | 'streams'
  | 'upstreams'
>;

export interface Metrics {
  readonly observe: Observe;
  /** The exposition text; what names datasets of accounts only for the operator. */
  text(isOperator: boolean): Promise<string>;
  readonly contentType: string;
}

export function makeMetrics(services: MetricsServices): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const times = makeRequestTimes();
  addGauges(services, registers);
  addStreamGauges(services.streams, registers);
  const named = new Registry();
  addScheduleGauges(services.scheduler, [named]);
  addFailing(services, registers);
  addPlaceGauges(services, [named]);
  addUpstreamGauges(services.upstreams, [named]);
  return {
    observe: times.observe,
    text: async (isOperator) => {
      const names = isOperator ? `${await named.metrics()}\n` : '';
      return `${await registry.metrics()}\n${names}${times.text()}`;
    },
    contentType: registry.contentType,
  };
}

/** Makes gauges that are read when they are asked for. */
const gauging =
  (registers: Registry[]) =>
  (name: string, help: string, read: () => number): void => {
    const made: Gauge = new Gauge({
      name: `tapedeck_${name}`,
      help,
      registers,
      collect: (): void => made.set(read()),
    });
  };

function addStreamGauges({ board, feeds, hub, open }: Streaming, registers: Registry[]): void {
  const gauge = gauging(registers);
  gauge('streams_open', 'Streams that are open.', () => open.state().open);
  gauge('stream_groups', 'Different subscriptions.', () => hub.state().groups);
  gauge('stream_messages_waiting', 'Messages that wait for their turn.', () => hub.state().waiting);
  gauge('live_symbols', 'Symbols that feeds told of.', () => board.state().symbols);
  gauge('live_ticks', 'Ticks that feeds told.', () => board.state().messages);
  gauge('live_ticks_dropped', 'Ticks of one symbol too many.', () => board.state().dropped);
  const ended: Gauge = new Gauge({
    name: 'tapedeck_streams_ended',
    help: 'Streams that ended, by why.',
    labelNames: ['reason'],
    registers,
    collect: () => {
      for (const [reason, count] of open.state().ended) ended.set({ reason }, count);
    },
  });
  const fed: Gauge = new Gauge({
    name: 'tapedeck_feed_ticks',
    help: 'Ticks of a feed.',
    labelNames: ['feed'],
    registers,
    collect: () => {
      for (const { name, ticks } of feeds.state()) fed.set({ feed: name }, ticks);
    },
  });
  const failed: Gauge = new Gauge({
    name: 'tapedeck_feed_restarts',
    help: 'How often a feed was begun again.',
    labelNames: ['feed'],
    registers,
    collect: () => {
      for (const { name, restarts } of feeds.state()) failed.set({ feed: name }, restarts);
    },
  });
}

function addGauges(
  {
    fileCheck,
    lake,
    lakeClock,
    ledger,
    proofs,
    runner,
    series,
    sql,
    ingestion,
  }: Pick<
    Services,
    | 'fileCheck'
    | 'lake'
    | 'lakeClock'
    | 'ledger'
    | 'proofs'
    | 'runner'
    | 'series'
    | 'sql'
    | 'ingestion'
  >,
  registers: Registry[],
): void {
  const gauge = gauging(registers);
  const pools = { read: series.pool, sql: sql.pool, ingest: ingestion.pool };
  for (const [kind, pool] of Object.entries(pools)) {
    gauge(`${kind}_children_running`, 'Children with a request.', () => pool.load().running);
    gauge(`${kind}_children_waiting`, 'Requests before the children.', () => pool.load().waiting);
    gauge(`${kind}_children_failing`, '1 while no process can be started.', () =>
      Number(pool.load().failing),
    );
    gauge(`${kind}_children_lost`, 'Children that ended.', () => pool.load().lost);
  }
  const { cache } = series;
  gauge('series_cache_bytes', 'Bytes of series in memory.', () => cache.state().bytes);
  gauge('series_cache_series', 'Series in memory.', () => cache.state().series);
  gauge('series_cache_hits', 'Reads answered from memory.', () => cache.state().hits);
  gauge('series_cache_misses', 'Reads that memory could not answer.', () => cache.state().misses);
  gauge('jobs_running', 'Jobs and edits that run.', () => runner.load().running);
  gauge('jobs_waiting', 'Jobs and edits that wait.', () => runner.load().waiting);
  gauge('ledger_charges_waiting', 'Charges that wait to be written.', () => ledger.waiting);
  const checked = (): ReturnType<typeof fileCheck.state> => fileCheck.state();
  gauge('files_damaged', 'Files of the lake that are known to be damaged.', () => proofs.damaged);
  gauge('files_checked', 'Files that were compared with their hash.', () => checked().checkedFiles);
  gauge('files_checked_bytes', 'Bytes of those.', () => checked().checkedBytes);
  gauge('lake_snapshot', 'Newest snapshot.', () => lake.snapshot);
  const ahead = (): number => lakeClock.aheadMs;
  gauge('lake_clock_ahead_ms', 'Time of commits ahead of the clock, which went back.', ahead);
}

function addFailing(
  { scheduler, upstreams }: Pick<Services, 'scheduler' | 'upstreams'>,
  registers: Registry[],
): void {
  const gauge = gauging(registers);
  gauge('feeds_failing', 'Feeds of others that do not run.', () => {
    const failing = upstreams.all().filter(({ isRunning }) => !isRunning);
    return failing.length;
  });
  gauge('schedules_failing', 'Schedules whose last run failed.', () => {
    const failing = scheduler.all().filter(({ id }) => scheduler.health(id).failedInARow > 0);
    return failing.length;
  });
}

/** Accounts and workspaces that are told. */
const PLACES_MAX = 1_000;

/** What grows, by whose it is. */
function addPlaceGauges(
  {
    accounts,
    database,
    lake,
    ledger,
    storage,
  }: Pick<Services, 'accounts' | 'database' | 'lake' | 'ledger' | 'storage'>,
  registers: Registry[],
): void {
  new Gauge({
    name: 'tapedeck_workspace_bytes',
    help: 'Bytes of a workspace, those of older versions apart.',
    labelNames: ['workspace', 'of'],
    registers,
    async collect() {
      this.reset();
      for (const { workspace } of lake.directory.allWorkspaces().slice(0, PLACES_MAX)) {
        const { history, live } = await storage.of(workspace);
        this.set({ workspace, of: 'live' }, live);
        this.set({ workspace, of: 'history' }, history);
      }
    },
  });
  new Gauge({
    name: 'tapedeck_account_messages',
    help: 'Messages that an account used in this month.',
    labelNames: ['account'],
    registers,
    collect() {
      this.reset();
      for (const { accountId } of accounts.list().slice(0, PLACES_MAX)) {
        this.set({ account: accountId }, ledger.balance(accountId).used);
      }
    },
  });
  new Gauge({
    name: 'tapedeck_last_backup_seconds',
    help: 'When the folder was backed up last, epoch seconds; 0 for never.',
    registers,
    async collect() {
      this.set(((await lastBackup(database))?.made ?? 0) / 1_000);
    },
  });
}

function addUpstreamGauges(upstreams: Services['upstreams'], registers: Registry[]): void {
  const gauge = (name: string, help: string) =>
    new Gauge({
      ...{ name: `tapedeck_upstream_${name}`, help, registers },
      labelNames: ['workspace', 'feed'],
    });
  // The first one: what it sets is read behind it.
  new Gauge({
    name: 'tapedeck_upstreams',
    help: 'Feeds of others that are followed.',
    registers,
    collect() {
      for (const one of [running, records, rejected, restarts]) one.reset();
      const all = upstreams.all();
      this.set(all.length);
      for (const { name: feed, workspace, ...told } of all) {
        const labels = { workspace, feed };
        running.set(labels, Number(told.isRunning));
        records.set(labels, told.records);
        rejected.set(labels, told.rejected);
        restarts.set(labels, told.restarts);
      }
    },
  });
  const running = gauge('running', '1 while it is connected, or tries for the first time.');
  const records = gauge('records', 'Records that were stored since the start.');
  const rejected = gauge('rejected', 'Records and messages that were not.');
  const restarts = gauge('restarts', 'How often it was begun again.');
}

/** Schedules that are told, the failing ones among the first: of more a scrape would be too long. */
const SCHEDULES_MAX = 1_000;

const LABELS = ['workspace', 'dataset', 'schedule'] as const;

function addScheduleGauges(scheduler: Services['scheduler'], registers: Registry[]): void {
  const gauge = (name: string, help: string, more: readonly string[] = []) =>
    new Gauge({
      ...{ name: `tapedeck_schedule_${name}`, help, registers },
      labelNames: [...LABELS, ...more],
    });
  // The first one: what it sets is read behind it.
  new Gauge({
    name: 'tapedeck_schedules',
    help: 'Schedules of all workspaces.',
    registers,
    collect() {
      for (const one of [runs, failing, success]) one.reset();
      const all = scheduler.all().map((one) => ({ one, health: scheduler.health(one.id) }));
      this.set(all.length);
      all.sort((one, other) => other.health.failedInARow - one.health.failedInARow);
      for (const { health, one } of all.slice(0, SCHEDULES_MAX)) {
        const { body, dataset, workspace } = one;
        const labels = { workspace, dataset, schedule: body.name };
        for (const [status, count] of Object.entries(health.ended)) {
          runs.set({ ...labels, status }, count);
        }
        failing.set(labels, health.failedInARow);
        if (health.lastSuccessMs !== null) success.set(labels, health.lastSuccessMs / 1_000);
      }
    },
  });
  const runs = gauge('runs', 'Runs since the start, by how they ended.', ['status']);
  const failing = gauge('failed_in_a_row', 'Runs that failed since one went well.');
  const success = gauge('last_success_seconds', 'When a run went well last, epoch seconds.');
}
