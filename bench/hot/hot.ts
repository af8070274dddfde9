// Measures hot series over HTTP with token, metering and journal: Zipf keys, random windows, both orders, a
// fifth with `filter`. The other side is bare Fastify that sends the same headers and as many bytes. One
// client process drives both alternately.
import { join } from 'node:path';
import { byMedian, byPace, openClient, type Side } from '../http/clientProcess.ts';
import { getRequests } from '../http/order.ts';
import { type HttpBench, type BenchServer, serveFilled } from '../http/server.ts';
import { pushLoad } from '../lake/life.ts';
import { bareDuckDb, invertRatio, roundFigure } from '../base/measure.ts';
import { type Pair, type Ratio, measureRatio, computeRatio } from '../base/measure.ts';
import { openBareReader } from '../series/bareReadsProcess.ts';
import { roundKeys } from '../series/series.ts';
import { listFiles, fillDaily, fillMinutes, symbolOf, SYMBOLS } from '../base/stored.ts';
import { type ReadPlan, bareFastify, measure } from './bareFastify.ts';
import {
  warmCache,
  driveReads,
  PATHS,
  readPaths,
  SECONDS,
  readAllOnce,
  zipfKey,
} from './hotReads.ts';
import { serveByPostgres } from './postgresSide.ts';

const RECORDS: readonly (readonly [records: number, bare: string, postgres: string])[] = [
  [1, '>= 0.5', '>= 2'],
  [30, '>= 0.6', '>= 2'],
  [252, '>= 0.8', '>= 5'],
];

interface Bench extends HttpBench {
  /** Files of the daily and of the minute dataset. */
  readonly daily: readonly string[];
  readonly minutes: readonly string[];
}

export async function benchHot(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  // Memory for all series read, or the command's argument. A tenth of the records as answered is 8 bytes a
  // row.
  const cacheBytes = process.argv[5] ?? String(1024 ** 3);
  const cache = { TAPEDECK_CACHE_BYTES: cacheBytes };
  const { content, server } = await serveFilled(join(folder, 'hot'), cache, async (tapedeck) => {
    await fillDaily(tapedeck, folder, 'D', rows);
    await fillMinutes(tapedeck, folder, 'M', rows);
    return { daily: await listFiles(tapedeck, 'D'), minutes: await listFiles(tapedeck, 'M') };
  });
  await using stack = new AsyncDisposableStack();
  stack.use(server);
  const client = stack.use(openClient());
  const bench = { client, server, folder, rows, pairs, ...content };
  const daily = await benchDaily(bench);
  const minutes = await benchMinutes(bench);
  const ratios = [...daily, ...minutes, await memory(server, Number(cacheBytes))];
  return ratios.map((ratio) => ({ ...ratio, bench: `${ratio.bench}, ${rows} stored` }));
}

async function benchDaily(bench: Bench): Promise<readonly Ratio[]> {
  const { daily: files, folder, pairs, rows, server } = bench;
  await using postgres = await serveByPostgres({ files, folder, dateType: 'date' });
  const ratios: Ratio[] = [];
  for (const [records, bare, usual] of RECORDS) {
    const { publishable: token } = server;
    const windows = { dataset: 'D', symbols: SYMBOLS, days: Math.floor(rows / SYMBOLS), token };
    const paths = readPaths({ ...windows, records });
    const plan = { name: `hot series, ${records} records`, paths, pairs };
    const hot = await againstServers(bench, plan, bare, usual, postgres);
    ratios.push(...hot, await againstDuckDb(files, hot.at(0), records));
    if (records === 30) ratios.push(await besidePushes(bench, paths));
  }
  return [...ratios, await batch(bench)];
}

/** Reads the latest of as many minutes of the same keys, as a screen does. */
async function benchMinutes(bench: Bench): Promise<readonly Ratio[]> {
  const { folder, minutes: files, pairs, server } = bench;
  await using postgres = await serveByPostgres({ files, folder, dateType: 'timestamp' });
  const ratios: Ratio[] = [];
  for (const [records, bare, usual] of RECORDS) {
    const paths = Array.from({ length: PATHS }, (_, at) => {
      const order = at % 3 === 0 ? '&sort=asc' : '';
      const query = `last=${records}${order}&token=${server.publishable}`;
      return `/v1/data/WS/M/${zipfKey(at, SYMBOLS)}?${query}`;
    });
    const plan = { name: `hot series of minutes, ${records} records`, paths, pairs };
    ratios.push(...(await againstServers(bench, plan, bare, usual, postgres)));
  }
  return ratios;
}

