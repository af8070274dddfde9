// Measures the p99 of hot reads beside heavy work of another kind: a backtest, charts, indicators, a load.
// The event loop computes none of it, so that readers notice only the use of the processors.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tapedeck } from '../../app/main.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { computeRatio, type Pair, type Ratio } from '../base/measure.ts';
import { fillDaily, findToken, symbolOf } from '../base/stored.ts';
import { byP99, type Client, openClient } from '../http/clientProcess.ts';
import { getRequests } from '../http/order.ts';
import { type BenchServer, serveFilled } from '../http/server.ts';
import { readPaths, warmCache } from './hotReads.ts';

const SYMBOLS = 200;
const DAYS = 2_500;
/** Symbols with minutes, and their days. */
const BACKTESTED = 10;
const MINUTE_DAYS = 31;
const MINUTES = 390;
const SECONDS = 4;
/** Few, so that the client itself leaves the processors free. */
const CONNECTIONS = 4;
const FIRST_DAY = '2025-01-06';

/** Starts requests in a loop until it is stopped. */
type HeavyWork = (client: Client, server: BenchServer) => Promise<unknown>;

export async function benchHeavyWork(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  const place = join(folder, 'heavy');
  const { server } = await serveFilled(place, {}, async (tapedeck) => {
    await fillDaily(tapedeck, folder, 'D', SYMBOLS * DAYS, SYMBOLS);
    await fillMarket(tapedeck);
  });
  await using _server = server;
  const file = join(folder, 'heavy.csv');
  await writeFile(file, manyRows(rows));
  const works: readonly (readonly [name: string, work: HeavyWork])[] = [
    ['a full backtest', backtest],
    ['charts', charts],
    ['indicators', indicators],
    [`a load of ${rows} rows`, load(file)],
  ];
  await using reader = openClient();
  await using worker = openClient();
  const token = server.publishable;
  const paths = readPaths({ dataset: 'D', symbols: SYMBOLS, records: 30, days: DAYS, token });
  await warmCache(reader, server, paths);
  const ratios: Ratio[] = [];
  for (const [name, work] of works) {
    const rounds: Pair[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      const bare = byP99(await read(reader, server, paths));
      const heavy = new AbortController();
      const running = repeat(() => work(worker, server), heavy.signal);
      rounds.push({ ours: byP99(await read(reader, server, paths)), bare });
      heavy.abort();
      await running;
    }
    const bench = { name: `p99 of hot reads alone, to beside ${name}`, target: '>= 0.5', pairs };
    ratios.push(computeRatio(bench, rounds));
  }
  return ratios;
}

const read: (
  client: Client,
  server: BenchServer,
  paths: readonly string[],
) => ReturnType<Client['drive']> = (client, server, paths) =>
  client.drive(server, {
    requests: getRequests(paths),
    connections: CONNECTIONS,
    seconds: SECONDS,
  });

async function repeat(work: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await work();
}

const backtest: HeavyWork = (client, server) => {
  const body = JSON.stringify({
    ruleSet: 'ANYEVENT',
    ruleName: 'above',
    symbols: Array.from({ length: BACKTESTED }, (_, at) => symbolOf(at)),
    from: FIRST_DAY,
    to: dayAfter(MINUTE_DAYS - 1),
    step: 'minute',
    conditions: [['latestPrice', '>', 100]],
  });
  const path = `/v1/rules/backtest?token=${server.secret}`;
  return client.drive(server, {
    requests: [{ path, method: 'POST', body }],
    connections: 1,
    count: 1,
  });
};

const charts: HeavyWork = (client, server) => {
  const path = `/v1/data/WS/D/${symbolOf(3)}?last=2000&format=png&token=${server.secret}`;
  return client.drive(server, { requests: getRequests([path]), connections: 4, count: 16 });
};

let period = 0;
const indicators: HeavyWork = (client, server) => {
  // Each one is computed anew, and answers one bar.
  const paths = Array.from({ length: 16 }, () => {
    const options = `range=max&lastIndicator=true&input1=${100 + (period++ % 400)}`;
    return `/v1/stock/${symbolOf(1)}/indicator/aroon?${options}&token=${server.secret}`;
  });
  return client.drive(server, { requests: getRequests(paths), connections: 4, count: 16 });
};

const load =
  (file: string): HeavyWork =>
  (client, server) => {
    const path = `/v1/data/WS/LOADED?wait=true&overwrite=true&token=${server.secret}`;
    return client.drive(server, {
      requests: [{ path, method: 'POST', file }],
      connections: 1,
      count: 1,
    });
  };

const dayAfter = (days: number, first = FIRST_DAY): string =>
  new Date(Date.parse(first) + days * 86_400_000).toISOString().slice(0, 10);

/** Loads daily prices and minutes of some symbols as market data. */
async function fillMarket(tapedeck: Tapedeck): Promise<void> {
  const daily = ['symbol,date,open,high,low,close,volume'];
  const minutes = ['symbol,date,minute,open,high,low,close,volume'];
  for (let symbol = 0; symbol < BACKTESTED; symbol += 1) {
    for (let day = 0; day < DAYS; day += 1) {
      const date = dayAfter(day - DAYS + MINUTE_DAYS);
      daily.push(`${symbolOf(symbol)},${date},100,102,98,${100 + Math.sin(day)},1000`);
    }
    for (let at = 0; at < MINUTE_DAYS * MINUTES; at += 1) {
      const date = dayAfter(Math.floor(at / MINUTES));
      const clock = new Date((9 * 60 + 30 + (at % MINUTES)) * 60_000).toISOString().slice(11, 16);
      minutes.push(`${symbolOf(symbol)},${date},${clock},100,102,98,${100 + Math.sin(at)},10`);
    }
  }
  await post(tapedeck, 'HISTORICAL_PRICES', daily);
  await post(tapedeck, 'INTRADAY_PRICES', minutes);
}

async function post(tapedeck: Tapedeck, input: string, lines: readonly string[]): Promise<void> {
  const token = await findToken(tapedeck, 'secret');
  const url = `${tapedeck.base}/v1/data/${CORE}/${input}?wait=true&token=${token}`;
  const answer = await fetch(url, { method: 'POST', body: `${lines.join('\n')}\n` });
  if (!answer.ok) throw new Error(await answer.text());
}

function manyRows(rows: number): string {
  const lines = ['symbol,date,close'];
  for (let at = 0; at < rows; at += 1) {
    lines.push(`${symbolOf(at % 5_000)},${dayAfter(Math.floor(at / 5_000), '2000-01-01')},${at}`);
  }
  return `${lines.join('\n')}\n`;
}
