// Parameters of market types: declared for the table of endpoints, and read into what a type is asked.
import { dayAt } from '../../market/derive/words.ts';
import type { Ask, Options } from '../../market/types/ask.ts';
import { spanOf } from '../../market/types/days.ts';
import { checkIndicator } from '../../market/types/indicator.ts';
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

/** Quotes of one list. */
export const LIST_MAX = 100;

const switched = (name: keyof Options, help: string): Parameter => ({
  kind: 'boolean',
  name,
  help,
});

const inputOf = (name: string): Parameter => ({
  kind: 'text',
  name,
  pattern: /^\d{1,15}(\.\d{1,9})?$/,
  rule: 'must be a number above 0',
  help: 'Option of a technical indicator, in their order; docs/reference/market.md has the defaults.',
});

/** Those that loaded types do not have. */
export const MARKET_PARAMETERS: readonly Parameter[] = [
  switched('chartCloseOnly', 'Only date, close, volume and changes; a fifth of the price.'),
  switched('chartByDay', 'With range=date: the bar of the day instead of its minutes.'),
  switched('chartSimplify', 'Leaves out bars that a line through the others does not need.'),
  switched('changeFromClose', 'changeOverTime from the close before the first bar.'),
  switched('chartReset', 'The day of minutes begins at midnight, not at the opening.'),
  switched('chartIEXOnly', 'Bars without the members of the whole market.'),
  switched('chartIEXWhenNull', 'Accepted: prices of the market and of the feed are the same here.'),
  switched(
    'includeToday',
    'Charts of days end with the latest price, where the day is no bar yet.',
  ),
  switched('displayPercent', 'Shares of 1 in percent, in quote, stats and charts.'),
  switched('oddLot', 'delayed-quote: the latest odd lot.'),
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
    rule: 'must be the name of a technical indicator',
    help: 'In a batch: the name of the technical indicator.',
  },
  ...['input1', 'input2', 'input3', 'input4'].map(inputOf),
  switched('lastIndicator', 'Only the last value of an indicator, with its bar.'),
  switched('indicatorOnly', 'An indicator without its chart.'),
  {
    kind: 'boolean',
    name: 'fullUpcomingEarnings',
    help: 'Accepted with upcoming earnings: they are told whole anyway.',
  },
  { kind: 'day', name: 'exactDate', help: 'The day of minutes, or of range=date: YYYYMMDD.' },
];

/** What says which records or how they are shown: a type that takes one of them not has no use for it. */
const OPTION_NAMES: readonly (keyof Options)[] = [
  ...(['range', 'from', 'to', 'on', 'exactDate', 'last', 'sort', 'chartLast'] as const),
  ...(['chartInterval', 'chartCloseOnly', 'chartByDay', 'chartSimplify'] as const),
  ...(['changeFromClose', 'chartReset', 'chartIEXOnly', 'chartIEXWhenNull'] as const),
  ...(['includeToday', 'displayPercent', 'oddLot'] as const),
  ...(['indicator', 'input1', 'input2', 'input3', 'input4'] as const),
  ...(['lastIndicator', 'indicatorOnly'] as const),
];

/** @throws Failure InvalidParameter naming a parameter that the type, asked alone, has no use for. */
export function refuseUselessOf(type: MarketType, query: Values): void {
  const useless = OPTION_NAMES.find(
    (name) => query[name] !== undefined && !type.options.includes(name),
  );
  if (useless !== undefined) refuse(useless, `is not allowed with ${type.name}`);
}

/** What a path says after the type: an option, or the attribute that is wanted. */
interface Parts {
  readonly options: Options;
  readonly attribute: string | undefined;
}

const CODE = /^[A-Za-z0-9-]{1,24}$/;

/**
 * `/chart/1y`, `/chart/date/20190220`, `/quote/latestPrice`, `/options/20240315/call`.
 * @throws Failure NotFound where a type has no such part; IncorrectValues for a date with dashes and
 * InvalidKey for a range that is none, as clients of the original know them (INTERFACE.md 0.1).
 */
export function partsOf(
  type: MarketType,
  part: string | undefined,
  detail: string | undefined,
): Parts {
  if (part === undefined) return { options: {}, attribute: undefined };
  if (type.part === 'attribute' && detail === undefined) return { options: {}, attribute: part };
  if (type.part === 'indicator' && detail === undefined) {
    return { options: { indicator: part }, attribute: undefined };
  }
  if (type.part === 'expiration') return { options: chainOf(part, detail), attribute: undefined };
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

/** `/options/20240315/call`. @throws Failure InvalidParameter. */
function chainOf(expiration: string, side: string | undefined): Options {
  const wanted = side?.toLowerCase();
  if (wanted !== undefined && wanted !== 'call' && wanted !== 'put') {
    return refuse('side', 'must be call or put');
  }
  return { expiration: expirationIn(expiration), side: wanted };
}

/** @throws Failure InvalidParameter. */
export function expirationIn(text: string): string {
  if (/^\d{4}(0[1-9]|1[0-2])$/.test(text)) return text;
  if (!/^\d{8}$|^\d{4}-\d{2}-\d{2}$/.test(text)) {
    return refuse('expiration', 'must be a day, YYYYMMDD, or a month, YYYYMM');
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

const NONE: Options = {};

/**
 * Of the query, what a type takes.
 * @param alone in a batch the others are for other types, and a count is that of news
 */
export function optionsOf(type: MarketType, query: Values, alone: boolean): Options {
  if (type.options.every((name) => query[name] === undefined)) return NONE;
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
    input1: writtenNumber(query, 'input1'),
    input2: writtenNumber(query, 'input2'),
    input3: writtenNumber(query, 'input3'),
    input4: writtenNumber(query, 'input4'),
    lastIndicator: truthOf(query, 'lastIndicator'),
    indicatorOnly: truthOf(query, 'indicatorOnly'),
  };
  const taken = type.options.filter((name) => all[name] !== undefined && all[name] !== false);
  return Object.fromEntries(taken.map((name) => [name, all[name]]));
}

/** Its pattern says that it is one. */
function writtenNumber(query: Values, name: string): number | undefined {
  const text = textOf(query, name);
  return text === undefined ? undefined : Number(text);
}

/** @throws Failure InvalidParameter where two of them contradict each other, or name no indicator. */
export function refuseContradictions(type: MarketType, options: Options): void {
  const { from, on, range, to } = options;
  if (type.part === 'indicator') checkIndicator(options);
  if (range !== undefined && (from ?? to ?? on) !== undefined) {
    refuse('range', 'is not allowed beside "from", "to" or "on"');
  }
  if (on !== undefined && (from ?? to) !== undefined) {
    refuse('on', 'is not allowed beside "from" or "to"');
  }
  if (from !== undefined && to !== undefined && from > to) refuse('from', 'must not be after "to"');
}

/** @throws Failure InvalidParameter naming range. */
export function askOf(symbol: string, options: Options, nowMs: number, untilMs = nowMs): Ask {
  const ask = { symbol, nowMs, untilMs, today: dayAt(nowMs), options };
  if (options.range !== undefined) spanOf(ask);
  return ask;
}