/** Fills the cache, then measures against bare Fastify and, if available, against Fastify over PostgreSQL. */
async function againstServers(
  { client, server }: Bench,
  plan: ReadPlan,
  bareTarget: string,
  usualTarget: string,
  postgres: Side | undefined,
): Promise<readonly Ratio[]> {
  await warmCache(client, server, plan.paths);
  const target = `${bareTarget} of bare Fastify's answers a second`;
  const ratios: Ratio[] = [];
  {
    await using bare = await bareFastify(`${server.base}${plan.paths[1] ?? ''}`);
    ratios.push(await measure(client, [server, bare], plan, target));
  }
  if (postgres === undefined) return ratios;
  await readAllOnce(client, postgres, plan.paths);
  const usual = `${usualTarget} of Fastify's over PostgreSQL`;
  return [...ratios, await measure(client, [server, postgres], plan, usual)];
}

/** Reads the same records of one series after another with bare DuckDB in-process. */
async function againstDuckDb(
  files: readonly string[],
  hot: Ratio | undefined,
  records: number,
): Promise<Ratio> {
  await using bare = openBareReader();
  const reads = await bare.read({ files, last: records, keys: roundKeys(1) });
  const target = '>= 10 of bare DuckDB';
  const bench = { name: `hot series, ${records} records`, target, pairs: 1 };
  const ours = { ms: hot?.oursMs ?? 0 };
  const { oursClientCpuMs, oursCpuMs, oursP50, oursP99 } = { ...hot };
  const note = 'milliseconds by answers; bare: the median of reads one after the other';
  const ratio = computeRatio(bench, [{ ours, bare: reads }]);
  return { ...ratio, oursP50, oursP99, oursCpuMs, oursClientCpuMs, note };
}

/** Measures the same reads alone and beside 500 pushes a second. */
async function besidePushes(
  { client, pairs, server }: Bench,
  paths: readonly string[],
): Promise<Ratio> {
  const rounds: Pair[] = [];
  for (let pair = 0; pair <= Math.min(pairs, 3); pair += 1) {
    const alone = byPace(await driveReads(client, server, paths));
    const pushes = pushLoad(server, 'D', `2051-01-0${1 + pair}`, 500, SECONDS + 1);
    const beside = byPace(await driveReads(client, server, paths));
    await pushes;
    if (pair > 0) rounds.push({ ours: beside, bare: alone });
  }
  const bench = {
    name: 'hot series, 30 records, beside 500 pushes a second',
    target: '>= 0.8 of the same reads alone',
    pairs: rounds.length,
  };
  const note =
    'milliseconds by answers; the processor time beside pushes is that of the pushes too';
  return { ...computeRatio(bench, rounds), note };
}

/** Reads a year of 100 keys in one request, against bare DuckDB's COPY of the same rows to JSON. */
async function batch({ client, daily, folder, pairs, server }: Bench): Promise<Ratio> {
  const keys = Array.from({ length: 100 }, (_, at) => symbolOf(at * 37));
  const range = 'from=2000-01-01&to=2000-12-31&sort=asc';
  const path = `/v1/data/WS/D/${keys.join(',')}?${range}&token=${server.publishable}`;
  const files = daily.map((file) => `'${file}'`).join(', ');
  const sql = `COPY (SELECT symbol, date, close, volume FROM read_parquet([${files}])
    WHERE symbol IN (${keys.map((key) => `'${key}'`).join(', ')}) AND date <= '2000-12-31'
    ORDER BY symbol, date) TO '${join(folder, 'batch.json')}' (FORMAT json, ARRAY true)`;
  const target = '<= 3 of one COPY of the rows';
  const ratio = await measureRatio(
    { name: '100 keys, a year of each, one request', target, pairs },
    async () => {
      const plan = { requests: getRequests([path]), connections: 1, count: 1 };
      const answered = await client.drive(server, plan);
      if (answered.bytes < 1_000) throw new Error(`a batch of ${answered.bytes} bytes`);
      return byMedian(answered);
    },
    () => bareDuckDb(sql),
  );
  return invertRatio(ratio);
}

/** Compares the memory of the series cache after all reads with its setting. */
async function memory(server: BenchServer, most: number): Promise<Ratio> {
  const { bytes, hits, misses } = await server.memory();
  return {
    bench: 'bytes of series in memory, of the setting',
    ratio: roundFigure(bytes / most),
    target: '<= 1.1',
    pairs: 1,
    oursMs: bytes,
    bareMs: most,
    note: `bytes; ${hits} reads from memory, ${misses} not`,
  };
}
