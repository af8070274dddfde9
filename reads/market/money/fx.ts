// Answers currency rates (INTERFACE.md 1 "fx"): latest, converted amount, historical, and one pair.
import { between, newest } from '../../../market/types/typeRequest.ts';
import type { Row } from '../../../market/derive/values.ts';
import {
  parseCurrencies,
  dailyRates,
  keysFor,
  findRate,
} from '../../../market/money/crossRates.ts';
import { EXAMPLE_DAY, observeRow } from '../../../market/types/observed.ts';
import { listShape, type Shape } from '../../../market/types/shape.ts';
import { CORE, type Dataset } from '../../../store/lake/datasets/datasets.ts';
import { Failure } from '../../../store/base/failure.ts';
import { findDataset } from '../../rights/access.ts';
import { type MarketServices, planNeeds, runReadPlan } from '../inputReads.ts';
import { currentMoment } from '../../series/moments.ts';
import { answerFixed } from '../reference/fixedPrice.ts';
import type { Answer } from '../../request/answer.ts';
import type { ReadRequest } from '../../request/readRequest.ts';
import { dayOf, listOf, numberOf, refuse } from '../../request/parameters.ts';
import { NUMBER_RULE, exclusionRule } from '../../../store/base/valueRules.ts';
import { refuseReversed } from '../options.ts';

const INPUT = 'FX_RATES';
/** Maximum pairs of one call. */
const SYMBOLS_MAX = 100;
/** Maximum records of one pair in one answer. */
const DAYS_MAX = 10_000;

type Pair = readonly [from: string, to: string];

/** Answers `/fx/latest`: a pair without data is left out, as in the original. */
export const answerLatest = (call: ReadRequest, services: MarketServices): Promise<Answer> =>
  answerPairs(call, services, async (pairs) => {
    const rows = await readLatest(pairs, call, services);
    return requireRows(
      pairs.flatMap(([from, to]) => {
        const rate = findRate(from, to, rows);
        return rate === undefined ? [] : [latestRow(from, to, rate)];
      }),
    );
  });

/** Refuses an empty answer, as the original did. @throws Failure UnknownSymbol. */
function requireRows(rows: readonly object[]): readonly object[] {
  if (rows.length === 0) throw new Failure('UnknownSymbol');
  return rows;
}

type Rate = NonNullable<ReturnType<typeof findRate>>;

const latestRow = (from: string, to: string, rate: Rate) => ({ symbol: `${from}${to}`, ...rate });

/** Answers `/fx/convert`: the latest rates with the amount in the second currency. */
export const answerConvert = (call: ReadRequest, services: MarketServices): Promise<Answer> => {
  const amount = parseAmount(call);
  return answerPairs(call, services, async (pairs) => {
    const rows = await readLatest(pairs, call, services);
    return requireRows(
      pairs.flatMap(([from, to]) => {
        const rate = findRate(from, to, rows);
        return rate === undefined ? [] : [convertedRow(from, to, rate, amount)];
      }),
    );
  });
};

const convertedRow = (from: string, to: string, rate: Rate, amount: number | undefined) => ({
  ...latestRow(from, to, rate),
  amount: amount === undefined ? null : roundToPrecision(amount * rate.rate),
});

/** Answers `/fx/historical`: an array for each pair, newest first. */
export const answerHistorical = (call: ReadRequest, services: MarketServices): Promise<Answer> => {
  const { query } = call;
  const on = dayOf(query, 'on');
  const [from, to] = [on ?? dayOf(query, 'from'), on ?? dayOf(query, 'to')];
  refuseReversed(from, to);
  const [first, last] = [numberOf(query, 'first'), numberOf(query, 'last')];
  if (first !== undefined && last !== undefined) refuse('first', exclusionRule('"last"'));
  // Without dates only the last record is returned, as with any series.
  const isBare = from === undefined && to === undefined && first === undefined;
  const most = last ?? (isBare ? 1 : DAYS_MAX);
  return answerPairs(call, services, async (pairs) => {
    const keys = [...new Set(pairs.flatMap(([one, other]) => keysFor(one, other)))];
    const needOf = (key: string) =>
      isBare ? newest(INPUT, key, most) : between(INPUT, key, from, to);
    const read = await readFx(keys.map(needOf), call, services);
    return pairs.map(([one, other]) => {
      const days = dailyRates(one, other, (key) => read(needOf(key)));
      const some = first === undefined ? days.slice(-most) : days.slice(0, first);
      return some.toReversed().map((day) => dayRow(one, other, day));
    });
  });
};

const dayRow = (
  from: string,
  to: string,
  { date, isDerived, rate, timestamp }: ReturnType<typeof dailyRates>[number],
) => ({ date, symbol: `${from}${to}`, timestamp, rate, isDerived });

