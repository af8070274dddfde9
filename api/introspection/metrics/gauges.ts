// Gauges of the running process: children, memory, jobs, streams.
import { Gauge, type Registry } from 'prom-client';
import type { Services, Streaming } from '../../request/endpoint.ts';

/** Creates gauges that are read at each scrape. */
const gaugeFactory =
  (registers: Registry[]) =>
  (name: string, help: string, read: () => number): void => {
    const gauge: Gauge = new Gauge({
      name: `tapedeck_${name}`,
      help,
      registers,
      collect: (): void => gauge.set(read()),
    });
  };

export function addStreamGauges(
  { board, bus, feeds, hub, open }: Streaming,
  registers: Registry[],
): void {
  const gauge = gaugeFactory(registers);
  gauge('streams_open', 'Streams that are open.', () => open.state().open);
  gauge('stream_groups', 'Different subscriptions.', () => hub.state().groups);
  gauge('stream_messages_waiting', 'Messages that wait for their turn.', () => hub.state().waiting);
  if (bus !== undefined) {
    gauge('bus_here', '1 while stream messages are stored for other nodes.', () =>
      Number(bus.isHere),
    );
  }
  gauge('live_symbols', 'Symbols received from feeds.', () => board.state().symbols);
  gauge('live_ticks', 'Ticks received from feeds.', () => board.state().messages);
  gauge('live_ticks_dropped', 'Ticks of one symbol too many.', () => board.state().dropped);
  const endedStreams: Gauge = new Gauge({
    name: 'tapedeck_streams_ended',
    help: 'Streams that ended, by why.',
    labelNames: ['reason'],
    registers,
    collect: () => {
      for (const [reason, count] of open.state().ended) endedStreams.set({ reason }, count);
    },
  });
  const feedTicks: Gauge = new Gauge({
    name: 'tapedeck_feed_ticks',
    help: 'Ticks of a feed.',
    labelNames: ['feed'],
    registers,
    collect: () => {
      for (const { name, ticks } of feeds.state()) feedTicks.set({ feed: name }, ticks);
    },
  });
  const feedRestarts: Gauge = new Gauge({
    name: 'tapedeck_feed_restarts',
    help: 'How often a feed was begun again.',
    labelNames: ['feed'],
    registers,
    collect: () => {
      for (const { name, restarts } of feeds.state()) feedRestarts.set({ feed: name }, restarts);
    },
  });
}

export function addGauges(
  {
    fileCheck,
    lake,
    lakeClock,
    ledger,
    fileCache,
    proofs,
    runner,
    series,
    sql,
    ingestion,
    loadGiver,
  }: Pick<
    Services,
    | 'fileCheck'
    | 'lake'
    | 'lakeClock'
    | 'ledger'
    | 'fileCache'
    | 'proofs'
    | 'runner'
    | 'series'
    | 'sql'
    | 'ingestion'
    | 'loadGiver'
  >,
  registers: Registry[],
): void {
  const gauge = gaugeFactory(registers);
  const pools = { read: series.pool, sql: sql.pool, ingest: ingestion.pool };
  for (const [kind, pool] of Object.entries(pools)) {
    gauge(`${kind}_children_running`, 'Children with a request.', () => pool.load().running);
    gauge(`${kind}_children_waiting`, 'Requests before the children.', () => pool.load().waiting);
    gauge(`${kind}_children_failing`, '1 while no process can be started.', () =>
      Number(pool.load().failing),
    );
    gauge(`${kind}_children_lent`, 'Children of other nodes.', () => pool.load().remote);
    gauge(
      `${kind}_answers_lent`,
      'Answers of children of other nodes.',
      () => pool.load().answeredRemotely,
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
  gauge('load_places_elsewhere', 'Loads that other nodes may work on.', () => loadGiver.slotCount);
  gauge('loads_elsewhere', 'Loads that other nodes worked on.', () => loadGiver.finishedCount);
  gauge('ledger_charges_waiting', 'Charges that wait to be written.', () => ledger.pendingCharges);
  addFileGauges({ fileCache, fileCheck, proofs }, gauge);
  gauge('lake_snapshot', 'Newest snapshot.', () => lake.snapshot);
  const readAheadMs = (): number => lakeClock.aheadMs;
  gauge('lake_clock_ahead_ms', 'Time of commits ahead of the clock, which went back.', readAheadMs);
}

function addFileGauges(
  { fileCache, fileCheck, proofs }: Pick<Services, 'fileCache' | 'fileCheck' | 'proofs'>,
  gauge: ReturnType<typeof gaugeFactory>,
): void {
  const readCheckState = (): ReturnType<typeof fileCheck.state> => fileCheck.state();
  gauge(
    'files_damaged',
    'Files of the lake that are known to be damaged.',
    () => proofs.damagedCount,
  );
  gauge(
    'files_checked',
    'Files that were compared with their hash.',
    () => readCheckState().checkedFiles,
  );
  gauge('files_checked_bytes', 'Bytes of those.', () => readCheckState().checkedBytes);
  if (fileCache !== undefined) {
    gauge('file_cache_bytes', 'Bytes of copies of the bucket.', () => fileCache.state.bytes);
    gauge('file_cache_files', 'Copies of files of the bucket.', () => fileCache.state.files);
    gauge('file_cache_fetched', 'Files fetched from the bucket.', () => fileCache.state.fetched);
  }
}

export function addFailureGauges(
  { scheduler, upstreams }: Pick<Services, 'scheduler' | 'upstreams'>,
  registers: Registry[],
): void {
  const gauge = gaugeFactory(registers);
  gauge('feeds_failing', 'Feeds of others that do not run.', () => {
    const failing = upstreams.all().filter(({ isRunning }) => !isRunning);
    return failing.length;
  });
  gauge('schedules_failing', 'Schedules whose last run failed.', () => {
    const failing = scheduler.all().filter(({ id }) => scheduler.health(id).failedInARow > 0);
    return failing.length;
  });
}
