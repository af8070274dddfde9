// What a query costs (DESIGN.md "Rules of price and ledger"): datasets of others by the records that
// the answer is made of, each by its own weight; all the rest by the answer's rows, or its bytes where
// they are more, by the highest weight among them.
import { type BoundDataset, type BoundTable, datasetsOf } from '../plan/boundTable.ts';
import { countedOf, recordsMost, recordsOf } from './records.ts';
import { type Reference, type Restriction, type Share, sharesOf } from '../reads/references.ts';
import type { Level } from '../reads/leaves.ts';

/** Bytes of an answer that cost as much as a row. */
const OBJECT_BYTES = 1_000;

/** Objects of an answer. By bytes as well: many records in one row cost what they take. */
export const objectsOf = (rows: number, bytes: number): number =>
  Math.max(rows, Math.ceil(bytes / OBJECT_BYTES));

/** The highest weight; 0 for a query that names no dataset. */
export const weightOf = (tables: readonly BoundTable[]): number => highest(datasetsOf(tables));

const highest = (datasets: readonly BoundDataset[]): number =>
  datasets.reduce((most, { dataset }) => Math.max(most, dataset.weight), 0);

/** A dataset, or all that is paid by the answer, with the messages of each of its objects. */
interface Item {
  /** The dearest of them is the first; none of the rest where it names no dataset. */
  readonly bounds: readonly BoundDataset[];
  readonly byRecords: boolean;
  readonly weight: number;
  /** Objects that it costs at least, also when the query fails. */
  readonly least: number;
}

export interface Tariff {
  readonly items: readonly Item[];
  readonly shares: readonly Share[];
  /** What has to be counted when the query is run. */
  readonly counted: readonly Reference[];
}

interface Terms {
  /** Of what its owner sells by the answer: messages for each object, instead of the weights. */
  readonly weight: number | undefined;
  /** Datasets that such a weight is for. */
  readonly isSold: (bound: BoundDataset) => boolean;
  /** What is known of the rows that are answered, and whether they are folded. */
  readonly restrictions?: readonly Restriction[];
  readonly folds?: boolean;
}

/** @throws Failure InvalidParameter for a query that reads too many tables. */
export function tariffOf(level: Level, { folds, isSold, restrictions, weight }: Terms): Tariff {
  const datasets = datasetsOf(level.tables);
  const sold = (bound: BoundDataset): boolean => weight !== undefined && isSold(bound);
  const byRecords = (bound: BoundDataset): boolean =>
    bound.foreign && !sold(bound) && bound.dataset.access.sqlPrice !== 'answer';
  const counts = (bound: BoundDataset): boolean => byRecords(bound) && bound.dataset.weight > 0;
  const shares = datasets.some(counts) ? sharesOf(level, counts, restrictions, folds === true) : [];
  // Also one that only a common table names which nobody reads: DuckDB may read it all the same.
  const own = new Map(
    datasets.filter(counts).map((bound) => [bound.dataset.tableId, bound] as const),
  );
  const least = recordsOf(shares, 0, () => 0);
  const items = [...own.values()].map((bound): Item => {
    const { tableId, weight } = bound.dataset;
    return { bounds: [bound], byRecords: true, weight, least: least.get(tableId) ?? 1 };
  });
  const rest = datasets.filter((bound) => !counts(bound));
  const isRestFree = rest.length === 0 && items.length > 0;
  const counted = countedOf(shares);
  if (isRestFree) return { items, shares, counted };
  return { items: [...items, restOf(rest, weight, sold)], shares, counted };
}

/** The owner sets the price of what is its own; what it only reads costs what its owner says. */
function restOf(
  rest: readonly BoundDataset[],
  set: number | undefined,
  sold: (bound: BoundDataset) => boolean,
): Item {
  const others = highest(rest.filter((bound) => !sold(bound)));
  const most = set === undefined ? others : Math.max(set, others);
  const bounds = rest.toSorted((a, b) => b.dataset.weight - a.dataset.weight);
  const isForeign = rest.some(({ foreign }) => foreign);
  return { bounds, byRecords: false, weight: most, least: isForeign ? 1 : 0 };
}

/** Objects of each item, for an answer of so many rows and bytes. */
export function objectsOfItems(
  { counted, items, shares }: Tariff,
  rows: number,
  bytes: number,
  counts: readonly number[],
): readonly number[] {
  const byReference = new Map(counted.map((one, at) => [one, counts[at] ?? 0]));
  const records = recordsOf(shares, rows, (one) => byReference.get(one) ?? 0);
  return items.map(({ bounds, byRecords, least }) => {
    const id = bounds[0]?.dataset.tableId ?? 0;
    return Math.max(least, byRecords ? (records.get(id) ?? 0) : objectsOf(rows, bytes));
  });
}

/** The most that each item can cost, by the catalog's statistics of index columns. */
export const objectsMost = (tariff: Tariff, rows: number, bytes: number): readonly number[] =>
  objectsOfItems(tariff, rows, bytes, tariff.counted.map(recordsMost));
