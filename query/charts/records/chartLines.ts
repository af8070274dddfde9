// Which records are of which line, where several are of one day: a key, or the texts that tell them apart.
import { LINES_MAX } from './chart.ts';
import { type Refusal, refused, type Row } from './chartColumns.ts';

/** A record that has a value, and the day that it is of. */
export interface Labelled {
  readonly record: Row;
  readonly label: string;
}

/** The columns that name lines; none where all records are of one. */
type LineNaming = readonly string[];

const BETWEEN = ' · ';

/**
 * Of days alone. A series says what its key is; else, and where that is not enough, it is the text with the
 * fewest values of which no day has two records, or all texts together.
 */
export function namingOf(
  items: readonly Labelled[],
  names: readonly string[],
  key: string | undefined,
): LineNaming | Refusal {
  const base = key !== undefined && differs(items, key) ? [key] : [];
  if (twiceOf(items, base) === undefined) return base;
  const texts = names.filter(
    (name) => !base.includes(name) && items.every(({ record }) => typeof record[name] === 'string'),
  );
  const apart = [...texts.map((text) => [text]), texts]
    .map((more) => [...base, ...more])
    .filter((naming) => twiceOf(items, naming) === undefined)
    .map((naming) => ({ naming, count: countOf(items, naming) }))
    .toSorted((one, other) => one.count - other.count);
  const [best] = apart;
  if (best !== undefined) return best.naming;
  const { label } = twiceOf(items, [...base, ...texts]) ?? {};
  const rule = `draws one line, and there are several values of ${label}: ask for one`;
  return refused('records', rule);
}

export const differs = (items: readonly Labelled[], name: string): boolean =>
  items.some(({ record }) => record[name] !== items[0]?.record[name]);

/** Lines by their names, in the order of these: a line keeps its colour when records come anew. */
export function linesOf<T extends Labelled>(
  items: readonly T[],
  naming: LineNaming,
): ReadonlyMap<string, readonly T[]> {
  const lines = Map.groupBy(items, ({ record }) => nameOf(record, naming));
  const byName = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
  return new Map([...lines].toSorted(([one], [other]) => byName(one, other)));
}

/** @returns undefined where a chart has room for `columns` lines of each key. */
export function tooMany(naming: LineNaming, keys: number, columns: number): Refusal | undefined {
  if (keys * columns <= LINES_MAX) return undefined;
  const what = naming.join(' and ');
  const asked = columns === 1 ? what : `${what} with ${columns} attributes of each`;
  const rule = `draws at most ${LINES_MAX} lines, and there are ${keys} of ${asked}: ask for fewer`;
  return refused('records', rule);
}

const nameOf = (record: Row, naming: LineNaming): string =>
  naming.map((name) => String(record[name] ?? '')).join(BETWEEN);

const countOf = (items: readonly Labelled[], naming: LineNaming): number =>
  new Set(items.map(({ record }) => nameOf(record, naming))).size;

/** The first record of a line that has a day again. */
function twiceOf(items: readonly Labelled[], naming: LineNaming): Labelled | undefined {
  const seen = new Set<string>();
  return items.find(
    ({ label, record }) => seen.size === seen.add(`${label}\n${nameOf(record, naming)}`).size,
  );
}
