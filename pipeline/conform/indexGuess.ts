// Proposes which properties tell the records of a file apart, by their names and types alone. A proposal is
// proved on all records before it is used (indexProof.ts), and orders records only: it never drops one.
import { isDated, type PropertyType } from '../../store/lake/versions/columns.ts';
import type { ColumnMapping, DatasetIndex } from '../../store/lake/datasets/datasets.ts';
import { DATE_NAMES } from '../values/infer.ts';

type Properties = Readonly<Record<string, PropertyType>>;

const KEY_NAMES = [
  'symbol',
  'ticker',
  'key',
  'act symbol',
  'isin',
  'figi',
  'cusip',
  'cik',
  'lei',
  'permno',
  'country',
  'currency',
  'series_id',
  'series',
];
/** What one record alone has, by its name. */
const IDENTIFYING =
  /(?:^|[ _-])(?:id|uid|uuid|code|symbol|ticker|isin|cusip|figi|cik|lei|iata|icao|key)$/i;
/** Integers that part the records of a key. */
const PARTING =
  /(?:^|[ _-])(?:year|quarter|month|week|day|hour|period|number|no|rank|line|seq|level|version|id|code)$/i;
/** Candidates that are looked at; each that a first look does not rule out costs a sort. */
const CANDIDATES_MAX = 40;
/** Properties that may stand beside the key. */
const PARTS_MAX = 6;

/** Properties by what they may be, the likeliest first. */
interface Parts {
  readonly key: string | undefined;
  readonly identifying: readonly string[];
  readonly texts: readonly string[];
  readonly parting: readonly string[];
  /** Dates that are named so. */
  readonly dates: readonly string[];
  readonly otherDates: readonly string[];
}

function partsOf(properties: Properties): Parts {
  const names = Object.keys(properties);
  const typed = (type: PropertyType['type']): readonly string[] =>
    names.filter(
      (name) => properties[name]?.type === type && properties[name]?.format === undefined,
    );
  const named = (words: readonly string[], allowed: readonly string[]): readonly string[] =>
    words.flatMap((word) => allowed.filter((name) => name.toLowerCase() === word));
  const [texts, integers] = [typed('string'), typed('integer')];
  const scalars = names.filter((name) => texts.includes(name) || integers.includes(name));
  const all = names.filter((name) => isDated(properties[name]));
  const dates = named(DATE_NAMES, all);
  const key = named(KEY_NAMES, texts)[0] ?? named(KEY_NAMES, integers)[0];
  return {
    key,
    identifying: scalars.filter((name) => name !== key && IDENTIFYING.test(name)),
    texts: texts.filter((name) => name !== key),
    parting: integers.filter((name) => name !== key && PARTING.test(name)),
    dates,
    otherDates: all.filter((name) => !dates.includes(name)),
  };
}

/**
 * The key by its name, and the date: one that is named so, or else the first property that is a date or
 * time.
 */
export function likeliestIndex(properties: Properties): ColumnMapping {
  const { dates, key, otherDates } = partsOf(properties);
  return mappingOf(key, undefined, dates[0] ?? otherDates[0]);
}

const mappingOf = (
  key: string | undefined,
  subkey: string | undefined,
  date: string | undefined,
): ColumnMapping => ({
  ...(key === undefined ? {} : { key }),
  ...(subkey === undefined ? {} : { subkey }),
  ...(date === undefined ? {} : { date }),
});

/**
 * Other indexes that records may have, the smallest and likeliest first.
 * @param whole has a value in every record
 * @param repeats a text whose values come again, as free texts do not
 */
export function otherIndexes(
  properties: Properties,
  whole: (name: string) => boolean,
  repeats: (name: string) => boolean,
): readonly ColumnMapping[] {
  const parts = partsOf(properties);
  const key = parts.key !== undefined && whole(parts.key) ? parts.key : undefined;
  const some = (names: readonly string[]): readonly string[] =>
    names.filter(whole).slice(0, PARTS_MAX);
  const dates = some([...parts.dates, ...parts.otherDates]);
  const identifying = some(parts.identifying);
  const texts = some(parts.texts.filter(repeats));
  const beside = some([...parts.parting, ...texts]);
  const keys = key === undefined ? [...new Set([...identifying, ...texts])] : [key];
  const made: ColumnMapping[] = [];
  const add = (one?: string, two?: string, date?: string): void => {
    if (one !== two) made.push(mappingOf(one, two, date));
  };
  if (key === undefined) for (const date of dates) add(undefined, undefined, date);
  // Alone, only what is named like it: the first names of five people differ too.
  for (const one of key === undefined ? identifying : [key, ...identifying]) add(one);
  for (const one of keys) for (const date of dates) add(one, undefined, date);
  for (const one of keys) for (const two of beside) add(one, two);
  for (const one of keys) for (const two of beside) for (const date of dates) add(one, two, date);
  return made.slice(0, CANDIDATES_MAX);
}

/**
 * What a series of records without a unique index goes by: the key, which may be blank, and a date that
 * all have.
 */
export function seriesOf(
  properties: Properties,
  whole: (name: string) => boolean,
  isShort: (name: string) => boolean,
): ColumnMapping {
  const { dates, key, otherDates } = partsOf(properties);
  const date = [...dates, ...otherDates].find(whole);
  return mappingOf(key !== undefined && isShort(key) ? key : undefined, undefined, date);
}

/** Which index a dataset has, for a person. @param origin who declared it */
export function describeIndex(
  { inferred, mapping, numbered }: DatasetIndex,
  origin: string,
): string {
  const parts = Object.entries(mapping).map(([part, name]) => `${part} ${String(name)}`);
  const named = parts.join(', ');
  const suffix = origin === '' ? '' : `, ${origin}`;
  if (numbered && parts.length === 0) {
    return `no index${suffix}: every record is kept, in order of arrival`;
  }
  if (numbered) {
    const kind = inferred
      ? `inferred index: ${named}`
      : `no unique index${suffix}, ordered by ${named}`;
    const rule = inferred ? '; declare key, subkey and date to make an index unique' : '';
    return `${kind}: it orders and finds records, and every record is kept${rule}`;
  }
  if (parts.length === 0) return `no index${suffix}`;
  const day = mapping.date === undefined ? ' and the day of loading' : '';
  if (inferred) {
    return (
      `warning: unique index: ${named}${day}, inferred by an earlier version and never declared: ` +
      'records that repeat it are not kept; declare it, or set uniqueIndex to false to keep every record'
    );
  }
  return `unique index: ${named}${day}${suffix}`;
}
