// Hot series over HTTP, with token, metering and journal: Zipf keys, random windows, both orders, a
// fifth with `filter`; against bare Fastify that sends the same headers and as many bytes. One client
// process drives both in turn.
import { join } from 'node:path';
import type { Tapedeck } from '../../app/main.ts';
import { serveByPostgres } from './fastifyPostgres.ts';
import { type Asked, bareFastify, measure } from './bareFastify.ts';
import { bringIn, drive, PATHS, pathsOf, SECONDS, warm, zipfKey } from './hotReads.ts';
import { pushLoad } from '../life.ts';
import { bareDuckDb, median, type Ratio, ratioOf, rounded, timed } from '../measure.ts';
import { bareReads, openBare, p50 } from '../series.ts';
import {
  filesOf,
  fillDaily,
  fillMinutes,
  startBench,
  symbolOf,
  SYMBOLS,
  tokenOf,
} from '../stored.ts';

const RECORDS: readonly (readonly [records: number, bare: string, postgres: string])[] = [
  [1, '>= 0.5', '>= 2'],
  [30, '>= 0.6', '>= 2'],
  [252, '>= 0.8', '>= 5'],
];

export async function benchHot(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  // Room for all that is asked, or what the command says: a tenth of the records as they are
  // answered is 8 bytes a row.
  const cacheBytes = process.argv[5] ?? String(1024 ** 3);
  const cache = { TAPEDECK_CACHE_BYTES: cacheBytes };
  const tapedeck = await startBench(join(folder, 'hot'), cache);
  try {
    const daily = await benchDaily(tapedeck, folder, rows, pairs);
    const minutes = await benchMinutes(tapedeck, folder, rows, pairs);
    const ratios = [...daily, ...minutes, memory(tapedeck, Number(cacheBytes))];
    return ratios.map((ratio) => ({ ...ratio, bench: `${ratio.bench}, ${rows} stored` }));
  } finally {
    await tapedeck.close();
  }
}

async function benchDaily(
  tapedeck: Tapedeck,
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  await fillDaily(tapedeck, folder, 'D', rows);
  const token = await tokenOf(tapedeck, 'publishable');
  await using postgres = await serveByPostgres(tapedeck, 'D', folder, 'date');
  const ratios: Ratio[] = [];
  for (const [records, bare, usual] of RECORDS) {
    const windows = { dataset: 'D', symbols: SYMBOLS, days: Math.floor(rows / SYMBOLS), token };
    const paths = pathsOf({ ...windows, records });
    const asked = {
      name: `hot series, ${records} records`,
      paths,
      list: `paths-${records}`,
      pairs,
    };
    const hot = await againstServers(tapedeck, folder, asked, bare, usual, postgres?.port);
    ratios.push(...hot);
    ratios.push(await againstDuckDb(tapedeck, hot.at(0), records));
    const list = join(folder, asked.list);
    if (records === 30) ratios.push(await besidePushes(tapedeck, list, pairs));
  }
  ratios.push(await batch(tapedeck, folder, pairs));
  return ratios;
}

/** As many minutes of the same keys; the newest of each, as a screen asks for them. */
async function benchMinutes(
  tapedeck: Tapedeck,
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  await fillMinutes(tapedeck, folder, 'M', rows);
  const token = await tokenOf(tapedeck, 'publishable');
  await using postgres = await serveByPostgres(tapedeck, 'M', folder, 'timestamp');
  const ratios: Ratio[] = [];
  for (const [records, bare, usual] of RECORDS) {
    const paths = Array.from({ length: PATHS }, (_, at) => {
      const order = at % 3 === 0 ? '&sort=asc' : '';
      return `/v1/data/WS/M/${zipfKey(at, SYMBOLS)}?last=${records}${order}&token=${token}`;
    });
    const name = `hot series of minutes, ${records} records`;
    const asked = { name, paths, list: `minutes-${records}`, pairs };
    ratios.push(...(await againstServers(tapedeck, folder, asked, bare, usual, postgres?.port)));
  }
  return ratios;
}

