// Random datasets, records and requests for the laws of the series: awkward moments, days on which
// ranges end, times around midnight in New York, equal dates, future records, missing values.
import type { Seeded } from '../../crash/rounds/seeded.ts';
import { plusDays, plusMonths, wallDay } from './seriesDays.ts';
import type { SeriesRequest, StoredRecord, Kind, Shelf, Values } from './seriesOracle.ts';

export const ZONE = 'America/New_York';

/** Moments at which a day, a month or the clock change of New York begins, and UTC has another day. */
export const MOMENTS: readonly [string, ...string[]] = [
  '2000-02-29T17:00:00.000Z',
  '2000-03-01T04:59:59.999Z',
  '2015-01-01T04:59:59.999Z',
  '2017-01-01T05:00:00.000Z',
  '2023-01-01T03:00:00.000Z',
  '2023-03-31T16:00:00.000Z',
  '2023-08-31T23:30:00.000Z',
  '2023-10-01T04:00:00.000Z',
  '2024-01-01T04:59:59.999Z',
  '2024-01-31T12:00:00.000Z',
  '2024-02-29T04:59:59.999Z',
  '2024-02-29T05:00:00.000Z',
  '2024-03-01T00:30:00.000Z',
  '2024-03-10T04:59:59.999Z',
  '2024-03-10T07:30:00.000Z',
  '2024-03-11T03:59:59.999Z',
  '2024-06-30T23:59:59.999Z',
  '2024-11-03T03:59:59.999Z',
  '2024-11-03T06:30:00.000Z',
  '2024-11-04T04:59:59.999Z',
  '2024-12-31T23:59:59.999Z',
  '2025-02-28T22:00:00.000Z',
  '2026-05-31T13:00:00.000Z',
  '2099-12-31T17:00:00.000Z',
];

export const SHELVES: readonly [Shelf, ...Shelf[]] = [
  {
    id: 'BARS',
    weight: 3,
    key: 'symbol',
    date: 'day',
    properties: {
      symbol: 'text',
      day: 'date',
      open: 'number',
      close: 'number',
      volume: 'integer',
      note: 'text',
      exDate: 'date',
      seen: 'integer',
      at: 'time',
      flag: 'boolean',
    },
  },
  {
    id: 'TICKS',
    weight: 1,
    key: 'symbol',
    date: 'time',
    properties: {
      symbol: 'text',
      time: 'time',
      price: 'number',
      size: 'integer',
      exDate: 'date',
    },
  },
  {
    id: 'KINDS',
    weight: 7,
    key: 'symbol',
    subkey: 'kind',
    date: 'date',
    properties: {
      symbol: 'text',
      kind: 'text',
      date: 'date',
      dayHigh: 'number',
      count: 'integer',
      at: 'time',
      note: 'text',
    },
  },
  {
    id: 'LONE',
    weight: 2,
    date: 'date',
    properties: {
      date: 'date',
      value: 'number',
      seen: 'integer',
      note: 'text',
    },
  },
  {
    id: 'CODES',
    weight: 5,
    key: 'code',
    date: 'time',
    properties: {
      code: 'integer',
      time: 'time',
      value: 'number',
      count: 'integer',
    },
  },
];

const SYMBOLS: readonly [string, ...string[]] = ['AAPL', 'MSFT', 'BRK.B', 'low'];
const REQUESTED_SYMBOLS: readonly [string, ...string[]] = [
  'aapl',
  'NONE',
  'brk.b',
  'LOW',
  ...SYMBOLS,
];
/** 1.5 is not an integer, and 2.0 is one. */
const NUMBERS: readonly [string, ...string[]] = [
  '1',
  '2',
  '3',
  '4',
  '1',
  '2',
  '1.5',
  '2.0',
  'A',
  '-1',
];
const KINDS: readonly [string, ...string[]] = ['X', 'y', 'Z'];
const NOTES: readonly [string, ...string[]] = ['plain', 'Plain', 'a|b~c', 'ü "q"', ' '];

const STEPS = [0, 0, 1, 2, 5, 6, 7, 8, 14, 27, 28, 29, 30, 31, 59, 60, 88, 91, 92, 182, 365, 366];

/** A day near today, or at the end of a period. */
function dayNear(random: Seeded, today: string): string {
  const sign = random.chance(0.7) ? -1 : 1;
  const kind = random.between(0, 9);
  if (kind < 6) return plusDays(today, sign * random.pick([0, ...STEPS]));
  if (kind === 6) return plusMonths(today, sign * random.pick([1, 2, 3, 6, 12, 24]));
  const first = plusMonths(`${today.slice(0, 8)}01`, sign * random.pick([0, 1, 2, 3, 4, 12]));
  if (kind === 7) return plusDays(first, -random.between(0, 1));
  if (kind === 8)
    return `${today.slice(0, 4)}-${random.pick(['01-01', '12-31', '02-28', '07-01'])}`;
  return random.pick(['2024-03-10', '2024-11-03', '2024-02-29', '1999-12-31', '2100-02-28']);
}

