// `npm run bench [name] [rows] [pairs]`: one JSON line for each ratio, or a table.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchAppends } from './series/appends.ts';
import { benchCaptures } from './market/captures.ts';
import { benchBursts } from './series/bursts.ts';
import { benchCatalogs } from './lake/catalogs.ts';
import { benchClusterSim } from './cluster/clusterSim.ts';
import { benchLeases } from './cluster/times/leaseTimes.ts';
import { benchRemoteExecution } from './cluster/times/remoteExecution.ts';
import { benchOwnReads } from './cluster/times/twoNodeReads.ts';
import { benchConsole } from './console.ts';
import { benchDatasets } from './lake/datasets.ts';
import { benchHeavyWork } from './hot/heavyWork.ts';
import { benchHot } from './hot/hot.ts';
import { benchIngest } from './lake/ingest.ts';
import type { Ratio } from './base/measure.ts';
import { benchLife } from './lake/life.ts';
import { benchMarket } from './market/market.ts';
import { benchMarketLoads } from './market/marketLoads.ts';
import { benchMoney } from './money.ts';
import { benchRules } from './rules/rules.ts';
import { benchRuleServing } from './rules/ruleServing.ts';
import { benchSeries } from './series/series.ts';
import { benchSizes } from './series/sizes.ts';
import { benchSql } from './sql/sql.ts';
import { benchStart } from './start.ts';
import { benchStreamDay } from './streams/streamDay.ts';
import { benchStreams } from './streams/streams.ts';

type Bench = (folder: string, rows: number, pairs: number) => Promise<readonly (Ratio | string)[]>;

/** Name, rows and pairs of a full run (DESIGN.md "Speed of light"). */
const BENCHES: readonly (readonly [string, Bench, number, number])[] = [
  ['ingest', benchIngest, 5_000_000, 7],
  ['series', benchSeries, 20_000_000, 7],
  ['hot', benchHot, 20_000_000, 7],
  ['heavy', benchHeavyWork, 5_000_000, 5],
  ['life', benchLife, 20_000_000, 7],
  ['appends', benchAppends, 20_000_000, 7],
  ['bursts', (place, rows) => benchBursts(place, rows), 2_000_000, 1],
  ['sizes', benchSizes, 20_000_000, 7],
  ['datasets', (place, _rows, times) => benchDatasets(place, times), 0, 3],
  ['sql', benchSql, 20_000_000, 7],
  ['start', (place, _rows, times) => benchStart(place, times), 0, 7],
  ['console', (place, _rows, times) => benchConsole(place, times), 0, 7],
  ['market', (place, _rows, times) => benchMarket(place, times), 0, 7],
  ['market-loads', (place, rows) => benchMarketLoads(place, rows), 18_900_000, 1],
  ['streams', (place, _rows, times) => benchStreams(place, times), 0, 5],
  ['stream-day', (place, _rows, times) => benchStreamDay(place, times), 0, 7],
  ['captures', (place, _rows, times) => benchCaptures(place, times), 0, 5],
  ['rules', (_place, _rows, times) => benchRules(times), 0, 7],
  ['rule-serving', (place, _rows, times) => benchRuleServing(place, times), 0, 7],
  ['catalogs', (place, _rows, times) => benchCatalogs(place, times), 0, 5],
  ['cluster-sim', (place, rows) => benchClusterSim(place, rows), 500_000, 1],
  ['leases', (place) => benchLeases(place), 0, 1],
  ['remote', benchRemoteExecution, 500_000, 5],
  ['own-reads', benchOwnReads, 500_000, 5],
  ['money', (place, _rows, times) => benchMoney(place, times), 0, 7],
];

const [selectedName, rows, pairs] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'tapedeck-bench-'));
try {
  for (const [name, bench, fullRows, fullPairs] of BENCHES) {
    if (selectedName !== undefined && selectedName !== name) continue;
    const ratios = await bench(folder, Number(rows ?? fullRows), Number(pairs ?? fullPairs));
    for (const ratio of ratios) {
      process.stdout.write(`${typeof ratio === 'string' ? ratio : JSON.stringify(ratio)}\n`);
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
