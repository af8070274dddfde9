// CSV ingest, shuffled, validated, deduplicated, durable, against bare DuckDB's sorted COPY.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openCore, type Core } from '../api/main.ts';
import { createWorkspace } from '../store/datasetEdits.ts';
import { readSettings } from '../store/settings.ts';
import { bareDuckDb, ratioOf, type Ratio, timed, watchMemory } from './measure.ts';
import { loadFile } from './stored.ts';

const MEGABYTE = 1024 ** 2;

/** 5,000 symbols x days of OHLCV in random order; `repeats` adds that many equal index values. */
const shuffled = (path: string, rows: number, repeats: number): string => `
  COPY (SELECT 'S' || lpad((i % 5000)::VARCHAR, 4, '0') AS symbol,
    (DATE '2000-01-01' + (i // 5000)::INTEGER)::DATE AS date,
    round(50 + random() * 100, 2) AS open, round(50 + random() * 100, 2) AS high,
    round(50 + random() * 100, 2) AS low, round(50 + random() * 100, 2) AS close,
    (random() * 1000000)::BIGINT AS volume
    FROM (SELECT i FROM range(${rows}) t(i) UNION ALL SELECT i FROM range(${repeats}) t(i))
    ORDER BY hash(i, random())) TO '${path}' (HEADER)`;

export async function benchIngest(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  const clean = await measure(folder, rows, 0, pairs, 'ingest-csv');
  const repeated = await measure(
    folder,
    rows,
    Math.floor(rows / 100),
    pairs,
    'ingest-csv-1%-repeated',
  );
  return [clean, repeated];
}

async function measure(
  folder: string,
  rows: number,
  repeats: number,
  pairs: number,
  name: string,
): Promise<Ratio> {
  const csv = join(folder, `${name}.csv`);
  await bareDuckDb(shuffled(csv, rows, repeats));
  const settings = readSettings({
    TAPEDECK_DATA: join(folder, name),
    TAPEDECK_DEMO: 'off',
    TAPEDECK_LOG: 'silent',
  });
  const core = await openCore(settings);
  await createWorkspace(core.services.lake, 'WS', core.accountId, 0);
  const bare = join(folder, 'bare.parquet');
  const sql = `COPY (FROM read_csv('${csv}') ORDER BY symbol, date)
    TO '${bare}' (FORMAT parquet, COMPRESSION zstd)`;
  // Weighed in a load of its own: looking at every process 20 times a second costs a fifth of a core.
  const memory = watchMemory();
  await load(core, csv, 'WEIGHED', rows);
  const most = await memory.stop();
  const ratio = await ratioOf(
    { name: `${name} ${rows} rows`, target: '>= 0.8', pairs },
    (round) => timed(() => load(core, csv, `D${round}`, rows)),
    () => bareDuckDb(sql),
  );
  await core.close();
  await rm(csv);
  const note = `process tree at most ${Math.round(most / MEGABYTE)} MB`;
  return { ...ratio, note };
}

async function load(core: Core, path: string, dataset: string, rows: number): Promise<void> {
  const ingested = await loadFile(core, path, dataset, { key: 'symbol', date: 'date' });
  if (ingested !== rows) throw new Error(`${ingested} of ${rows} records were ingested`);
}