const HOUR = 3_600_000;
const OFFSETS: readonly [number, ...number[]] = [
  0,
  4 * HOUR - 1,
  4 * HOUR,
  5 * HOUR - 1,
  5 * HOUR,
  12 * HOUR,
  20 * HOUR,
  24 * HOUR - 1,
] as unknown as [number, ...number[]];

const timeNear = (random: Seeded, today: string): number =>
  Date.parse(`${dayNear(random, today)}T00:00:00Z`) + random.pick(OFFSETS);

function valueOf(random: Seeded, kind: Kind, today: string): string | number | boolean {
  if (kind === 'number') return random.between(-40, 400) / 4;
  if (kind === 'integer')
    return random.chance(0.5) ? random.between(-3, 9) : timeNear(random, today);
  if (kind === 'boolean') return random.chance(0.5);
  if (kind === 'date') return dayNear(random, today);
  return kind === 'time' ? new Date(timeNear(random, today)).toISOString() : random.pick(NOTES);
}

/** One record; properties outside the index may be null. */
export function valuesOf(random: Seeded, shelf: Shelf, today: string): Values {
  const { key, properties, subkey, date } = shelf;
  const entries = Object.entries(properties).map(([name, kind]) => {
    if (name === key)
      return [name, kind === 'integer' ? random.between(1, 4) : random.pick(SYMBOLS)];
    if (name === subkey) return [name, random.pick(KINDS)];
    const none = name !== date && random.chance(0.2);
    return [name, none ? null : valueOf(random, kind, today)];
  });
  return Object.fromEntries(entries) as Values;
}

export const indexOf = ({ key, subkey, date }: Shelf, values: Values): string =>
  JSON.stringify([key, subkey, date].map((name) => (name === undefined ? null : values[name])));

const CODES: readonly [string, ...string[]] = [
  ...(['today', 'yesterday', 'ytd', 'last-week', 'last-month', 'last-quarter', 'max'] as const),
  'tomorrow',
  'this-week',
  'this-month',
  'this-quarter',
  'next-week',
  'next-month',
  'next-quarter',
  '1d',
  '5d',
  '31d',
  '99999d',
  '1w',
  '2w',
  '1m',
  '2m',
  '6m',
  '13m',
  '1q',
  '3q',
  '1y',
  '2y',
  '10y',
  '99999y',
  '1mm',
  '5dm',
  'YTD',
  'Last-Month',
  '2024',
  '2023',
  'q12024',
  'Q42023',
  'h12024',
  'H22024',
  '1999',
  '9999',
  '0d',
  'next-year',
  '1.5d',
];

const AHEAD = /^(tomorrow|this-|next-)/;

type Query = Record<string, string>;

const compact = (random: Seeded, day: string): string =>
  random.chance(0.3) ? day.replaceAll('-', '') : day;

function waysOf(random: Seeded, today: string): Query {
  const day = (): string => compact(random, dayNear(random, today));
  const kind = random.between(0, 15 - (random.chance(0.7) ? 2 : 0));
  if (kind < 3) return {};
  if (kind < 8) return rangeOf(random);
  if (kind === 8) return { from: day() };
  if (kind === 9) return { to: day() };
  if (kind === 10) {
    const [from = '', to = ''] = [dayNear(random, today), dayNear(random, today)].toSorted();
    return { from, to: compact(random, to) };
  }
  if (kind === 11) return { on: day() };
  if (kind === 12) return { next: String(random.between(1, 5)) };
  if (kind === 13) return { future: random.pick(['true', 'false']) };
  // Two ranges in one request are refused; so is a reversed range.
  if (kind === 14) return { from: day(), to: random.pick([day(), '9999-12-31', '0001-01-01']) };
  return { range: random.pick(CODES), [random.pick(['from', 'on', 'next', 'future'])]: '1' };
}

const wideOf = (random: Seeded): Query =>
  random.pick<Query>([{ range: 'max' }, { range: '2y' }, { future: 'false' }, { range: 'ytd' }]);

function rangeOf(random: Seeded): Query {
  const range = random.pick(CODES);
  const kind = AHEAD.test(range) && random.chance(0.9) ? 0 : random.between(0, 5);
  if (kind < 2) return { range, calendar: 'true' };
  if (kind === 2) return { range, forward: 'true' };
  return kind === 3 ? { range, calendar: 'false', limit: '1' } : { range };
}

