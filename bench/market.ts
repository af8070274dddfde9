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
const HOT: readonly (readonly [type: string, target: string])[] = [
  ['quote', '>= 0.6'],
  ['price', '>= 0.6'],
  ['chart/1y', '>= 0.5'],
];
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
    for (const [type, target] of HOT) {
      const paths = Array.from({ length: PATHS }, (_, at) => {
        return `/v1/stock/${zipfKey(at, SYMBOLS)}/${type}?token=${token}`;
      });
      const list = join(folder, `market-${type.replace('/', '-')}`);
      await writeFile(list, paths.join('\n'));
      await warm(tapedeck.base, paths);
      const bare = await bareFastify(`${tapedeck.base}${paths[0] ?? ''}`);
      const port = Number(new URL(tapedeck.base).port);
      const asked = { name: `hot ${type}`, paths, list, pairs };
      const told = `${target} of bare Fastify's answers a second`;
      ratios.push(await measure([port, bare.port], asked, told));
      await bare.close();
    }
    return [cold, hot, ...ratios];
  } finally {
    await tapedeck.close();
  }
}

async function fill({ base, services }: Tapedeck): Promise<void> {
  const today = dayIn(Date.now(), services.settings.zone);
  const days = sessionsBetween(addDays(today, -DAYS), addDays(today, -1));
  const [{ text: secret = '' } = {}] = (await services.accounts.tokens()).filter(({ text }) =>
    text.startsWith('sk_'),
  );
  const load = async (dataset: string, csv: string): Promise<void> => {
    const url = `${base}/v1/data/CORE/${dataset}?wait=true&token=${secret}`;
    const answer = await fetch(url, { method: 'POST', body: csv });
    if (!answer.ok) throw new Error(await answer.text());
  };
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
  await load('HISTORICAL_PRICES', `${rows.join('\n')}\n`);
  await load('COMPANY', `${companies.join('\n')}\n`);
  await load('DIVIDENDS', `${dividends.join('\n')}\n`);
  await load('SPLITS', `symbol,exDate,fromFactor,toFactor\nS0001,${days[300]},1,2\n`);
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
