// Declares the query parameters of the stock endpoints, and applies them to each type. In a batch one query
// serves several types, so each type uses its typical parameters: charts a range, news a count (SPEC.md
// "Batch"). A type that is requested alone uses both.
import { parseDay } from '../../query/time/dates.ts';
import type { Day } from '../../query/time/days.ts';
import { isRangeCode } from '../../query/time/ranges.ts';
import { isDated } from '../../query/plan/seriesRules.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import {
  dayOf,
  numberOf,
  type Parameter,
  refuse,
  textOf,
  type Values,
} from '../request/parameters.ts';
import { MARKET_PARAMETERS } from '../market/options.ts';
import { parseSeries, SERIES_PARAMETERS } from '../series/queryParameters.ts';
import type { StockType } from './stockTypes.ts';
import type { SeriesParameters } from '../../query/plan/seriesParameters.ts';
import { exclusionRule } from '../../store/base/valueRules.ts';

/** Values of `period` as the subkeys of statements spell them (INTERFACE.md 1). */
const PERIODS: ReadonlyMap<string, string> = new Map([
  ['quarter', 'quarterly'],
  ['annual', 'annual'],
]);

const ANSWER = [
  'filter',
  'format',
  'callback',
  'cache',
  'cacheTTL',
  'estimate',
  'maxMessages',
  'asOf',
];
const DAYS = ['range', 'calendar', 'from', 'to', 'on', 'sort'];
const DAY = ['on'];
const CHART = ['chartLast', 'chartInterval'];
const COUNT = ['last', 'sort'];
const PERIOD = ['period'];
/** Parameters that select records; a type refuses those that it does not use. */
const SELECTING: readonly string[] = [...new Set([...DAYS, ...CHART, ...COUNT, ...PERIOD])];

const SERIES_NAMES = new Set([...SELECTING, ...ANSWER]);
const COUNT_MAX = 1_000_000_000;

/** Query parameters of one type; a batch also has `types` and `symbols`. */
export const STOCK_PARAMETERS: readonly Parameter[] = [
  ...SERIES_PARAMETERS.filter(({ name }) => SERIES_NAMES.has(name)),
  {
    kind: 'integer',
    name: 'chartLast',
    least: 1,
    most: COUNT_MAX,
    help: 'The latest n records of the range, for types with a range.',
  },
  {
    kind: 'integer',
    name: 'chartInterval',
    least: 1,
    most: COUNT_MAX,
    help: 'Only every nth record, for types with a range.',
  },
  {
    kind: 'choice',
    name: 'period',
    choices: [...PERIODS.keys()],
    help: 'Period of statements, earnings and estimates; quarter by default.',
  },
  ...MARKET_PARAMETERS,
  {
    kind: 'list',
    name: 'symbols',
    mayBeEmpty: true,
    help: 'Symbols, for market in a batch and with types of the whole market; only the first 100 are used.',
  },
];

/** Refuses parameters that a type, requested alone, does not use. @throws Failure InvalidParameter. */
export function refuseUnusedParameters(type: StockType, query: Values): void {
  const usedNames = listUsedParameters(type, true);
  const unused = SELECTING.find((name) => query[name] !== undefined && !usedNames.has(name));
  if (unused !== undefined) refuse(unused, exclusionRule(type.name));
}

/** Names of the selecting parameters that a type uses. @param alone not in a batch */
export function listUsedParameters(type: StockType, alone: boolean): ReadonlySet<string> {
  if (type.shape === 'record') return new Set();
  if (type.shape === 'day' || type.shape === 'listed') return new Set(alone ? DAY : []);
  if (type.shape === 'coming') {
    const days = type.today === true ? [] : DAYS;
    return new Set(alone ? [...days, ...COUNT] : []);
  }
  if (type.shape === 'days') return new Set([...DAYS, ...CHART, ...(alone ? COUNT : [])]);
  const periods = type.periods === true ? PERIOD : [];
  return new Set([...COUNT, ...periods, ...(alone ? DAYS : [])]);
}

const COUNTED = /^[1-9]\d{0,8}$/;
/** The path part for the next record, instead of a range. */
const NEXT = 'next';

/** Whether a path selects only the next record, as an object. */
export const isNextPart = (type: StockType, part: string): boolean =>
  type.shape === 'days' && type.next === true && part.toLowerCase() === NEXT;

/** Whether a path part is no range code: `/dividends/INVALID` was `[]` (INTERFACE.md 0.2). */
export const isInvalidRange = (type: StockType, part: string | undefined, today: Day): boolean =>
  type.shape === 'days' &&
  part !== undefined &&
  !isNextPart(type, part) &&
  !isRangeCode(part, today);

/** The query with the parts of the path after symbol and type. */
export interface PathParts {
  readonly query: Values;
  /** The answer is one attribute of one record. */
  readonly attribute?: { readonly name: string; readonly place: number };
  /** The answer is only the next record, as an object. */
  readonly isNext?: true;
}

/**
 * Merges options in the path into the query: `/chart/1y`, `/news/last/5`, `/earnings/4`, `/dividends/next`,
 * `/sentiment/daily/20240229`; and parses the attribute of a path: `/company/sector`,
 * `/estimates/1/consensusEPS`.
 * @throws Failure NotFound if a type has no such part, InvalidParameter for an invalid day.
 */
