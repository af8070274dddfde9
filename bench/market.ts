// Market types over HTTP: quote, price and a year of adjusted bars in memory against bare Fastify, and
// batches of 100 symbols and ten types, from memory and from the files.
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import type { Tapedeck } from '../app/main.ts';
import { dayIn } from '../query/time/dates.ts';
import { addDays } from '../query/time/days.ts';
import { sessionsBetween } from '../query/time/calendar.ts';
import { bareFastify, measure } from './hot/bareFastify.ts';
import { PATHS, warm, zipfKey } from './hot/hotReads.ts';
import { median, p99, type Ratio, rounded, timed } from './measure.ts';
import { startBench, symbolOf, tokenOf } from './stored.ts';

const SYMBOLS = 1_000;
/** Calendar days of bars: two years. */
const DAYS = 730;
const HOT: readonly (readonly [name: string, path: string, target: string])[] = [
  ['quote', '/stock/{symbol}/quote', '>= 0.6'],
  ['price', '/stock/{symbol}/price', '>= 0.6'],
  ['chart 1y', '/stock/{symbol}/chart/1y', '>= 0.5'],
  ['data point', '/data-points/{symbol}/QUOTE-LATESTPRICE', '>= 0.6'],
];
/** Securities that are searched, and how often. */
const SECURITIES = 100_000;
const SEARCHES = 1_000;
const TYPES = 'quote,price,delayed-quote,ohlc,previous,book,stats,chart,historical-prices,company';
const IN_BATCH = 100;
const BATCHES = 100;

export async function benchMarket(
  folder: string,
  pairs: number,
): Promise<readonly (Ratio | string)[]> {
  const tapedeck = await startBench(join(folder, 'market'), {
    TAPEDECK_CACHE_BYTES: String(1024 ** 3),
  });
  try {
    await fill(tapedeck);
    const token = await tokenOf(tapedeck, 'publishable');
    const cold = await batches(tapedeck, token, 'cold');
    const hot = await batches(tapedeck, token, 'hot');
    const ratios: Ratio[] = [];
    for (const [name, path, target] of HOT) {
      const paths = Array.from({ length: PATHS }, (_, at) => {
        return `/v1${path.replace('{symbol}', zipfKey(at, SYMBOLS))}?token=${token}`;
      });
      const list = join(folder, `market-${name.replace(' ', '-')}`);
      await writeFile(list, paths.join('\n'));
      await warm(tapedeck.base, paths);
      const bare = await bareFastify(`${tapedeck.base}${paths[0] ?? ''}`);
      const port = Number(new URL(tapedeck.base).port);
      const asked = { name: `hot ${name}`, paths, list, pairs };
      const told = `${target} of bare Fastify's answers a second`;
      ratios.push(await measure([port, bare.port], asked, told));
      await bare.close();
    }
    return [cold, hot, ...ratios, await searches(tapedeck, token)];
  } finally {
    await tapedeck.close();
  }
}

async function load({ base, services }: Tapedeck, dataset: string, csv: string): Promise<void> {
  const tokens = await services.accounts.tokens();
  const secret = tokens.find(({ text }) => text.startsWith('sk_'))?.text ?? '';
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
  await load(tapedeck, 'HISTORICAL_PRICES', `${rows.join('\n')}\n`);
  await load(tapedeck, 'COMPANY', `${companies.join('\n')}\n`);
  await load(tapedeck, 'DIVIDENDS', `${dividends.join('\n')}\n`);
  await load(tapedeck, 'SPLITS', `symbol,exDate,fromFactor,toFactor\nS0001,${days[300]},1,2\n`);
}

/** One after the other; cold: none of the symbols was asked for before. */
async function batches(tapedeck: Tapedeck, token: string, kind: 'cold' | 'hot'): Promise<string> {
  const count = kind === 'cold' ? SYMBOLS / IN_BATCH : BATCHES;
  const times: number[] = [];
  // What is hot was asked for before.
  for (let at = kind === 'hot' ? -1 : 0; at < count; at += 1) {
    const first = ((at * IN_BATCH) % SYMBOLS) * (kind === 'cold' ? 1 : 0);
    const symbols = Array.from({ length: IN_BATCH }, (_, place) => symbolOf(first + place)).join();
    const url = `${tapedeck.base}/v1/stock/market/batch?symbols=${symbols}&types=${TYPES}&token=${token}`;
    const ms = await timed(async () => {
      const answer = await fetch(url);
      const text = await answer.text();
      if (!answer.ok) throw new Error(text);
    });
    if (at >= 0) times.push(ms);
  }
  return JSON.stringify({
    bench: `batch of ${IN_BATCH} symbols x 10 types, ${kind}`,
    target: kind === 'hot' ? 'p99 <= 50 ms' : 'p99 <= 400 ms',
    p50: rounded(median(times)),
    p99: rounded(p99(times)),
    batches: count,
  });
}

const SYLLABLES = ['ac', 'bel', 'cor', 'dan', 'el', 'fin', 'gra', 'hol', 'in', 'jo', 'kar', 'lim'];

/** Made of four syllables, so that fragments have some hits and not all. */
const nameOf = (at: number): string =>
  [1, 12, 144, 1_728].map((step) => SYLLABLES[Math.floor(at / step) % 12] ?? '').join('');

/** One after the other: symbols, beginnings of names, and names with a letter too few. */
async function searches(tapedeck: Tapedeck, token: string): Promise<string> {
  const rows = Array.from({ length: SECURITIES }, (_, at) => `Z${at},${nameOf(at)} ${at} Inc,XNYS`);
  await load(tapedeck, 'SYMBOLS', `symbol,name,exchange\n${rows.join('\n')}\n`);
  const times: number[] = [];
  for (let at = -10; at < SEARCHES; at += 1) {
    const of = Math.abs(at * 7_919) % SECURITIES;
    const text = [`Z${of}`, nameOf(of).slice(0, 5), nameOf(of).replace('l', '')][of % 3] ?? '';
    const ms = await timed(async () => {
      const answer = await fetch(`${tapedeck.base}/v1/search/${text}?token=${token}`);
      if (!answer.ok) throw new Error(await answer.text());
      await answer.arrayBuffer();
    });
    if (at >= 0) times.push(ms);
  }
  return JSON.stringify({
    bench: `search of ${SECURITIES} securities`,
    target: 'p99 <= 10 ms',
    p50: rounded(median(times)),
    p99: rounded(p99(times)),
    searches: SEARCHES,
  });
}
