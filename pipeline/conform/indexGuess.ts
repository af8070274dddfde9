// Which properties may tell the records of a file apart: by their names and types alone. What is guessed
// here is proved on all the records, or not used (indexProof.ts).
import { isDated, type PropertyType } from '../../store/lake/versions/columns.ts';
import type { ColumnMapping } from '../../store/lake/datasets/datasets.ts';
import { DATE_NAMES } from '../values/infer.ts';

type Properties = Readonly<Record<string, PropertyType>>;

const KEY_NAMES = [
  ...['symbol', 'ticker', 'key', 'act symbol', 'isin', 'figi', 'cusip', 'cik', 'lei', 'permno'],
  ...['country', 'currency', 'series_id', 'series'],
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
 * What tells records apart most likely: the key and the date that are named so. A date of another name
 * is taken only where there is no key: `Date added` beside one is no index.
 */
export function likeliestIndex(properties: Properties): ColumnMapping {
  const { dates, key, otherDates } = partsOf(properties);
  const date = dates[0] ?? (key === undefined ? otherDates[0] : undefined);
  return mappingOf(key, undefined, date);
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

/** Which index a dataset has and why, for a person. */
export function indexTold(
  { mapping, numbered }: { readonly mapping: ColumnMapping; readonly numbered: boolean },
  why: string,
): string {
  const parts = Object.entries(mapping).map(([part, name]) => `${part} ${String(name)}`);
  const named = parts.join(', ');
  if (numbered) {
    const series = parts.length === 0 ? '' : `, a series by ${named}`;
    return `no unique index, ${why}: every record is kept, in the order of coming${series}`;
  }
  if (parts.length === 0) return `no unique index, ${why}`;
  const day = mapping.date === undefined ? ' and the day of loading' : '';
  return `unique index: ${named}${day}, ${why}`;
}
