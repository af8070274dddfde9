// Declares the parameters of market types for the table of endpoints, and parses them into a type request.
import { dayAt } from '../../market/derive/exchangeTime.ts';
import type { TypeRequest, Options } from '../../market/types/typeRequest.ts';
import { spanOf } from '../../market/types/days.ts';
import { checkIndicator, INDICATOR_RULE } from '../../market/types/indicator.ts';
import type { MarketType } from '../../market/types/marketTypes.ts';
import { parseDay } from '../../query/time/dates.ts';
import type { Day } from '../../query/time/days.ts';
import { Failure } from '../../store/base/failure.ts';
import {
  dayOf,
  numberOf,
  type Parameter,
  refuse,
  textOf,
  truthOf,
  type Values,
} from '../request/parameters.ts';
import { exclusionRule } from '../../store/base/valueRules.ts';

/** Maximum quotes of one list. */
export const LIST_MAX = 100;

const booleanParameter = (name: keyof Options, help: string): Parameter => ({
  kind: 'boolean',
  name,
  help,
});

const inputParameter = (name: string): Parameter => ({
  kind: 'text',
  name,
  pattern: /^\d{1,15}(\.\d{1,9})?$/,
  rule: 'must be a number above 0',
  help: 'Option of a technical indicator, in their order; docs/reference/market.md has the defaults.',
});

/** Parameters that loaded types do not have. */
export const MARKET_PARAMETERS: readonly Parameter[] = [
  booleanParameter('chartCloseOnly', 'Only date, close, volume and changes; a fifth of the price.'),
  booleanParameter('chartByDay', 'With range=date: the bar of the day instead of its minutes.'),
  booleanParameter(
    'chartSimplify',
    'Leaves out bars that a line through the others does not need.',
  ),
  booleanParameter('changeFromClose', 'changeOverTime from the close before the first bar.'),
  booleanParameter('chartReset', 'The day of minutes begins at midnight, not at the opening.'),
  booleanParameter('chartIEXOnly', 'Bars without the members of the whole market.'),
  booleanParameter(
    'chartIEXWhenNull',
    'Accepted: prices of the market and of the feed are the same here.',
  ),
  booleanParameter(
    'includeToday',
    'Charts of days end with the latest price, where the day is no bar yet.',
  ),
  booleanParameter('displayPercent', 'Shares of 1 in percent, in quote, stats and charts.'),
  booleanParameter('oddLot', 'delayed-quote: the latest odd lot.'),
  {
    kind: 'integer',
    name: 'listLimit',
    least: 1,
    most: LIST_MAX,
    help: 'Quotes of a list of the market, 10 by default, or of a collection.',
  },
  { kind: 'text', name: 'collectionName', help: 'Sector, tag or list of a collection.' },
  {
    kind: 'text',
    name: 'indicator',
    pattern: /^[A-Za-z0-9]{1,24}$/,
    rule: INDICATOR_RULE,
    help: 'In a batch: the name of the technical indicator.',
  },
  ...['input1', 'input2', 'input3', 'input4'].map(inputParameter),
  booleanParameter('lastIndicator', 'Only the last value of an indicator, with its bar.'),
  booleanParameter('indicatorOnly', 'An indicator without its chart.'),
  {
    kind: 'boolean',
    name: 'fullUpcomingEarnings',
    help: 'Accepted with upcoming earnings: all attributes are always returned.',
  },
  { kind: 'day', name: 'exactDate', help: 'The day of minutes, or of range=date: YYYYMMDD.' },
];

/** Options that select or render records: a type that does not list one of them refuses it. */
const OPTION_NAMES: readonly (keyof Options)[] = [
  ...(['range', 'from', 'to', 'on', 'exactDate', 'last', 'sort', 'chartLast'] as const),
  ...(['chartInterval', 'chartCloseOnly', 'chartByDay', 'chartSimplify'] as const),
  ...(['changeFromClose', 'chartReset', 'chartIEXOnly', 'chartIEXWhenNull'] as const),
  ...(['includeToday', 'displayPercent', 'oddLot'] as const),
  ...(['indicator', 'input1', 'input2', 'input3', 'input4'] as const),
  ...(['lastIndicator', 'indicatorOnly'] as const),
];

/** Refuses options that a type, requested alone, does not support. @throws Failure InvalidParameter. */
export function refuseUnusedOptions(type: MarketType, query: Values): void {
  const unusedOption = OPTION_NAMES.find(
    (name) => query[name] !== undefined && !type.options.includes(name),
  );
  if (unusedOption !== undefined) refuse(unusedOption, exclusionRule(type.name));
}

/** The path after the type: an option, or the requested attribute. */
interface Parts {
  readonly options: Options;
  readonly attribute: string | undefined;
}

const CODE = /^[A-Za-z0-9-]{1,24}$/;

/**
 * Parses `/chart/1y`, `/chart/date/20190220`, `/quote/latestPrice`, `/options/20240315/call`.
 * @throws Failure NotFound if a type has no such part; IncorrectValues for a date with dashes and
 * InvalidKey for an invalid range, as clients of the original expect (INTERFACE.md 0.1).
 */
