// Cold series reads through the whole door, over HTTP with auth and metering, against bare DuckDB
// in-process over the same files: one key's window of each request.
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { Tapedeck } from '../app/main.ts';
import { median, type Ratio, rounded } from './measure.ts';
import { filesOf, fillDaily, startBench, symbolOf, SYMBOLS, tokenOf } from './stored.ts';

/** Requests of a measurement; each has a symbol of its own, so that nothing is answered twice. */
const REQUESTS = 200;

/** Records of a read. */
export const LASTS = [1, 30, 252] as const;

export const READ_NOTE =
  'ours over HTTP with token, metering and JSON; bare in-process, rows to JSON text';

export async function benchSeries(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  const tapedeck = await startBench(join(folder, 'series'));
  try {
    await fillDaily(tapedeck, folder, 'D', rows);
    const connection = await openBare();
    const bare = bareReads(connection, await filesOf(tapedeck, 'D'));
    const ratios = [];
    for (const last of LASTS) ratios.push(await measure(tapedeck, bare, last, pairs));
    connection.closeSync();
    return ratios.map((ratio) => ({ ...ratio, bench: `${ratio.bench}, ${rows} stored` }));
  } finally {
    await tapedeck.close();
  }
}

/** Bare DuckDB in this process, set as our own children are. */
export async function openBare(): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  await connection.run(`SET disabled_optimizers = 'late_materialization'`);
  await connection.run('SET parquet_metadata_cache = true');
  return connection;
}

/** Reads the last records of a symbol, to JSON text. */
type Read = (symbol: string, last: number) => Promise<void>;

export function bareReads(connection: DuckDBConnection, files: readonly string[]): Read {
  const from = `read_parquet([${files.map((file) => `'${file}'`).join(', ')}])`;
  return async (symbol, last) => {
    const sql = `SELECT symbol, date, close, volume FROM ${from} WHERE symbol = $1
      ORDER BY date DESC LIMIT ${last}`;
    const reader = await connection.runAndReadAll(sql, [symbol]);
    JSON.stringify(reader.getRowObjectsJson());
  };
}

/** The same over HTTP; `more` is added to the query. */
export async function ourReads(
  tapedeck: Tapedeck,
  dataset: string,
  more = '&cache=false',
): Promise<Read> {
  const token = await tokenOf(tapedeck, 'publishable');
  return async (symbol, last) => {
    const query = `last=${last}${more}&token=${token}`;
    const answer = await fetch(`${tapedeck.base}/v1/data/WS/${dataset}/${symbol}?${query}`);
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
  };
}

async function measure(
  tapedeck: Tapedeck,
  bare: Read,
  last: number,
  pairs: number,
): Promise<Ratio> {
  const ours = await ourReads(tapedeck, 'D');
  const times: { ours: number; bare: number }[] = [];
  for (let pair = 0; pair <= pairs; pair += 1) {
    const timesOfPair = { ours: await p50(ours, last, pair), bare: await p50(bare, last, pair) };
    if (pair > 0) times.push(timesOfPair);
  }
  return {
    bench: `cold series, last ${last}`,
    ratio: rounded(median(times.map((time) => time.ours / time.bare))),
    target: '<= 1.5 (our time / bare time)',
    pairs,
    oursMs: rounded(median(times.map((time) => time.ours))),
    bareMs: rounded(median(times.map((time) => time.bare))),
    note: READ_NOTE,
  };
}

/** The median of reads that each have a symbol of their own. */
export async function p50(
  ask: Read,
  last: number,
  pair: number,
  symbols = SYMBOLS,
): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < REQUESTS; at += 1) {
    const symbol = symbolOf((at * 7919 + pair * 104_729) % symbols);
    const start = performance.now();
    await ask(symbol, last);
    times.push(performance.now() - start);
  }
  return median(times);
}
