// Measures market loads: years of all symbols into the market's input against the same file into an ordinary
// dataset, and one new day of all symbols with few and with many stored records. The new day includes reads,
// because the figures of symbols are computed on request.
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { addDays } from '../../query/time/days.ts';
import { sessionsBetween } from '../../query/time/calendar.ts';
import { type Client, openClient } from '../http/clientProcess.ts';
import type { RequestSpec } from '../http/order.ts';
import { type BenchServer, serveFilled } from '../http/server.ts';
import { invertRatio, type Ratio, computeRatio, type Measurement } from '../base/measure.ts';
import { symbolOf, SYMBOLS } from '../base/stored.ts';

const FIRST = '2008-01-02';
/** Sessions in 15 years. */
const DAYS = 3_780;
const HEAD = 'symbol,date,open,high,low,close,volume\n';

/** @param rows number of rows to load; 5,000 symbols have 18.9 million */
export async function benchMarketLoads(folder: string, rows: number): Promise<readonly Ratio[]> {
  const nothing = async (): Promise<void> => undefined;
  const { server } = await serveFilled(join(folder, 'loads'), {}, nothing);
  await using stack = new AsyncDisposableStack();
  stack.use(server);
  const client = stack.use(openClient());
  const days = sessionsBetween(FIRST, addDays(FIRST, 365 * 16)).slice(0, DAYS);
  const symbols = Math.max(1, Math.round(rows / DAYS));
  const years = await writeCsv(join(folder, 'years.csv'), symbols, days);
  const load = (dataset: string): Promise<Measurement> =>
    driveAll(client, server, [loadRequest(server, dataset, years)]);
  const newDay = async (at: number): Promise<Measurement> => {
    const day = [addDays('2025-01-06', at)];
    const path = await writeCsv(join(folder, `day-${at}.csv`), SYMBOLS, day);
    const requests = [loadRequest(server, 'CORE/HISTORICAL_PRICES', path), quotesRequest(server)];
    return driveAll(client, server, requests);
  };
  await newDay(0);
  const little = quickest([await newDay(1), await newDay(2), await newDay(3)]);
  const plain = await load('WS/PLAIN');
  const input = await load('CORE/HISTORICAL_PRICES');
  await newDay(4);
  const much = quickest([await newDay(5), await newDay(6), await newDay(7)]);
  const size = `${symbols} symbols x ${days.length} days`;
  const loadBench = {
    name: `${size} into the input, of the same file into a dataset`,
    target: '<= 1.3',
    pairs: 1,
  };
  const newDayBench = {
    name: `a new day of ${SYMBOLS} symbols and its first quotes, after ${symbols * days.length} records`,
    target: 'costs with the day: near 1 of the same after few records',
    pairs: 1,
  };
  return [
    invertRatio(computeRatio(loadBench, [{ ours: input, bare: plain }])),
    invertRatio(computeRatio(newDayBench, [{ ours: much, bare: little }])),
  ];
}

const quickest = (rounds: readonly Measurement[]): Measurement =>
  rounds.reduce((best, round) => (round.ms < best.ms ? round : best));

/** Sends requests sequentially and measures them as one. */
async function driveAll(
  client: Client,
  server: BenchServer,
  requests: readonly RequestSpec[],
): Promise<Measurement> {
  const count = requests.length;
  const driven = await client.drive(server, { requests, connections: 1, count });
  return {
    ms: driven.tookMs,
    times: [driven.tookMs],
    cpuMs: driven.serverCpuMs,
    clientCpuMs: driven.cpuMs,
  };
}

async function writeCsv(path: string, symbols: number, days: readonly string[]): Promise<string> {
  const out = createWriteStream(path);
  out.write(HEAD);
  for (let at = 0; at < symbols; at += 1) {
    const lines = days.map((day, place) => {
      const close = 100 + ((at * 31 + place * 17) % 997) / 10;
      return `${symbolOf(at)},${day},${close},${close + 1},${close - 1},${close},${1_000 + place}\n`;
    });
    if (!out.write(lines.join(''))) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
  return path;
}

function loadRequest({ secret }: BenchServer, dataset: string, file: string): RequestSpec {
  const index = dataset.startsWith('WS') ? '&key=symbol&date=date' : '';
  return { path: `/v1/data/${dataset}?wait=true${index}&token=${secret}`, method: 'POST', file };
}

/** Builds a request for quote and stats of ten symbols that the new day changed. */
function quotesRequest({ secret }: BenchServer): RequestSpec {
  const symbols = Array.from({ length: 10 }, (_, at) => symbolOf(at * 7)).join();
  const query = `symbols=${symbols}&types=quote,stats&token=${secret}`;
  return { path: `/v1/stock/market/batch?${query}` };
}
