// Declares the query parameters of both series endpoints, and parses them into the parameters of a plan.
import { parseDay, parseInstant, startOfDay } from '../../query/time/dates.ts';
import type { Day } from '../../query/time/days.ts';
import { isDated } from '../../query/plan/seriesRules.ts';
import { parseSubattributes } from '../../query/plan/subattributes.ts';
import {
  FOLDS,
  parseCollapse,
  PERIODS,
  type Transform,
  TRANSFORMS,
} from '../../query/plan/transforms.ts';
import { CSV_FORMULAS, JSON_DECIMALS } from '../request/spelling.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { METERING_PARAMETERS } from '../answer/metering.ts';
import { CHART_PARAMETERS, CHART_FORMATS } from '../answer/charts.ts';
import {
  dayOf,
  listOf,
  numberOf,
  type Parameter,
  refuse,
  textOf,
  truthOf,
  type Values,
} from '../request/parameters.ts';
import type { SeriesParameters } from '../../query/plan/seriesParameters.ts';

/** Help of parameters that have no effect. */
export const ACCEPTED_HELP = 'Accepted for clients of the original.';

const COUNT_MAX = 1_000_000_000;
const countParameter = (name: string, help: string): Parameter => ({
  kind: 'integer',
  name,
  help,
  least: 1,
  most: COUNT_MAX,
});
const textParameter = (name: string, help: string): Parameter => ({ kind: 'text', name, help });
const booleanParameter = (name: string, help: string): Parameter => ({
  kind: 'boolean',
  name,
  help,
});

/** Maximum datasets times keys of one request (INTERFACE.md 3.5). */
export const QUERIES_MAX = 2_000;

/** Maximum seconds for which the caller's cache may store an answer. */
const CACHE_SECONDS_MAX = 86_400;

/** Parameters that select records (SPEC.md "Time series"; INTERFACE.md 3.5). */
const RECORDS: readonly Parameter[] = [
  textParameter(
    'range',
    'Range code: today, ytd, last-week, 5d, 6m, 1y, max, 2020, Q12020, H12020 ...',
  ),
  booleanParameter(
    'calendar',
    'true: allows future ranges, and counted ranges run forward from today.',
  ),
  booleanParameter('forward', 'The same as calendar.'),
  booleanParameter('future', 'true: only records after today; false: none of them.'),
  { kind: 'day', name: 'from', help: 'Records on or after this date.' },
  { kind: 'day', name: 'to', help: 'Records on or before this date.' },
  { kind: 'day', name: 'on', help: 'Records on this date.' },
  countParameter('last', 'The latest n records, newest first.'),
  countParameter('first', 'The first n records, oldest first.'),
  countParameter('next', 'The next n records from today on, oldest first.'),
  countParameter(
    'limit',
    'At most n records; 1 without a date. first, last and next take precedence.',
  ),
  {
    kind: 'integer',
    name: 'offset',
    help: 'Records to skip at the beginning.',
    least: 0,
    most: COUNT_MAX,
  },
  countParameter('interval', 'Only every nth record.'),
  {
    kind: 'choice',
    name: 'sort',
    choices: ['asc', 'desc'],
    help: 'Order by date; desc by default.',
  },
  textParameter('dateField', 'Attribute to use for range, dates and order, instead of the date.'),
  textParameter(
    'subattribute',
    'Records by any attribute: key|value equal, key~value not, comma = and.',
  ),
  textParameter('updated', 'Records written or changed at this date or time, or later.'),
  textParameter(
    'collapse',
    `One record a period: ${PERIODS.join(', ')}; after a | how: ${FOLDS.join(', ')}. last by default.`,
  ),
  {
    kind: 'choice',
    name: 'transform',
    choices: TRANSFORMS,
    help: 'Numbers as difference, relative difference, sum so far, or relative to the first, which is 100.',
  },
  textParameter(
    'transforms',
    'Earlier spelling of transform: a JSON array with one of its names, or none.',
  ),
];

/** Parameters of the answer's form. */
const ANSWER: readonly Parameter[] = [
  { kind: 'list', name: 'filter', help: 'Comma list of the attributes to return.' },
  {
    kind: 'choice',
    name: 'format',
    choices: ['json', 'jsonl', 'csv', 'psv', 'text', 'arrow', 'parquet'],
    help: 'Format of the answer; json by default. text is csv to read in a browser.',
  },
  CSV_FORMULAS,
  JSON_DECIMALS,
  {
    kind: 'text',
    name: 'callback',
    help: 'JSONP: name of the function that receives the answer.',
    pattern: /^[A-Za-z_$][\w$]{0,63}(\.[A-Za-z_$][\w$]{0,63}){0,4}$/,
    rule: 'must be a JavaScript identifier, or several joined by dots',
  },
  booleanParameter('schema', 'Return only the names and types of the attributes; free.'),
  booleanParameter(
    'includeSystemRecordProperties',
    'true: adds id, key, subkey, date and updated of each record.',
  ),
  textParameter(
    'asOf',
    'Read the data as of a moment, pushes included: a value of svccloud-as-of, a time (ISO 8601, ' +
      'epoch milliseconds, or a date, YYYY-MM-DD or YYYYMMDD: its end); a snapshot id is the version alone.',
  ),
  {
    kind: 'text',
    name: 'queryId',
    help: 'Name of a cursor: returns only records that are new or changed since the last request with it.',
    pattern: /^[A-Za-z0-9]{1,3}$/,
    rule: 'must be 1 to 3 letters or digits',
  },
  booleanParameter('cache', 'false: reads the files, not memory.'),
  {
    kind: 'integer',
    name: 'cacheTTL',
    help: 'Seconds for which caches may keep the answer.',
    least: 0,
    most: CACHE_SECONDS_MAX,
  },
  {
    kind: 'text',
    name: 'batchSeparator',
    help: 'Character between several datasets or keys; a comma by default.',
    pattern: /^[^A-Za-z0-9]$/u,
    rule: 'must be one character that is no letter and no digit',
  },
  textParameter('collectionName', ACCEPTED_HELP),
];