/** In memory first; then against bare Fastify, and against Fastify over PostgreSQL where it is. */
async function againstServers(
  tapedeck: Tapedeck,
  folder: string,
  { list: name, ...asked }: Asked,
  bareTarget: string,
  usualTarget: string,
  postgres: number | undefined,
): Promise<readonly Ratio[]> {
  const list = join(folder, name);
  await bringIn(tapedeck, asked.paths, list);
  const port = Number(new URL(tapedeck.base).port);
  const bare = await bareFastify(`${tapedeck.base}${asked.paths[1] ?? ''}`);
  const target = `${bareTarget} of bare Fastify's answers a second`;
  const ratios = [await measure([port, bare.port], { ...asked, list }, target)];
  await bare.close();
  if (postgres === undefined) return ratios;
  await warm(`http://127.0.0.1:${postgres}`, asked.paths);
  const usual = `${usualTarget} of Fastify's over PostgreSQL`;
  return [...ratios, await measure([port, postgres], { ...asked, list }, usual)];
}

/** The same records of one series after another, by bare DuckDB in-process. */
async function againstDuckDb(
  tapedeck: Tapedeck,
  hot: Ratio | undefined,
  records: number,
): Promise<Ratio> {
  const connection = await openBare();
  const read = bareReads(connection, await filesOf(tapedeck, 'D'));
  const bareMs = await p50(read, records, 1);
  connection.closeSync();
  const oursMs = hot?.oursMs ?? 0;
  const bench = `hot series, ${records} records`;
  const note = 'milliseconds an answer; bare: the median of reads one after the other';
  const ratio = rounded(bareMs / oursMs);
  return { bench, ratio, target: '>= 10 of bare DuckDB', pairs: 1, oursMs, bareMs, note };
}

/** The same reads, alone and beside 500 pushes a second. */
async function besidePushes(tapedeck: Tapedeck, list: string, pairs: number): Promise<Ratio> {
  const port = Number(new URL(tapedeck.base).port);
  const ratios: { alone: number; beside: number }[] = [];
  for (let pair = 0; pair <= Math.min(pairs, 3); pair += 1) {
    const alone = await drive(port, list);
    const pushes = pushLoad(tapedeck, 'D', `2051-01-0${1 + pair}`, 500, SECONDS + 1);
    const beside = await drive(port, list);
    await pushes;
    if (pair > 0) ratios.push({ alone, beside });
  }
  return {
    bench: 'hot series, 30 records, beside 500 pushes a second',
    ratio: rounded(median(ratios.map(({ alone, beside }) => beside / alone))),
    target: '>= 0.8 of the same reads alone',
    pairs: ratios.length,
    oursMs: rounded(median(ratios.map(({ beside }) => 1000 / beside))),
    bareMs: rounded(median(ratios.map(({ alone }) => 1000 / alone))),
    note: 'milliseconds an answer',
  };
}

/** 100 keys, a year of each, in one request; against bare DuckDB's COPY of the same rows to JSON. */
async function batch(tapedeck: Tapedeck, folder: string, pairs: number): Promise<Ratio> {
  const keys = Array.from({ length: 100 }, (_, at) => symbolOf(at * 37));
  const token = await tokenOf(tapedeck, 'publishable');
  const range = 'from=2000-01-01&to=2000-12-31&sort=asc';
  const url = `${tapedeck.base}/v1/data/WS/D/${keys.join(',')}?${range}&token=${token}`;
  const files = (await filesOf(tapedeck, 'D')).map((file) => `'${file}'`).join(', ');
  const sql = `COPY (SELECT symbol, date, close, volume FROM read_parquet([${files}])
    WHERE symbol IN (${keys.map((key) => `'${key}'`).join(', ')}) AND date <= '2000-12-31'
    ORDER BY symbol, date) TO '${join(folder, 'batch.json')}' (FORMAT json, ARRAY true)`;
  const ask = async (): Promise<void> => {
    const answer = await fetch(url);
    const bytes = await answer.arrayBuffer();
    if (!answer.ok || bytes.byteLength < 1_000) throw new Error(`batch ${answer.status}`);
  };
  const bench = {
    name: '100 keys, a year of each, one request',
    target: '<= 3 of one COPY of the rows',
    pairs,
  };
  const ratio = await ratioOf(
    bench,
    () => timed(ask),
    () => bareDuckDb(sql),
  );
  return { ...ratio, ratio: rounded(1 / ratio.ratio) };
}

/** Memory of the series after all reads, against its setting. */
function memory(tapedeck: Tapedeck, most: number): Ratio {
  const { bytes, hits, misses } = tapedeck.services.series.cache.state();
  return {
    bench: 'bytes of series in memory, of the setting',
    ratio: rounded(bytes / most),
    target: '<= 1.1',
    pairs: 1,
    oursMs: bytes,
    bareMs: most,
    note: `bytes; ${hits} reads from memory, ${misses} not`,
  };
}
