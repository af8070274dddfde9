// Days of the market as they come: years of all symbols into the input against the same file into a
// dataset of no meaning, and one new day of all symbols with little and with much stored before it.
// Figures of symbols are computed when they are asked for: so keeping them current is asked for, too.
import { createReadStream, createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Tapedeck } from '../app/main.ts';
import { addDays } from '../query/time/days.ts';
import { sessionsBetween } from '../query/time/calendar.ts';
import { rounded, timed } from './measure.ts';
import { startBench, symbolOf, SYMBOLS, tokenOf } from './stored.ts';

const FIRST = '2008-01-02';
/** The sessions of 15 years. */
const DAYS = 3_780;
const HEAD = 'symbol,date,open,high,low,close,volume\n';

/** @param rows of the years that are loaded; 5,000 symbols have 18.9 million */
export async function benchMarketLoads(folder: string, rows: number): Promise<readonly string[]> {
  const tapedeck = await startBench(join(folder, 'loads'));
  try {
    const token = await tokenOf(tapedeck, 'secret');
    const days = sessionsBetween(FIRST, addDays(FIRST, 365 * 16)).slice(0, DAYS);
    const symbols = Math.max(1, Math.round(rows / DAYS));
    const years = await written(join(folder, 'years.csv'), symbols, days);
    const load = (dataset: string, path: string): Promise<number> =>
      timed(() => loaded(tapedeck, token, dataset, path));
    const newDay = async (at: number): Promise<number> => {
      const path = await written(join(folder, `day-${at}.csv`), SYMBOLS, [
        addDays('2025-01-06', at),
      ]);
      const ms = await load('CORE/HISTORICAL_PRICES', path);
      return ms + (await timed(() => asked(tapedeck, token)));
    };
    await newDay(0);
    const little = Math.min(await newDay(1), await newDay(2), await newDay(3));
    const plain = await load('WS/PLAIN', years);
    const input = await load('CORE/HISTORICAL_PRICES', years);
    await newDay(4);
    const much = Math.min(await newDay(5), await newDay(6), await newDay(7));
    return [
      JSON.stringify({
        bench: `${symbols} symbols x ${days.length} days into the input, of the same file into a dataset`,
        target: '<= 1.3',
        ratio: rounded(input / plain),
        inputMs: rounded(input),
        plainMs: rounded(plain),
      }),
      JSON.stringify({
        bench: `a new day of ${SYMBOLS} symbols and its first quotes, after ${symbols * days.length} records`,
        target: 'costs with the day: near 1 of the same after few records',
        ratio: rounded(much / little),
        muchMs: rounded(much),
        littleMs: rounded(little),
      }),
    ];
  } finally {
    await tapedeck.close();
  }
}

async function written(path: string, symbols: number, days: readonly string[]): Promise<string> {
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

async function loaded({ base }: Tapedeck, token: string, dataset: string, path: string) {
  const index = dataset.startsWith('WS') ? '&key=symbol&date=date' : '';
  const url = `${base}/v1/data/${dataset}?wait=true${index}&token=${token}`;
  const body = Readable.toWeb(createReadStream(path)) as ReadableStream;
  const answer = await fetch(url, { method: 'POST', body, duplex: 'half' } as RequestInit);
  if (!answer.ok) throw new Error(await answer.text());
  await answer.text();
}

/** Quote and stats of ten symbols, which the day has changed. */
async function asked({ base }: Tapedeck, token: string): Promise<void> {
  const symbols = Array.from({ length: 10 }, (_, at) => symbolOf(at * 7)).join();
  const url = `${base}/v1/stock/market/batch?symbols=${symbols}&types=quote,stats&token=${token}`;
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(await answer.text());
  await answer.text();
}
