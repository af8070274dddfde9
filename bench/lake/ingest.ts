// Measures durable ingest of shuffled CSV, JSON lines and Parquet with validation and deduplication, and of
// CSV over HTTP, against bare DuckDB's sorted COPY.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createWorkspace } from '../../store/lake/datasetEdits.ts';
import { readSettings } from '../../store/base/settings/settings.ts';
import { byMedian, openClient } from '../http/clientProcess.ts';
import { treeCpuMs } from '../http/cpuTime.ts';
import { serveFilled } from '../http/server.ts';
import { bareDuckDb, measureRatio, type Ratio, measureMs, watchMemory } from '../base/measure.ts';
import { loadFile, loadRequest } from '../base/stored.ts';
import { openCore, type Core } from '../../app/core.ts';

const MEGABYTE = 1024 ** 2;

/** How bare DuckDB writes and reads a kind of file, and our target. */
interface Kind {
  readonly name: string;
  readonly write: string;
  readonly read: string;
  readonly target: string;
}

const CSV: Kind = { name: 'csv', write: 'HEADER', read: 'read_csv', target: '>= 0.8' };
const JSONL: Kind = { name: 'jsonl', write: 'FORMAT json', read: 'read_json', target: '>= 0.8' };
const PARQUET: Kind = {
  name: 'parquet',
  write: 'FORMAT parquet',
  read: 'read_parquet',
  target: 'none: the file is typed already',
};

/** Writes 5,000 symbols x days of OHLCV in random order; `repeats` adds that many duplicate index values. */
const shuffledCopy = (path: string, rows: number, repeats: number, { write }: Kind): string => `
  COPY (SELECT 'S' || lpad((i % 5000)::VARCHAR, 4, '0') AS symbol,
    (DATE '2000-01-01' + (i // 5000)::INTEGER)::DATE AS date,
    round(50 + random() * 100, 2) AS open, round(50 + random() * 100, 2) AS high,
    round(50 + random() * 100, 2) AS low, round(50 + random() * 100, 2) AS close,
    (random() * 1000000)::BIGINT AS volume
    FROM (SELECT i FROM range(${rows}) t(i) UNION ALL SELECT i FROM range(${repeats}) t(i))
    ORDER BY hash(i, random())) TO '${path}' (${write})`;

export async function benchIngest(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  const ratios: Ratio[] = [];
  for (const kind of [CSV, JSONL, PARQUET]) {
    ratios.push(await measure(folder, rows, 0, pairs, `ingest-${kind.name}`, kind));
  }
  const repeats = Math.floor(rows / 100);
  const repeated: Kind = { ...CSV, target: '>= 0.7' };
  ratios.push(await measure(folder, rows, repeats, pairs, 'ingest-csv-1%-repeated', repeated));
  ratios.push(await measureHttp(folder, rows, pairs));
  return ratios;
}

/** Measures a CSV upload of the client process until it is stored. */
async function measureHttp(folder: string, rows: number, pairs: number): Promise<Ratio> {
  const path = join(folder, 'sent.csv');
  await bareDuckDb(shuffledCopy(path, rows, 0, CSV));
  const settings = { TAPEDECK_BODY_BYTES: String(1024 ** 3) };
  const { server } = await serveFilled(join(folder, 'sent'), settings, async () => undefined);
  await using stack = new AsyncDisposableStack();
  stack.use(server);
  const client = stack.use(openClient());
  const bare = join(folder, 'bare.parquet');
  const ratio = await measureRatio(
    { name: `ingest-csv over HTTP ${rows} rows`, target: CSV.target, pairs },
    async (round) => {
      const { body: _, ...order } = loadRequest(`D${round}`, '', server.secret);
      const plan = { requests: [{ ...order, file: path }], connections: 1, count: 1 };
      return byMedian(await client.drive(server, plan));
    },
    () => bareDuckDb(sortedCopy(CSV, path, bare)),
  );
  await rm(path);
  return ratio;
}

const sortedCopy = ({ read }: Kind, from: string, to: string): string =>
  `COPY (FROM ${read}('${from}') ORDER BY symbol, date) TO '${to}' (FORMAT parquet, COMPRESSION zstd)`;

async function measure(
  folder: string,
  rows: number,
  repeats: number,
  pairs: number,
  name: string,
  kind: Kind,
): Promise<Ratio> {
  const path = join(folder, `${name}.file`);
  await bareDuckDb(shuffledCopy(path, rows, repeats, kind));
  const settings = readSettings({
    TAPEDECK_DATA: join(folder, name),
    TAPEDECK_DEMO: 'off',
    TAPEDECK_LOG: 'silent',
  });
  const core = await openCore(settings);
  await createWorkspace(core.services.lake, 'WS', core.accountId, 0);
  const bare = join(folder, 'bare.parquet');
  const sql = sortedCopy(kind, path, bare);
  // Memory is measured in a separate load: sampling every process 20 times a second costs a fifth of a core.
  const memory = watchMemory();
  await load(core, path, 'WEIGHED', rows);
  const maxBytes = await memory.stop();
  const ratio = await measureRatio(
    { name: `${name} ${rows} rows`, target: kind.target, pairs },
    async (round) => {
      // Only the load runs in this process and its descendants.
      const before = await treeCpuMs([process.pid]);
      const ms = await measureMs(() => load(core, path, `D${round}`, rows));
      return { ms, times: [ms], cpuMs: (await treeCpuMs([process.pid])) - before };
    },
    () => bareDuckDb(sql),
  );
  await core.close();
  await rm(path);
  const note = `process tree at most ${Math.round(maxBytes / MEGABYTE)} MB`;
  return { ...ratio, note };
}

async function load(core: Core, path: string, dataset: string, rows: number): Promise<void> {
  const ingested = await loadFile(core, path, dataset, { key: 'symbol', date: 'date' });
  if (ingested !== rows) throw new Error(`${ingested} of ${rows} records were ingested`);
}
