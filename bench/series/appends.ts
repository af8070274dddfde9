// Measures cold series after a year of daily appends with normal compaction, against bare DuckDB over the
// same files and over one file of the same records.
import { join } from 'node:path';
import type { Tapedeck } from '../../app/main.ts';
import { makeUpkeep } from '../../jobs/upkeep/upkeep.ts';
import { openClient } from '../http/clientProcess.ts';
import { serveFilled } from '../http/server.ts';
import {
  bareDuckDb,
  invertRatio,
  type Ratio,
  computeRatio,
  type Measurement,
} from '../base/measure.ts';
import { listFiles, fillDaily, send, symbolOf, SYMBOLS } from '../base/stored.ts';
import { type BareReader, openBareReader } from './bareReadsProcess.ts';
import { coldReads, roundKeys, LASTS, READ_NOTE } from './series.ts';

const APPENDS = 250;
const DATASET = 'D';
const DAY_MS = 86_400_000;
/** Later than the last day of a filled dataset of any size. */
const FIRST_DAY_MS = Date.UTC(2040, 0, 1);

export async function benchAppends(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  const fill = async (tapedeck: Tapedeck): Promise<readonly string[]> => {
    await fillDaily(tapedeck, folder, DATASET, rows);
    await appendYear(tapedeck);
    return listFiles(tapedeck, DATASET);
  };
  // Upkeep runs after each append instead of by timers: in a real day there is enough time for it.
  const { content: files, server } = await serveFilled(join(folder, 'appends'), {}, fill, false);
  await using stack = new AsyncDisposableStack();
  stack.use(server);
  const [client, bare] = [stack.use(openClient()), stack.use(openBareReader())];
  const one = join(folder, 'one.parquet');
  await bareDuckDb(`COPY (SELECT symbol, date, close, volume FROM read_parquet(${sqlList(files)})
    ORDER BY symbol, date) TO '${one}' (FORMAT parquet, COMPRESSION zstd)`);
  const ratios: Ratio[] = [];
  for (const last of LASTS) {
    const ours = (keys: readonly string[]): Promise<Measurement> =>
      coldReads({ client, server, dataset: DATASET }, last, keys);
    ratios.push(...(await measure(ours, bare, { files, one }, last, pairs)));
  }
  const summary = `${rows} stored, ${APPENDS} appends of ${SYMBOLS}, ${files.length} files`;
  return ratios.map((ratio) => ({ ...ratio, bench: `${ratio.bench}, ${summary}` }));
}

const sqlList = (files: readonly string[]): string =>
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
    await upkeep.compactChanged();
    await upkeep.expireVersions();
  }
}

async function measure(
  ours: (keys: readonly string[]) => Promise<Measurement>,
  bare: BareReader,
  { files, one }: { readonly files: readonly string[]; readonly one: string },
  last: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  const rounds: { ours: Measurement; same: Measurement; single: Measurement }[] = [];
  for (let pair = 0; pair <= pairs; pair += 1) {
    const keys = roundKeys(pair);
    const round = {
      ours: await ours(keys),
      same: await bare.read({ files, last, keys }),
      single: await bare.read({ files: [one], last, keys }),
    };
    if (pair > 0) rounds.push(round);
  }
  const against = (side: 'same' | 'single', name: string, target: string): Ratio => {
    const bench = { name: `series after appends, last ${last}, against ${name}`, target, pairs };
    const sidePairs = rounds.map((round) => ({ ours: round.ours, bare: round[side] }));
    return { ...invertRatio(computeRatio(bench, sidePairs)), note: READ_NOTE };
  };
  return [
    against('same', 'bare DuckDB over the same files', '<= 1.5 (our time / bare time)'),
    against('single', 'bare DuckDB over one file', '<= 2 (our time / bare time)'),
  ];
}
