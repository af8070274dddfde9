// Measures market types over HTTP: quote, price and a year of adjusted bars in memory against bare Fastify,
// and batches of 100 symbols and ten types from memory and from files.
import { join } from 'node:path';
import type { Tapedeck } from '../../app/main.ts';
import { dayIn } from '../../query/time/dates.ts';
import { addDays } from '../../query/time/days.ts';
import { sessionsBetween } from '../../query/time/calendar.ts';
import { bareFastify, measure } from '../hot/bareFastify.ts';
import { PATHS, readAllOnce, zipfKey } from '../hot/hotReads.ts';
import { byMedian, type Client, openClient } from '../http/clientProcess.ts';
import { getRequests } from '../http/order.ts';
import { type BenchServer, serveFilled } from '../http/server.ts';
import { formatLine, type Ratio } from '../base/measure.ts';
import { symbolOf, findToken } from '../base/stored.ts';

const SYMBOLS = 1_000;
/** Calendar days of bars: two years. */
const DAYS = 730;
const HOT: readonly (readonly [name: string, path: string, target: string])[] = [
  ['quote', '/stock/{symbol}/quote', '>= 0.6'],
  ['price', '/stock/{symbol}/price', '>= 0.6'],
  ['chart 1y', '/stock/{symbol}/chart/1y', '>= 0.5'],
  ['data point', '/data-points/{symbol}/QUOTE-LATESTPRICE', '>= 0.6'],
];
/** Number of securities to search. */
const SECURITIES = 100_000;
const SEARCHES = 1_000;
const TYPES = 'quote,price,delayed-quote,ohlc,previous,book,stats,chart,historical-prices,company';
const IN_BATCH = 100;
const BATCHES = 100;

export async function benchMarket(
  folder: string,
  pairs: number,
): Promise<readonly (Ratio | string)[]> {
  const settings = { TAPEDECK_CACHE_BYTES: String(1024 ** 3) };
  const { server } = await serveFilled(join(folder, 'market'), settings, fill);
  await using stack = new AsyncDisposableStack();
  stack.use(server);
  const client = stack.use(openClient());
  const cold = await batches(client, server, 'cold');
  const hot = await batches(client, server, 'hot');
  const ratios: Ratio[] = [];
  for (const [name, path, target] of HOT) {
    const paths = Array.from({ length: PATHS }, (_, at) => {
      return `/v1${path.replace('{symbol}', zipfKey(at, SYMBOLS))}?token=${server.publishable}`;
    });
    await readAllOnce(client, server, paths);
    await using bare = await bareFastify(`${server.base}${paths[0] ?? ''}`);
    const targetText = `${target} of bare Fastify's answers a second`;
    const plan = { name: `hot ${name}`, paths, pairs };
    ratios.push(await measure(client, [server, bare], plan, targetText));
  }
  return [cold, hot, ...ratios, await searches(client, server)];
}

async function load(
  { base, secret }: Pick<BenchServer, 'base' | 'secret'>,
  dataset: string,
  csv: string,
): Promise<void> {
  const url = `${base}/v1/data/CORE/${dataset}?wait=true&token=${secret}`;
  const answer = await fetch(url, { method: 'POST', body: csv });
  if (!answer.ok) throw new Error(await answer.text());
}

async function fill(tapedeck: Tapedeck): Promise<void> {
  const { services } = tapedeck;
  const today = dayIn(Date.now(), services.settings.zone);
  const days = sessionsBetween(addDays(today, -DAYS), addDays(today, -1));
  const rows = ['symbol,date,open,high,low,close,volume'];
  const companies = ['symbol,companyName,sector,sharesOutstanding,ttmEPS'];
  const dividends = ['symbol,exDate,refid,amount'];
  for (let at = 0; at < SYMBOLS; at += 1) {
    const symbol = symbolOf(at);
    companies.push(`${symbol},Company ${at},Technology,${1_000_000 + at},${1 + (at % 7)}`);
    for (const [place, day] of days.entries()) {
      const close = 100 + ((at * 31 + place * 17) % 997) / 10;
      rows.push(`${symbol},${day},${close},${close + 1},${close - 1},${close},${1_000 + place}`);
      if (place % 63 === 5) dividends.push(`${symbol},${day},1,0.25`);
    }
  }
  const endpoint = { base: tapedeck.base, secret: await findToken(tapedeck, 'secret') };
  await load(endpoint, 'HISTORICAL_PRICES', `${rows.join('\n')}\n`);
  await load(endpoint, 'COMPANY', `${companies.join('\n')}\n`);
  await load(endpoint, 'DIVIDENDS', `${dividends.join('\n')}\n`);
  await load(endpoint, 'SPLITS', `symbol,exDate,fromFactor,toFactor\nS0001,${days[300]},1,2\n`);
}

/** Requests batches sequentially; cold batches have symbols that were not requested before. */
async function batches(client: Client, server: BenchServer, kind: 'cold' | 'hot'): Promise<string> {
  const count = kind === 'cold' ? SYMBOLS / IN_BATCH : BATCHES;
  const buildPath = (first: number): string => {
    const symbols = Array.from({ length: IN_BATCH }, (_, place) => symbolOf(first + place)).join();
    const query = `symbols=${symbols}&types=${TYPES}&token=${server.publishable}`;
    return `/v1/stock/market/batch?${query}`;
  };
  const firsts = Array.from({ length: count }, (_, at) => (kind === 'cold' ? at * IN_BATCH : 0));
  const plan = { requests: getRequests(firsts.map(buildPath)), connections: 1 };
  // Fills the cache for hot batches.
  if (kind === 'hot') await client.drive(server, { ...plan, count: 1 });
  const measurement = byMedian(await client.drive(server, { ...plan, count }));
  const target = kind === 'hot' ? 'p99 <= 50 ms' : 'p99 <= 400 ms';
  const bench = `batch of ${IN_BATCH} symbols x 10 types, ${kind}`;
  return formatLine(bench, target, measurement, { batches: count });
}

const SYLLABLES = ['ac', 'bel', 'cor', 'dan', 'el', 'fin', 'gra', 'hol', 'in', 'jo', 'kar', 'lim'];

/** Builds a name of four syllables, so that fragments match some names but not all. */
const buildName = (at: number): string =>
  [1, 12, 144, 1_728].map((step) => SYLLABLES[Math.floor(at / step) % 12] ?? '').join('');

/** Searches sequentially for symbols, prefixes of names, and names with a missing letter. */
async function searches(client: Client, server: BenchServer): Promise<string> {
  const rows = Array.from(
    { length: SECURITIES },
    (_, at) => `Z${at},${buildName(at)} ${at} Inc,XNYS`,
  );
  await load(server, 'SYMBOLS', `symbol,name,exchange\n${rows.join('\n')}\n`);
  const buildPath = (at: number): string => {
    const of = (at * 7_919) % SECURITIES;
    const text =
      [`Z${of}`, buildName(of).slice(0, 5), buildName(of).replace('l', '')][of % 3] ?? '';
    return `/v1/search/${text}?token=${server.publishable}`;
  };
  const requests = getRequests(Array.from({ length: SEARCHES }, (_, at) => buildPath(at)));
  // The first searches load the names into memory.
  await client.drive(server, { requests, connections: 1, count: 10 });
  const measurement = byMedian(
    await client.drive(server, { requests, connections: 1, count: SEARCHES }),
  );
  const bench = `search of ${SECURITIES} securities`;
  return formatLine(bench, 'p99 <= 10 ms', measurement, { searches: SEARCHES });
}