export function parsePathParts(
  type: MarketType,
  part: string | undefined,
  detail: string | undefined,
): Parts {
  if (part === undefined) return { options: {}, attribute: undefined };
  if (type.part === 'attribute' && detail === undefined) return { options: {}, attribute: part };
  if (type.part === 'indicator' && detail === undefined) {
    return { options: { indicator: part }, attribute: undefined };
  }
  if (type.part === 'expiration')
    return { options: parseChainOptions(part, detail), attribute: undefined };
  if (type.part === 'day' && detail === undefined) {
    return { options: { on: parseDay('date', part) }, attribute: undefined };
  }
  if (type.part !== 'range') throw new Failure('NotFound');
  if (detail === undefined) {
    if (!CODE.test(part)) throw new Failure('InvalidKey');
    return { options: { range: part }, attribute: undefined };
  }
  if (part.toLowerCase() !== 'date') throw new Failure('NotFound');
  return { options: { range: part, exactDate: exactDay(detail) }, attribute: undefined };
}

/** Parses `/options/20240315/call`. @throws Failure InvalidParameter. */
function parseChainOptions(expiration: string, side: string | undefined): Options {
  const lowerSide = side?.toLowerCase();
  if (lowerSide !== undefined && lowerSide !== 'call' && lowerSide !== 'put') {
    return refuse('side', 'must be call or put');
  }
  return { expiration: parseExpiration(expiration), side: lowerSide };
}

export const DAY_OR_MONTH_RULE = 'must be a day, YYYYMMDD, or a month, YYYYMM';

/** @throws Failure InvalidParameter. */
export function parseExpiration(text: string): string {
  if (/^\d{4}(0[1-9]|1[0-2])$/.test(text)) return text;
  if (!/^\d{8}$|^\d{4}-\d{2}-\d{2}$/.test(text)) {
    return refuse('expiration', DAY_OR_MONTH_RULE);
  }
  return parseDay('expiration', text).replaceAll('-', '');
}

/** @throws Failure IncorrectValues. */
function exactDay(text: string): Day {
  if (!/^\d{8}$/.test(text)) throw new Failure('IncorrectValues');
  try {
    return parseDay('exactDate', text);
  } catch {
    throw new Failure('IncorrectValues');
  }
}

const NO_OPTIONS: Options = {};

/**
 * Parses the options of the query that a type supports.
 * @param alone false in a batch, where other options belong to other types and `last` counts news
 */
export function parseOptions(type: MarketType, query: Values, alone: boolean): Options {
  if (type.options.every((name) => query[name] === undefined)) return NO_OPTIONS;
  const all: Options = {
    range: textOf(query, 'range'),
    from: dayOf(query, 'from'),
    to: dayOf(query, 'to'),
    on: dayOf(query, 'on'),
    exactDate: dayOf(query, 'exactDate'),
    last: alone ? numberOf(query, 'last') : undefined,
    sort:
      textOf(query, 'sort') === 'desc'
        ? 'desc'
        : textOf(query, 'sort') === 'asc'
          ? 'asc'
          : undefined,
    chartLast: numberOf(query, 'chartLast'),
    chartInterval: numberOf(query, 'chartInterval'),
    chartCloseOnly: truthOf(query, 'chartCloseOnly'),
    chartByDay: truthOf(query, 'chartByDay'),
    chartSimplify: truthOf(query, 'chartSimplify'),
    changeFromClose: truthOf(query, 'changeFromClose'),
    chartReset: truthOf(query, 'chartReset'),
    chartIEXOnly: truthOf(query, 'chartIEXOnly'),
    chartIEXWhenNull: truthOf(query, 'chartIEXWhenNull'),
    includeToday: truthOf(query, 'includeToday'),
    displayPercent: truthOf(query, 'displayPercent'),
    oddLot: truthOf(query, 'oddLot'),
    indicator: textOf(query, 'indicator'),
    input1: parseNumber(query, 'input1'),
    input2: parseNumber(query, 'input2'),
    input3: parseNumber(query, 'input3'),
    input4: parseNumber(query, 'input4'),
    lastIndicator: truthOf(query, 'lastIndicator'),
    indicatorOnly: truthOf(query, 'indicatorOnly'),
  };
  const names = type.options.filter((name) => all[name] !== undefined && all[name] !== false);
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

/** Parses a number; the parameter's pattern has checked that it is one. */
function parseNumber(query: Values, name: string): number | undefined {
  const text = textOf(query, name);
  return text === undefined ? undefined : Number(text);
}

/** @throws Failure InvalidParameter if two options contradict each other, or name no indicator. */
export function refuseContradictions(type: MarketType, options: Options): void {
  const { from, on, range, to } = options;
  if (type.part === 'indicator') checkIndicator(options);
  if (range !== undefined && (from ?? to ?? on) !== undefined) {
    refuse('range', 'is not allowed beside "from", "to" or "on"');
  }
  if (on !== undefined && (from ?? to) !== undefined) {
    refuse('on', 'is not allowed beside "from" or "to"');
  }
  refuseReversed(from, to);
}

/** @throws Failure InvalidParameter naming from. */
export function refuseReversed(from: Day | undefined, to: Day | undefined): void {
  if (from !== undefined && to !== undefined && from > to) refuse('from', 'must not be after "to"');
}

/** @throws Failure InvalidParameter naming range. */
export function buildTypeRequest(
  symbol: string,
  options: Options,
  nowMs: number,
  untilMs = nowMs,
): TypeRequest {
  const ask = { symbol, nowMs, untilMs, today: dayAt(nowMs), options };
  if (options.range !== undefined) spanOf(ask);
  return ask;
}