/** Answers `/fx/rate/{from}/{to}`. @throws Failure UnknownSymbol for a pair without data. */
export const answerRate = (call: ReadRequest, services: MarketServices): Promise<Answer> => {
  const { from = '', to = '' } = call.path;
  const pair = parseCurrencies(`${from}${to}`);
  if (pair === undefined || from.length !== 3) throw new Failure('UnknownSymbol');
  return answerFixed(call, services, { usageKey: 'FX_CONVERSION', weight: 1 }, async () => {
    const rate = findRate(...pair, await readLatest([pair], call, services));
    if (rate === undefined) throw new Failure('UnknownSymbol');
    return rateRow(...pair, rate);
  });
};

const rateRow = (from: string, to: string, { rate, timestamp }: Rate) => ({
  date: timestamp === 0 ? null : new Date(timestamp).toISOString().slice(0, 10),
  fromCurrency: from,
  toCurrency: to,
  rate,
});

/** Answers at the price of one message for each requested pair. */
async function answerPairs(
  call: ReadRequest,
  services: MarketServices,
  make: (pairs: readonly Pair[]) => Promise<readonly object[]>,
): Promise<Answer> {
  const pairs = parsePairs(call);
  const price = { usageKey: 'FX_CONVERSION', weight: pairs.length };
  return answerFixed(call, services, price, () => make(pairs));
}

/** Parses pairs; invalid ones are left out. @throws Failure NoSymbol, UnknownSymbol. */
function parsePairs({ query }: ReadRequest): readonly Pair[] {
  const texts = (listOf(query, 'symbols') ?? []).filter((text) => text.trim() !== '');
  if (texts.length === 0) throw new Failure('NoSymbol');
  if (texts.length > SYMBOLS_MAX) return refuse('symbols', `has at most ${SYMBOLS_MAX} pairs`);
  const pairs = texts.map(parseCurrencies).filter((pair) => pair !== undefined);
  if (pairs.length === 0) throw new Failure('UnknownSymbol');
  return [...new Map(pairs.map((pair) => [pair.join(''), pair])).values()];
}

/** Undefined for no amount, which iexjs sends as an empty one. */
function parseAmount({ query }: ReadRequest): number | undefined {
  const text = (listOf(query, 'amount') ?? []).join(',').trim();
  if (text === '') return undefined;
  const amount = Number(text);
  if (/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(text) && Number.isFinite(amount)) return amount;
  return refuse('amount', NUMBER_RULE);
}

const roundToPrecision = (value: number): number => Number(value.toPrecision(12));

async function readLatest(
  pairs: readonly Pair[],
  call: ReadRequest,
  services: MarketServices,
): Promise<(key: string) => Row | undefined> {
  const keys = [...new Set(pairs.flatMap(([from, to]) => keysFor(from, to)))];
  const needOf = (key: string) => newest(INPUT, key, 1);
  const read = await readFx(keys.map(needOf), call, services);
  return (key) => read(needOf(key)).at(-1);
}

async function readFx(
  needs: Parameters<typeof planNeeds>[3],
  call: ReadRequest,
  services: MarketServices,
): ReturnType<typeof runReadPlan> {
  const readable = new Map<typeof INPUT, Dataset>();
  if (services.lake.directory.dataset(CORE, INPUT) !== undefined) {
    readable.set(INPUT, findDataset(call.caller, CORE, INPUT, services.lake));
  }
  const bare = { ...call, query: pick(call, 'asOf'), path: {} };
  const planned = await planNeeds(bare, services, readable, needs, currentMoment(services));
  return runReadPlan(planned, services, bare);
}

const pick = ({ query }: ReadRequest, name: string): ReadRequest['query'] =>
  query[name] === undefined ? {} : { [name]: query[name] };

/** Example pairs: two currencies, and one currency with itself, which has no date. */
const PAIRS: readonly Pair[] = [
  ['USD', 'CAD'],
  ['USD', 'USD'],
];

const rateRowShape = (
  $id: string,
  rowOf: (from: string, to: string, rate: Rate) => object,
): Shape =>
  observeRow($id, (rows) =>
    PAIRS.flatMap(([from, to]) => {
      const rate = findRate(from, to, () => rows(INPUT).at(-1));
      return rate === undefined ? [] : [rowOf(from, to, rate)];
    }),
  );

export const LATEST_SHAPE = listShape(rateRowShape('FxRate', latestRow));
export const CONVERTED_SHAPE = listShape(
  rateRowShape('FxAmount', (...rate) => convertedRow(...rate, rate[2].isDerived ? undefined : 1)),
);
export const HISTORICAL_SHAPE = listShape(
  listShape(
    rateRowShape('FxDay', (from, to, rate) => dayRow(from, to, { ...rate, date: EXAMPLE_DAY })),
  ),
);
export const RATE_SHAPE = rateRowShape('FxPair', rateRow);
