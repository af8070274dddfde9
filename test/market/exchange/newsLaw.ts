// Properties of the news of an exchange with any seed: read back from its CSV, and compared with its bars and
// corporate actions.
import { EXCHANGE } from '../../../market/exchange/exchange.ts';
import type { FilledId } from '../../../market/inputs/inputRow.ts';
import { addDays } from '../../../query/time/days.ts';
import { grouped, rowsOf } from './exchangeLaw.ts';

type Row = ReturnType<typeof rowsOf>[number];

interface NewsReport {
  readonly failures: readonly string[];
  readonly stories: number;
}

/** Checks `count` exchanges of a few symbols each, at an hour of some day between 2012 and 2029. */
export function newsLaw(count: number, seed: number): NewsReport {
  const failures: string[] = [];
  let stories = 0;
  for (let round = 0; round < count; round += 1) {
    const own = seed * 1_000 + round;
    const day = addDays('2012-01-03', (own * 6_011) % 6_300);
    const nowMs = Date.parse(`${day}T${String(10 + (own % 14)).padStart(2, '0')}:41:00Z`);
    const fail = (what: string): number => failures.push(`seed ${own} at ${day}: ${what}`);
    const shape = { ...EXCHANGE, seed: own, symbols: 6 };
    const read = (input: FilledId, atMs = nowMs): readonly Row[] => rowsOf(input, shape, atMs);
    const news = read('NEWS');
    stories += news.length;
    if (new Set(news.map(({ uuid }) => uuid)).size !== news.length) fail('an id is not unique');
    if (news.some(({ datetime = '' }) => !(Date.parse(datetime) <= nowMs))) fail('of the future');
    if (grouped(news, 'symbol').size !== grouped(read('HISTORICAL_PRICES'), 'symbol').size) {
      fail('a symbol without news');
    }
    checkNumbers(news, read('HISTORICAL_PRICES'), read('DIVIDENDS'), fail);
    // Two days later earlier stories have the same words.
    const later = new Map(read('NEWS', nowMs + 2 * 86_400_000).map((row) => [row['uuid'], row]));
    for (const row of news) {
      const same = later.get(row['uuid']);
      if (same !== undefined && JSON.stringify(same) !== JSON.stringify(row)) {
        fail(`${row['headline']} became ${same['headline']}`);
      }
    }
  }
  return { failures, stories };
}

function checkNumbers(
  news: readonly Row[],
  bars: readonly Row[],
  dividends: readonly Row[],
  fail: (what: string) => void,
): void {
  const [days, declared] = [
    grouped(bars, 'symbol', 'date'),
    grouped(dividends, 'symbol', 'declaredDate'),
  ];
  for (const { datetime = '', headline = '', symbol } of news) {
    const place = `${symbol} ${datetime.slice(0, 10)}`;
    const price = Number(/ (?:to|at|of) \$([\d.]+)(?: a share)?$/.exec(headline)?.[1]);
    if (/ (?:rises|falls|ends) /.test(headline)) {
      if (Number(days.get(place)?.[0]?.['close']) !== price) fail(`${place}: ${headline}`);
    } else if (headline.includes(' declares ')) {
      if (Number(declared.get(place)?.[0]?.['amount']) !== price) fail(`${place}: ${headline}`);
    } else if (!/ (?:announces|reports) /.test(headline)) fail(`${place}: ${headline}`);
  }
}
