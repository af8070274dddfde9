// Figures of the exchange as a whole (INTERFACE.md 1 "stats (exchange)"): of EXCHANGE_STATS, and of the
// trades of the newest day. They cost nothing.
import {
  dailyDays,
  intradayOf,
  monthOf,
  recentDays,
  recordsOf,
  UNTOLD,
} from '../../../market/derive/exchangeStats.ts';
import { instantIn, numberIn, type Row } from '../../../market/derive/values.ts';
import { dayAt, endOfToday, startOfToday } from '../../../market/derive/words.ts';
import { between, type Need, newest, wholeOf } from '../../../market/types/ask.ts';
import { EXAMPLE_DAY, observed, observedRow, type Rows } from '../../../market/types/observed.ts';
import { listShape, orNothing, shapeOf, withUntold } from '../../../market/types/shape.ts';
import { parseDay } from '../../../query/time/dates.ts';
import { addDays, type Day, lengthOfMonth } from '../../../query/time/days.ts';
import { CORE } from '../../../store/lake/datasets/datasets.ts';
import { isStandIn } from '../../../store/lake/datasets/standIns.ts';
import type { MarketServices } from '../reading.ts';
import type { Answer, Call } from '../../request/endpoint.ts';
import { numberOf, refuse, textOf } from '../../request/parameters.ts';
import { answerFixed } from './fixedPrice.ts';
import { rowsOfInput } from './known.ts';
import { tally, type TallyServices } from '../tallies.ts';

const PRICE = { usageKey: 'EXCHANGE_STATS', weight: 0 } as const;
const INPUT = 'EXCHANGE_STATS';
/** Sessions that one month has at most, and the five before it. */
const RECENT_MOST = 28;

const free = (
  call: Call,
  services: MarketServices,
  make: () => Promise<unknown>,
): Promise<Answer> => answerFixed(call, services, PRICE, make);

/** Invented days are none of an exchange whose real prices were loaded. */
async function daysOf(call: Call, services: MarketServices, need: Need): Promise<readonly Row[]> {
  const [days, prices] = [INPUT, 'HISTORICAL_PRICES'].map((id) =>
    services.lake.directory.dataset(CORE, id),
  );
  if (days !== undefined && isStandIn(days) && prices !== undefined && !isStandIn(prices))
    return [];
  return rowsOfInput(call, services, INPUT, need);
}

const DAY = (rows: Rows): readonly Row[] => rows(INPUT);

export const INTRADAY_SHAPE = orNothing({
  $id: 'IntradayStats',
  ...shapeOf(intradayOf({ volume: 1, symbolsTraded: 1, notional: 1, lastUpdated: 1 })),
});
export const RECENT_SHAPE = listShape(
  observedRow('RecentDay', (rows) => recentDays(DAY(rows), EXAMPLE_DAY)),
);
export const RECORDS_SHAPE = orNothing({
  $id: 'RecordStats',
  ...observed((rows) => recordsOf(DAY(rows))),
});
/** The original told more of a month than days tell. */
export const MONTH_SHAPE = listShape(
  withUntold(
    observedRow('StatsMonth', (rows) => monthOf(DAY(rows))),
    UNTOLD,
  ),
);
export const DAILY_SHAPE = listShape(observedRow('StatsDay', (rows) => dailyDays(DAY(rows))));

/** The sums of the newest day of trades. */
export const answerIntraday = (call: Call, services: TallyServices): Promise<Answer> =>
  free(call, services, async () => {
    const last = newest('TRADES', '', 1);
    const row = (await rowsOfInput(call, services, 'TRADES', last)).at(-1);
    if (row === undefined) return {};
    const lastMs = instantIn(row, 'time');
    const [from, to] = [startOfToday(lastMs), endOfToday(lastMs)].map((ms) =>
      new Date(ms).toISOString(),
    );
    const [sum] = await tally(call, services, 'TRADES', (spell) => {
      const [price, size, time] = [spell('price'), spell('size'), spell('time')];
      return (
        `SELECT sum(${size}) AS volume, count(DISTINCT ${spell('symbol')}) AS symbolsTraded, ` +
        `sum(${price} * ${size}) AS notional FROM ${spell('TRADES')} ` +
        `WHERE ${time} >= '${from}' AND ${time} < '${to}'`
      );
    });
    const of = (name: string): number => numberIn(sum, name) ?? 0;
    return intradayOf({
      volume: of('volume'),
      symbolsTraded: of('symbolsTraded'),
      notional: of('notional'),
      lastUpdated: lastMs,
    });
  });

/** The days of this month, five at least. */
export const answerRecent = (call: Call, services: MarketServices): Promise<Answer> =>
  free(call, services, async () => {
    const rows = await daysOf(call, services, newest(INPUT, '', RECENT_MOST));
    return recentDays(rows, dayAt(services.clock()));
  });

export const answerRecords = (call: Call, services: MarketServices): Promise<Answer> =>
  free(call, services, async () => recordsOf(await daysOf(call, services, wholeOf(INPUT, ''))));

/** A month, the last one that is over by default. */
export function answerHistorical(call: Call, services: MarketServices): Promise<Answer> {
  const asked = spanAsked(call);
  const before = addDays(`${dayAt(services.clock()).slice(0, 7)}-01`, -1);
  const { from, to } = monthAround(asked?.from ?? before);
  return free(call, services, async () =>
    monthOf(await daysOf(call, services, between(INPUT, '', from, to))),
  );
}

/** Days of a month, one day, or the last n; the newest by default. */
export function answerDaily(call: Call, services: MarketServices): Promise<Answer> {
  const span = spanAsked(call);
  const last = numberOf(call.query, 'last');
  if (span !== undefined && last !== undefined) refuse('last', 'is not allowed beside "date"');
  const need =
    span === undefined ? newest(INPUT, '', last ?? 1) : between(INPUT, '', span.from, span.to);
  return free(call, services, async () => dailyDays(await daysOf(call, services, need)));
}

interface Span {
  readonly from: Day;
  readonly to: Day;
}

function monthAround(day: Day): Span {
  const [year, month] = [day.slice(0, 4), day.slice(5, 7)];
  const last = lengthOfMonth(Number(year), Number(month));
  return { from: `${year}-${month}-01`, to: `${year}-${month}-${last}` };
}

/** @throws Failure InvalidParameter. */
function spanAsked({ query }: Call): Span | undefined {
  const date = textOf(query, 'date');
  if (date === undefined) return undefined;
  if (date.length === 6) return monthAround(parseDay('date', `${date}01`));
  const day = parseDay('date', date);
  return { from: day, to: day };
}
