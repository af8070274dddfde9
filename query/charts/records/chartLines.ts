// Groups records into lines if several share a day: by a key, or by the texts that distinguish them.
import { LINES_MAX } from './chart.ts';
import { type Refusal, makeRefusal, type Row } from './chartColumns.ts';

/** A record that has a value, and its day. */
export interface Labelled {
  readonly record: Row;
  readonly label: string;
}

/** The columns that name lines; empty if all records are of one line. */
type LineNaming = readonly string[];

const BETWEEN = ' · ';

/**
 * Chooses the columns that name lines, for records with days. Uses the key of a series; without one, or if it
 * is not enough, the text with the fewest values of which no day has two records, or all texts together.
 */
export function chooseNaming(
  items: readonly Labelled[],
  names: readonly string[],
  key: string | undefined,
): LineNaming | Refusal {
  const base = key !== undefined && differs(items, key) ? [key] : [];
  if (findRepeatedDay(items, base) === undefined) return base;
  const texts = names.filter(
    (name) => !base.includes(name) && items.every(({ record }) => typeof record[name] === 'string'),
  );
  const apart = [...texts.map((text) => [text]), texts]
    .map((more) => [...base, ...more])
    .filter((naming) => findRepeatedDay(items, naming) === undefined)
    .map((naming) => ({ naming, count: countLines(items, naming) }))
    .toSorted((one, other) => one.count - other.count);
  const [best] = apart;
  if (best !== undefined) return best.naming;
  const { label } = findRepeatedDay(items, [...base, ...texts]) ?? {};
  const rule = `draws one line, and there are several values of ${label}: request one`;
  return makeRefusal('records', rule);
}

export const differs = (items: readonly Labelled[], name: string): boolean =>
  items.some(({ record }) => record[name] !== items[0]?.record[name]);

/** Groups lines by name, sorted by name: a line keeps its colour when new records arrive. */
export function groupLines<T extends Labelled>(
  items: readonly T[],
  naming: LineNaming,
): ReadonlyMap<string, readonly T[]> {
  const lines = Map.groupBy(items, ({ record }) => nameOf(record, naming));
  const byName = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
  return new Map([...lines].toSorted(([one], [other]) => byName(one, other)));
}

/** @returns undefined if a chart has room for `columns` lines of each key */
export function refuseTooMany(
  naming: LineNaming,
  keys: number,
  columns: number,
): Refusal | undefined {
  if (keys * columns <= LINES_MAX) return undefined;
  const what = naming.join(' and ');
  const lineText = columns === 1 ? what : `${what} with ${columns} attributes of each`;
  const rule = `draws at most ${LINES_MAX} lines, and there are ${keys} of ${lineText}: request fewer`;
  return makeRefusal('records', rule);
}

const nameOf = (record: Row, naming: LineNaming): string =>
  naming.map((name) => String(record[name] ?? '')).join(BETWEEN);

const countLines = (items: readonly Labelled[], naming: LineNaming): number =>
  new Set(items.map(({ record }) => nameOf(record, naming))).size;

/** Returns the first record that repeats a day of its line. */
function findRepeatedDay(items: readonly Labelled[], naming: LineNaming): Labelled | undefined {
  const seen = new Set<string>();
  return items.find(
    ({ label, record }) => seen.size === seen.add(`${label}\n${nameOf(record, naming)}`).size,
  );
}