function countsOf(random: Seeded): Query {
  const few = (): string => String(random.pick([1, 1, 2, 3, 5, 20, 1_000_000]));
  const choice: Query = random.pick<Query>([
    ...([{}, {}, { limit: few() }, { last: few() }, { first: few() }] as const),

    { first: few(), limit: '1' },
    { limit: few(), sort: 'asc' },
    { first: '2', last: '2' },
  ]);
  return {
    ...choice,
    ...(random.chance(0.2) ? { offset: few() } : {}),
    ...(random.chance(0.15) ? { interval: String(random.between(1, 4)) } : {}),
    ...(random.chance(0.25) ? { sort: random.pick(['asc', 'desc', 'ASC', 'Desc']) } : {}),
  };
}

function conditionOf(random: Seeded, shelf: Shelf, some: Values): string {
  const names = ['key', 'subkey', 'date', ...Object.keys(shelf.properties)] as const;
  const name = random.pick(['note', ...names]);
  const own = some[name] ?? some[shelf.date] ?? '';
  // Another property's value is often of another type, or nearly of this one.
  const other = String(some[random.pick(names)] ?? '');
  const value = random.pick([String(own), String(own), other, 'zzz', '7', '1.5', '-2', '']);
  return `${name}${random.pick(['|', '~'])}${value.replaceAll(',', '')}`;
}

/** Parameters other than days and counts. */
function moreOf(
  random: Seeded,
  shelf: Shelf,
  some: StoredRecord | undefined,
  today: string,
): Query {
  const names = Object.keys(shelf.properties);
  const any = (): string => random.pick(['date', ...names]);
  const fields = names.filter((name) =>
    ['date', 'time', 'integer'].includes(shelf.properties[name] ?? ''),
  );
  const conditions = Array.from({ length: random.between(1, 2) }, () =>
    conditionOf(random, shelf, some ?? {}),
  );
  const written = some?._updated ?? `${today}T12:00:00.000Z`;
  const since = random.pick([written, String(Date.parse(written)), today, dayNear(random, today)]);
  const period = random.pick(['daily', 'weekly', 'monthly', 'Quarterly', 'annual']);
  const fold = random.pick(['', '|last', '|first', '|min', '|max', '|sum', '|ohlc', '|OHLC']);
  const transform = random.pick(['diff', 'rdiff', 'cumul', 'normalize', 'Diff']);
  const dateField = random.pick(['updated', 'date', ...fields, ...fields, any()]);
  return {
    ...(random.chance(0.3) ? { dateField } : {}),
    ...(random.chance(0.3) ? { subattribute: conditions.join(',') } : {}),
    ...(random.chance(0.15) ? { updated: since } : {}),
    ...(random.chance(0.3) ? { collapse: `${period}${fold}` } : {}),
    ...(random.chance(0.3) ? { transform } : {}),
    ...(random.chance(0.15) ? { filter: [any(), any(), random.pick(['none', 'key'])].join() } : {}),
  };
}

function pathOf(
  random: Seeded,
  { key, properties, subkey }: Shelf,
): Pick<SeriesRequest, 'keys' | 'subkey'> {
  if (key === undefined || random.chance(0.1)) return {};
  const texts = properties[key] === 'integer' ? NUMBERS : REQUESTED_SYMBOLS;
  const one = (): string => random.pick(texts);
  const many = random.chance(0.2) ? [one(), one(), one()].join() : one();
  return {
    keys: many,
    ...(subkey !== undefined && random.chance(0.5) ? { subkey: random.pick(['z', ...KINDS]) } : {}),
  };
}

export function pickRequest(
  random: Seeded,
  shelf: Shelf,
  records: readonly StoredRecord[],
  now: string,
): SeriesRequest {
  const today = wallDay(Date.parse(now), ZONE);
  const some = records[random.between(0, Math.max(0, records.length - 1))];
  const more = random.chance(0.6) ? moreOf(random, shelf, some, today) : {};
  // Filters, aggregates and transforms need many records to be tested.
  const rich = more['collapse'] ?? more['transform'] ?? more['subattribute'];
  const wide = rich !== undefined && random.chance(0.7);
  if (wide) {
    const query = { ...(random.chance(0.3) ? countsOf(random) : {}), ...wideOf(random), ...more };
    return { door: 'data', ...pathOf(random, shelf), query };
  }
  return {
    door: random.pick(['data', 'data', 'time-series'] as const),
    ...pathOf(random, shelf),
    query: { ...countsOf(random), ...waysOf(random, today), ...more },
  };
}
