// Cold series reads through the whole door, over HTTP with auth and metering, against bare DuckDB
// in-process over the same files: one key's window of each request.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { startTapedeck, type Tapedeck } from '../api/main.ts';
import { createWorkspace } from '../store/datasetEdits.ts';
import { readSettings } from '../store/settings.ts';
import { bareDuckDb, median, type Ratio, rounded } from './measure.ts';

const SYMBOLS = 5_000;
/** Requests of a measurement; each has a symbol of its own, so that nothing is answered twice. */
const REQUESTS = 200;

export async function benchSeries(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  const tapedeck = await startTapedeck(
    readSettings({
      TAPEDECK_DATA: join(folder, 'series'),
      TAPEDECK_PORT: '0',
      TAPEDECK_DEMO: 'off',
      TAPEDECK_LOG: 'silent',
      TAPEDECK_RATE_LIMIT: 'off',
    }),
  );
  try {
    const files = await fill(tapedeck, folder, rows);
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

async function fill(tapedeck: Tapedeck, folder: string, rows: number): Promise<readonly string[]> {
  const { lake, runner } = tapedeck.services;
  const path = join(folder, 'series.parquet');
  await bareDuckDb(`COPY (SELECT 'S' || lpad((i % ${SYMBOLS})::VARCHAR, 4, '0') AS symbol,
    (DATE '2000-01-01' + (i // ${SYMBOLS})::INTEGER)::DATE AS date,
    round(50 + random() * 100, 2) AS close, (random() * 1000000)::BIGINT AS volume
    FROM range(${rows}) t(i)) TO '${path}' (FORMAT parquet)`);
  await createWorkspace(lake, 'WS', tapedeck.accountId, 0);
  const order = { path, bytes: 0, ownFile: false, accountId: tapedeck.accountId };
  const into = { workspace: 'WS', dataset: 'D', mapping: { key: 'symbol', date: 'date' } };
  const how = { duplicates: 'ignore', rejectsMax: 0 } as const;
  const job = await runner.ended(await runner.submit({ ...order, ...into, ...how }));
  if (job.status !== 'INGESTED') throw new Error(String(job.error));
  await writeFile(path, '');
  const dataset = lake.catalogue.dataset('WS', 'D');
  const table = dataset === undefined ? undefined : await lake.table(dataset.tableId);
  const root = tapedeck.services.folder.lake;
  return (table?.files ?? []).map((file) => join(root, file.path));
}

async function measure(
  tapedeck: Tapedeck,
  connection: DuckDBConnection,
  files: readonly string[],
  last: number,
  pairs: number,
): Promise<Ratio> {
  const { accounts } = tapedeck.services;
  const token = (await accounts.tokens()).find(({ kind }) => kind === 'publishable')?.text;
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
    const symbol = `S${String((at * 7919 + pair * 104_729) % SYMBOLS).padStart(4, '0')}`;
    const start = performance.now();
    await ask(symbol);
    times.push(performance.now() - start);
  }
  return median(times);
}
