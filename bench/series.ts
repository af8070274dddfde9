// Cold series reads through the whole door, over HTTP with auth and metering, against bare DuckDB
// in-process over the same files: one key's window of each request.
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { Tapedeck } from '../api/main.ts';
import { median, type Ratio, rounded } from './measure.ts';
import { filesOf, fillDaily, startBench, symbolOf, SYMBOLS, tokenOf } from './stored.ts';

/** Requests of a measurement; each has a symbol of its own, so that nothing is answered twice. */
const REQUESTS = 200;

export async function benchSeries(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  const tapedeck = await startBench(join(folder, 'series'));
  try {
    await fillDaily(tapedeck, folder, 'D', rows);
    const files = await filesOf(tapedeck, 'D');
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    const connection = await instance.connect();
    await connection.run(`SET disabled_optimizers = 'late_materialization'`);
    await connection.run('SET parquet_metadata_cache = true');
    const ratios = [];
    for (const last of [1, 30, 252]) {
      ratios.push(await measure(tapedeck, connection, files, last, pairs));
    }
    connection.closeSync();
    return ratios.map((ratio) => ({ ...ratio, bench: `${ratio.bench}, ${rows} stored` }));
  } finally {
    await tapedeck.close();
  }
}

async function measure(
  tapedeck: Tapedeck,
  connection: DuckDBConnection,
  files: readonly string[],
  last: number,
  pairs: number,
): Promise<Ratio> {
  const token = await tokenOf(tapedeck, 'publishable');
  const from = `read_parquet([${files.map((file) => `'${file}'`).join(', ')}])`;
  const sql = `SELECT symbol, date, close, volume FROM ${from} WHERE symbol = $1
    ORDER BY date DESC LIMIT ${last}`;
  const ours = async (symbol: string): Promise<void> => {
    const url = `${tapedeck.base}/v1/data/WS/D/${symbol}?last=${last}&token=${token}`;
    await (await fetch(url)).text();
  };
  const bare = async (symbol: string): Promise<void> => {
    const reader = await connection.runAndReadAll(sql, [symbol]);
    JSON.stringify(reader.getRowObjectsJson());
  };
  const times: { ours: number; bare: number }[] = [];
  for (let pair = 0; pair <= pairs; pair += 1) {
    const timesOfPair = { ours: await p50(ours, pair), bare: await p50(bare, pair) };
    if (pair > 0) times.push(timesOfPair);
  }
  return {
    bench: `cold series, last ${last}`,
    ratio: rounded(median(times.map((time) => time.ours / time.bare))),
    target: '<= 1.5 (our time / bare time)',
    pairs,
    oursMs: rounded(median(times.map((time) => time.ours))),
    bareMs: rounded(median(times.map((time) => time.bare))),
    note: 'ours over HTTP with token, metering and JSON; bare in-process, rows to JSON text',
  };
}

async function p50(ask: (symbol: string) => Promise<void>, pair: number): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < REQUESTS; at += 1) {
    const symbol = symbolOf((at * 7919 + pair * 104_729) % SYMBOLS);
    const start = performance.now();
    await ask(symbol);
    times.push(performance.now() - start);
  }
  return median(times);
}
