// Cold series after a year of daily appends with compaction as it runs, against bare DuckDB over the
// same files and over one file of the same records.
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Tapedeck } from '../app/main.ts';
import { makeUpkeep } from '../jobs/upkeep/upkeep.ts';
import { bareDuckDb, median, type Ratio, rounded } from './measure.ts';
import { bareReads, LASTS, openBare, ourReads, p50, READ_NOTE } from './series.ts';
import { filesOf, fillDaily, send, startBench, symbolOf, SYMBOLS } from './stored.ts';

const APPENDS = 250;
const DATASET = 'D';
const DAY_MS = 86_400_000;
/** After the last day that a filled dataset of any size has. */
const FIRST_DAY_MS = Date.UTC(2040, 0, 1);

export async function benchAppends(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  // What the timers would do is done after each append: a day has room for it.
  const tapedeck = await startBench(join(folder, 'appends'), {}, { watch: false });
  const connection = await openBare();
  try {
    await fillDaily(tapedeck, folder, DATASET, rows);
    await appendYear(tapedeck);
    const files = await filesOf(tapedeck, DATASET);
    const one = join(folder, 'one.parquet');
    await bareDuckDb(`COPY (SELECT symbol, date, close, volume FROM read_parquet(${listOf(files)})
      ORDER BY symbol, date) TO '${one}' (FORMAT parquet, COMPRESSION zstd)`);
    const ratios = [];
    for (const last of LASTS) {
      ratios.push(...(await measure(tapedeck, connection, { files, one }, last, pairs)));
    }
    const told = `${rows} stored, ${APPENDS} appends of ${SYMBOLS}, ${files.length} files`;
    return ratios.map((ratio) => ({ ...ratio, bench: `${ratio.bench}, ${told}` }));
  } finally {
    connection.closeSync();
    await tapedeck.close();
  }
}

const listOf = (files: readonly string[]): string =>
  `[${files.map((file) => `'${file}'`).join(', ')}]`;

async function appendYear(tapedeck: Tapedeck): Promise<void> {
  const { services } = tapedeck;
  const { keepAllMs: allMs, keepHourlyMs: hourlyMs, keepDailyMs: dailyMs } = services.settings;
  const upkeep = makeUpkeep({ ...services, keep: { allMs, hourlyMs, dailyMs } });
  for (let day = 0; day < APPENDS; day += 1) {
    const date = new Date(FIRST_DAY_MS + day * DAY_MS).toISOString().slice(0, 10);
    const lines = Array.from({ length: SYMBOLS }, (_, at) => {
      return `${symbolOf(at)},${date},${((at * 31 + day) % 9_973) + 0.25},${at * day}`;
    });
    await send(tapedeck, DATASET, `symbol,date,close,volume\n${lines.join('\n')}\n`);
    await upkeep.look();
    await upkeep.thin();
  }
}

async function measure(
  tapedeck: Tapedeck,
  connection: DuckDBConnection,
  { files, one }: { readonly files: readonly string[]; readonly one: string },
  last: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  const ours = await ourReads(tapedeck, DATASET);
  const [same, single] = [bareReads(connection, files), bareReads(connection, [one])];
  const times: { ours: number; same: number; single: number }[] = [];
  for (let pair = 0; pair <= pairs; pair += 1) {
    const round = {
      ours: await p50(ours, last, pair),
      same: await p50(same, last, pair),
      single: await p50(single, last, pair),
    };
    if (pair > 0) times.push(round);
  }
  const against = (side: 'same' | 'single', name: string, target: string): Ratio => ({
    bench: `series after appends, last ${last}, against ${name}`,
    ratio: rounded(median(times.map((time) => time.ours / time[side]))),
    target,
    pairs,
    oursMs: rounded(median(times.map((time) => time.ours))),
    bareMs: rounded(median(times.map((time) => time[side]))),
    note: READ_NOTE,
  });
  return [
    against('same', 'bare DuckDB over the same files', '<= 1.5 (our time / bare time)'),
    against('single', 'bare DuckDB over one file', '<= 2 (our time / bare time)'),
  ];
}