/** Query parameters of both series endpoints. */
export const SERIES_PARAMETERS: readonly Parameter[] = [
  ...RECORDS,
  ...ANSWER,
  ...METERING_PARAMETERS,
];

/** Query parameters of an endpoint that can also render its records as a chart. */
export const CHARTED_SERIES_PARAMETERS: readonly Parameter[] = SERIES_PARAMETERS.flatMap(
  (parameter) => {
    if (parameter.name !== 'format' || parameter.kind !== 'choice') return [parameter];
    const help = `${parameter.help} svg, png and vega-lite are a chart of the records.`;
    return [
      { ...parameter, choices: [...parameter.choices, ...CHART_FORMATS], help },
      ...CHART_PARAMETERS,
    ];
  },
);

/** Parameters that a query with a cursor refuses, because it would skip records. */
const QUERY_ID_EXCLUSIONS = [
  'asOf',
  'collapse',
  'transform',
  'transforms',
  'interval',
  'offset',
  'next',
];

/** Parses series parameters. @throws Failure InvalidParameter naming the parameter and its rule. */
export function parseSeries(
  { path, query }: Pick<ReadRequest, 'path' | 'query'>,
  zone: string,
): SeriesParameters {
  const { subkey } = path;
  const sort = textOf(query, 'sort');
  const excluded = QUERY_ID_EXCLUSIONS.find((name) => query[name] !== undefined);
  if (query['queryId'] !== undefined && excluded !== undefined) {
    refuse('queryId', `is not allowed beside "${excluded}"`);
  }
  const parameters: SeriesParameters = {
    keys: parseKeys(path['key'], query),
    subkey: subkey === '' ? undefined : subkey,
    range: textOf(query, 'range'),
    calendar: parseForward(query),
    future: query['future'] === undefined ? undefined : truthOf(query, 'future'),
    from: dayOf(query, 'from'),
    to: dayOf(query, 'to'),
    on: dayOf(query, 'on'),
    first: numberOf(query, 'first'),
    last: numberOf(query, 'last'),
    next: numberOf(query, 'next'),
    limit: numberOf(query, 'limit'),
    offset: numberOf(query, 'offset'),
    interval: numberOf(query, 'interval'),
    sort: sort === 'asc' || sort === 'desc' ? sort : undefined,
    dateField: textOf(query, 'dateField'),
    subattributes: mapDefined(textOf(query, 'subattribute'), parseSubattributes),
    updated: mapDefined(textOf(query, 'updated'), (value) => parseUpdatedMs(value, zone)),
    collapse: mapDefined(textOf(query, 'collapse'), parseCollapse),
    transform: parseTransform(query),
    filter: listOf(query, 'filter'),
    systemProperties: truthOf(query, 'includeSystemRecordProperties') ? true : undefined,
  };
  return hasDefaultLimit(parameters, query) ? withoutLimit(parameters) : parameters;
}

/**
 * Parses `transform`, or its earlier spelling, which clients of the original still send.
 * @throws Failure InvalidParameter for more than one, and for an unknown name.
 */
function parseTransform(query: Values): Transform | undefined {
  const listed = textOf(query, 'transforms');
  if (listed === undefined) return TRANSFORMS.find((item) => item === query['transform']);
  if (query['transform'] !== undefined) refuse('transforms', 'is not allowed beside "transform"');
  const names = parseArray(listed);
  const [transform] = TRANSFORMS.filter((item) => item === names?.[0]);
  if (names === undefined || names.length > 1 || (names.length === 1 && transform === undefined)) {
    refuse('transforms', `must be a JSON array with one of ${TRANSFORMS.join(', ')}, or none`);
  }
  return transform;
}

function parseArray(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether `limit=1` is a default of a client library: one of the original adds `calendar=false` and `limit=1`
 * to every time series (INTERFACE.md 5), although its users want all records of a named range.
 */
const hasDefaultLimit = (parameters: SeriesParameters, query: Values): boolean =>
  query['calendar'] === false && parameters.limit === 1 && isDated(parameters);

function withoutLimit({ limit: _, ...rest }: SeriesParameters): SeriesParameters {
  return rest;
}

/** Splits one path segment into distinct datasets or keys. */
export function splitSegment(segment: string, query: Values): readonly string[] {
  const separator = textOf(query, 'batchSeparator') ?? ',';
  return [...new Set(segment.split(separator).filter((item) => item !== ''))];
}

function parseKeys(segment: string | undefined, query: Values): readonly string[] | undefined {
  if (segment === undefined || segment === '') return undefined;
  const keys = splitSegment(segment, query);
  if (keys.length === 0) refuse('key', 'must name one key at least');
  if (keys.length > QUERIES_MAX) refuse('key', `must name at most ${QUERIES_MAX} keys`);
  return keys;
}

function parseForward(query: Values): boolean | undefined {
  const names = ['calendar', 'forward'].filter((name) => query[name] !== undefined);
  if (names.length === 0) return undefined;
  return names.some((name) => truthOf(query, name));
}

function parseUpdatedMs(value: string, zone: string): number {
  const ms = parseInstant(value, zone);
  if (ms !== undefined) return ms;
  const day: Day = parseDay('updated', value);
  return startOfDay(day, zone);
}

const mapDefined = <T>(value: string | undefined, parse: (value: string) => T): T | undefined =>
  value === undefined ? undefined : parse(value);