export function mergePathParts(
  type: StockType,
  { detail, part }: Readonly<Record<string, string | undefined>>,
  query: Values,
): PathParts {
  if (part === undefined) return { query };
  const notFound = new Failure('NotFound');
  if (type.shape === 'day') {
    if (part.toLowerCase() !== type.word) throw notFound;
    return { query: detail === undefined ? query : { ...query, on: parseDay('on', detail) } };
  }
  if (type.shape === 'listed' && detail === undefined) {
    return { query: { ...query, on: parseDay('date', part) } };
  }
  if (type.shape === 'newest') {
    if (!COUNTED.test(part)) throw notFound;
    const count = Number(part);
    if (detail === undefined) return { query: { ...query, last: count } };
    if (type.only !== undefined) throw notFound;
    return { query, attribute: { name: detail, place: count } };
  }
  if (detail !== undefined) throw notFound;
  if (type.shape === 'record') return { query, attribute: { name: part, place: 1 } };
  if (type.shape === 'coming') return { query: { ...query, range: part, calendar: true } };
  if (isNextPart(type, part)) return { query, isNext: true };
  return { query: { ...query, range: part } };
}

/** Selects whole records instead of an unknown attribute of a statement, as for `/stats/INVALID`. */
export function replaceUnknownAttribute(
  dataset: Dataset,
  type: StockType,
  parts: PathParts,
): PathParts {
  const { attribute, query } = parts;
  const isStatement = type.shape === 'newest' && type.within !== undefined;
  if (attribute === undefined || !isStatement) return parts;
  if (findSpelling(dataset, attribute.name) !== undefined) return parts;
  return { query: { ...query, last: attribute.place } };
}

/** The context of a call: query, time and limits. */
export interface StockContext {
  readonly query: Values;
  readonly alone: boolean;
  readonly zone: string;
  /** The current day of the exchange. */
  readonly today: Day;
  /** Maximum records of one answer. */
  readonly rowsMax: number;
  readonly parts?: PathParts;
}

/**
 * Builds the parameters of a type's read of its dataset, for any symbol.
 * @throws Failure InvalidParameter naming the parameter.
 */
export function buildRecordParameters(
  type: StockType,
  dataset: Dataset,
  asking: StockContext,
): SeriesParameters {
  const { alone, query, rowsMax, zone } = asking;
  const usedNames = listUsedParameters(type, alone);
  const usedEntries = Object.entries(query).filter(
    ([name]) => name === 'filter' || usedNames.has(name),
  );
  const read = parseSeries({ path: {}, query: Object.fromEntries(usedEntries) }, zone);
  const { attribute, isNext } = asking.parts ?? {};
  if (isNext === true) return { ...read, range: undefined, next: 1, limit: 1 };
  if (attribute !== undefined) {
    const filter = [findProperty(dataset, attribute.name)];
    const subkey = type.shape === 'newest' ? selectPeriod(type, dataset, query) : undefined;
    const { place } = attribute;
    return { ...read, filter, subkey, limit: 1, offset: place - 1, sort: 'desc' };
  }
  if (type.shape === 'record' || type.shape === 'day') return { ...read, last: 1 };
  const dated = isDated(read);
  if (type.shape === 'listed') return { ...read, last: dated ? rowsMax : 1 };
  if (type.shape === 'coming') {
    const exact = type.today === true ? asking.today : dayOf(query, 'exactDate');
    if (exact !== undefined && dated) refuse('exactDate', 'is not allowed beside other days');
    if (exact !== undefined) return { ...read, on: exact, last: read.last ?? rowsMax };
    const first = read.last ?? rowsMax;
    const { last: _last, ...rest } = read;
    return dated ? { ...rest, first, sort: read.sort ?? 'asc' } : { ...rest, next: first };
  }
  if (type.shape === 'newest') {
    const last = read.last ?? (dated ? rowsMax : type.last);
    return { ...read, last, subkey: selectPeriod(type, dataset, query) };
  }
  return {
    ...read,
    range: dated || read.last !== undefined ? read.range : type.range,
    // A count selects the latest records, in any order.
    last: numberOf(query, 'chartLast') ?? read.last ?? rowsMax,
    interval: numberOf(query, 'chartInterval'),
    sort: read.sort,
  };
}

/** Finds the owner's spelling of an attribute. @throws Failure NotFound. */
function findProperty(dataset: Dataset, name: string): string {
  const spelling = findSpelling(dataset, name);
  if (spelling === undefined) throw new Failure('NotFound');
  return spelling;
}

const findSpelling = ({ schema }: Dataset, name: string): string | undefined =>
  Object.keys(schema.properties).find((one) => one.toLowerCase() === name.toLowerCase());

function selectPeriod(
  type: Extract<StockType, { shape: 'newest' }>,
  { mapping }: Dataset,
  query: Values,
): string | undefined {
  if (type.periods !== true) return undefined;
  const period = textOf(query, 'period') ?? 'quarter';
  if (mapping.subkey !== undefined) return PERIODS.get(period);
  // A client of the original always sends `quarter`.
  return period === 'quarter' ? undefined : refuse('period', `is not known of ${type.name} here`);
}
