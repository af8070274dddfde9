// Proposes properties that distinguish the records of a file, by their names and types alone. A proposal is
// proved on all records before it is used (indexProof.ts), and only orders records: it never drops one.
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
/** Names of properties that identify a single record. */
const IDENTIFYING =
  /(?:^|[ _-])(?:id|uid|uuid|code|symbol|ticker|isin|cusip|figi|cik|lei|iata|icao|key)$/i;
/** Names of integers that subdivide the records of a key. */
const DIVIDING =
  /(?:^|[ _-])(?:year|quarter|month|week|day|hour|period|number|no|rank|line|seq|level|version|id|code)$/i;
/** Maximum candidates; each that a sample does not rule out costs a sort. */
const CANDIDATES_MAX = 40;
/** Maximum properties that are combined with the key. */
const PARTS_MAX = 6;

/** Properties by their possible role, the likeliest first. */
interface Parts {
  readonly key: string | undefined;
  readonly identifying: readonly string[];
  readonly texts: readonly string[];
  readonly dividing: readonly string[];
  /** Dates with a usual name of dates. */
  readonly dates: readonly string[];
  readonly otherDates: readonly string[];
}

function classifyProperties(properties: Properties): Parts {
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
    dividing: integers.filter((name) => name !== key && DIVIDING.test(name)),
    dates,
    otherDates: all.filter((name) => !dates.includes(name)),
  };
}

/**
 * The key by its name, and the date: one with a usual name, or else the first property that is a date or
 * time.
 */
export function likeliestIndex(properties: Properties): ColumnMapping {
  const { dates, key, otherDates } = classifyProperties(properties);
  return toMapping(key, undefined, dates[0] ?? otherDates[0]);
}

const toMapping = (
  key: string | undefined,
  subkey: string | undefined,
  date: string | undefined,
): ColumnMapping => ({
  ...(key === undefined ? {} : { key }),
  ...(subkey === undefined ? {} : { subkey }),
  ...(date === undefined ? {} : { date }),
});

/**
 * Other indexes that the records may have, the smallest and likeliest first.
 * @param whole tests a property for a value in every record
 * @param repeats tests a text property for repeated values, which free texts do not have
 */
export function otherIndexes(
  properties: Properties,
  whole: (name: string) => boolean,
  repeats: (name: string) => boolean,
): readonly ColumnMapping[] {
  const parts = classifyProperties(properties);
  const key = parts.key !== undefined && whole(parts.key) ? parts.key : undefined;
  const some = (names: readonly string[]): readonly string[] =>
    names.filter(whole).slice(0, PARTS_MAX);
  const dates = some([...parts.dates, ...parts.otherDates]);
  const identifying = some(parts.identifying);
  const texts = some(parts.texts.filter(repeats));
  const beside = some([...parts.dividing, ...texts]);
  const keys = key === undefined ? [...new Set([...identifying, ...texts])] : [key];
  const mappings: ColumnMapping[] = [];
  const add = (one?: string, two?: string, date?: string): void => {
    if (one !== two) mappings.push(toMapping(one, two, date));
  };
  if (key === undefined) for (const date of dates) add(undefined, undefined, date);
  // Alone, only a property with an identifying name: the first names of five people differ too.
  for (const one of key === undefined ? identifying : [key, ...identifying]) add(one);
  for (const one of keys) for (const date of dates) add(one, undefined, date);
  for (const one of keys) for (const two of beside) add(one, two);
  for (const one of keys) for (const two of beside) for (const date of dates) add(one, two, date);
  return mappings.slice(0, CANDIDATES_MAX);
}

/**
 * The mapping of a series of records without a unique index: the key, which may be blank, and a date that
 * all records have.
 */
export function seriesOf(
  properties: Properties,
  whole: (name: string) => boolean,
  isShort: (name: string) => boolean,
): ColumnMapping {
  const { dates, key, otherDates } = classifyProperties(properties);
  const date = [...dates, ...otherDates].find(whole);
  return toMapping(key !== undefined && isShort(key) ? key : undefined, undefined, date);
}

export const REPEATS_NOT_KEPT = 'records that repeat it are not kept';

/** Describes the index of a dataset for display. @param origin who declared it */
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
      `${REPEATS_NOT_KEPT}; declare it, or set uniqueIndex to false to keep every record`
    );
  }
  return `unique index: ${named}${day}${suffix}`;
}
