// Answers statistics of the whole exchange (INTERFACE.md 1 "stats (exchange)"), from EXCHANGE_STATS and from
// the trades of the latest day, free of charge.
import {
  dailyDays,
  intradayOf,
  monthOf,
  recentDays,
  recordsOf,
  NULL_FIGURES,
} from '../../../market/derive/exchangeStats.ts';
import { instantIn, numberIn, type Row } from '../../../market/derive/values.ts';
import { dayAt, endOfToday, startOfToday } from '../../../market/derive/exchangeTime.ts';
import { between, type Need, newest, allRecords } from '../../../market/types/typeRequest.ts';
import {
  EXAMPLE_DAY,
  observeShape,
  observeRow,
  type Rows,
} from '../../../market/types/observed.ts';
import { listShape, orNothing, shapeOf, withNullTypes } from '../../../market/types/shape.ts';
import { parseDay } from '../../../query/time/dates.ts';
import { addDays, type Day, lengthOfMonth } from '../../../query/time/days.ts';
import { CORE } from '../../../store/lake/datasets/datasets.ts';
import { isPlaceholder } from '../../../store/lake/datasets/placeholders.ts';
import type { MarketServices } from '../inputReads.ts';
import type { Answer } from '../../request/answer.ts';
import type { ReadRequest } from '../../request/readRequest.ts';
import { numberOf, refuse, textOf } from '../../request/parameters.ts';
import { answerFixed } from './fixedPrice.ts';
import { readInputRows } from './securityDirectory.ts';
import { aggregateInput, type AggregateServices } from '../aggregates.ts';

const PRICE = { usageKey: 'EXCHANGE_STATS', weight: 0 } as const;
const INPUT = 'EXCHANGE_STATS';
/** The maximum number of sessions in one month, plus the five before it. */
const RECENT_DAYS_MAX = 28;

const answerFree = (
  call: ReadRequest,
  services: MarketServices,
  make: () => Promise<unknown>,
): Promise<Answer> => answerFixed(call, services, PRICE, make);

/** Returns no placeholder days for an exchange whose real prices are loaded. */
async function readDays(
  call: ReadRequest,
  services: MarketServices,
  need: Need,
): Promise<readonly Row[]> {
  const [days, prices] = [INPUT, 'HISTORICAL_PRICES'].map((id) =>
    services.lake.directory.dataset(CORE, id),
  );
  if (days !== undefined && isPlaceholder(days) && prices !== undefined && !isPlaceholder(prices))
    return [];
  return readInputRows(call, services, INPUT, need);
}

const readExampleDays = (rows: Rows): readonly Row[] => rows(INPUT);

export const INTRADAY_SHAPE = orNothing({
  $id: 'IntradayStats',
  ...shapeOf(intradayOf({ volume: 1, symbolsTraded: 1, notional: 1, lastUpdated: 1 })),
});
export const RECENT_SHAPE = listShape(
  observeRow('RecentDay', (rows) => recentDays(readExampleDays(rows), EXAMPLE_DAY)),
);
export const RECORDS_SHAPE = orNothing({
  $id: 'RecordStats',
  ...observeShape((rows) => recordsOf(readExampleDays(rows))),
});
/** The original returned members of a month that cannot be computed from days. */
export const MONTH_SHAPE = listShape(
  withNullTypes(
    observeRow('StatsMonth', (rows) => monthOf(readExampleDays(rows))),
    NULL_FIGURES,
  ),
);
export const DAILY_SHAPE = listShape(
  observeRow('StatsDay', (rows) => dailyDays(readExampleDays(rows))),
);

/** Answers the sums of the latest day of trades. */
export const answerIntraday = (call: ReadRequest, services: AggregateServices): Promise<Answer> =>
  answerFree(call, services, async () => {
    const last = newest('TRADES', '', 1);
    const row = (await readInputRows(call, services, 'TRADES', last)).at(-1);
    if (row === undefined) return {};
    const lastMs = instantIn(row, 'time');
    const [from, to] = [startOfToday(lastMs), endOfToday(lastMs)].map((ms) =>
      new Date(ms).toISOString(),
    );
    const [sum] = await aggregateInput(call, services, 'TRADES', (spell) => {
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

/** Answers the days of this month, at least five. */
export const answerRecent = (call: ReadRequest, services: MarketServices): Promise<Answer> =>
  answerFree(call, services, async () => {
    const rows = await readDays(call, services, newest(INPUT, '', RECENT_DAYS_MAX));
    return recentDays(rows, dayAt(services.clock()));
  });

export const answerRecords = (call: ReadRequest, services: MarketServices): Promise<Answer> =>
  answerFree(call, services, async () =>
    recordsOf(await readDays(call, services, allRecords(INPUT, ''))),
  );

/** Answers a month; the last complete one by default. */
export function answerHistorical(call: ReadRequest, services: MarketServices): Promise<Answer> {
  const span = parseSpan(call);
  const before = addDays(`${dayAt(services.clock()).slice(0, 7)}-01`, -1);
  const { from, to } = monthAround(span?.from ?? before);
  return answerFree(call, services, async () =>
    monthOf(await readDays(call, services, between(INPUT, '', from, to))),
  );
}

/** Answers the days of a month, one day, or the last n days; the latest day by default. */
export function answerDaily(call: ReadRequest, services: MarketServices): Promise<Answer> {
  const span = parseSpan(call);
  const last = numberOf(call.query, 'last');
  if (span !== undefined && last !== undefined) refuse('last', 'is not allowed beside "date"');
  const need =
    span === undefined ? newest(INPUT, '', last ?? 1) : between(INPUT, '', span.from, span.to);
  return answerFree(call, services, async () => dailyDays(await readDays(call, services, need)));
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
function parseSpan({ query }: ReadRequest): Span | undefined {
  const date = textOf(query, 'date');
  if (date === undefined) return undefined;
  if (date.length === 6) return monthAround(parseDay('date', `${date}01`));
  const day = parseDay('date', date);
  return { from: day, to: day };
}
