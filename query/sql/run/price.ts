// Prices a query (DESIGN.md "Rules of price and ledger"): datasets of other accounts by the records that the
// answer is computed from, each by its own weight; the rest by the answer's rows, or its bytes if they are
// more, by the highest weight among them.
import { type BoundDataset, type BoundTable, datasetsOf } from '../plan/boundTable.ts';
import { countedReferences, maxReferenceRecords, sumRecords } from './records.ts';
import {
  type Reference,
  type Restriction,
  type Share,
  collectShares,
} from '../pricing/references.ts';
import type { Level } from '../pricing/sourceColumns.ts';

/** Bytes of an answer that cost as much as a row. */
const OBJECT_BYTES = 1_000;

/** Returns the objects of an answer, also by bytes: many records in one row cost by their size. */
export const countObjects = (rows: number, bytes: number): number =>
  Math.max(rows, Math.ceil(bytes / OBJECT_BYTES));

/** Returns the highest weight; 0 for a query that names no dataset. */
export const weightOf = (tables: readonly BoundTable[]): number => highest(datasetsOf(tables));

const highest = (datasets: readonly BoundDataset[]): number =>
  datasets.reduce((most, { dataset }) => Math.max(most, dataset.weight), 0);

/** A dataset, or all datasets that are charged by the answer, with the messages of each object. */
interface Item {
  /** The most expensive dataset is first; empty for the rest of a query without datasets. */
  readonly bounds: readonly BoundDataset[];
  readonly byRecords: boolean;
  readonly weight: number;
  /** Minimum charge in objects, also if the query fails. */
  readonly least: number;
}

export interface Tariff {
  readonly items: readonly Item[];
  readonly shares: readonly Share[];
  /** References whose records must be counted when the query is run. */
  readonly counted: readonly Reference[];
}

interface Terms {
  /** Messages for each object of data that its owner sells by the answer, instead of the weights. */
  readonly weight: number | undefined;
  /** Whether such a weight applies to a dataset. */
  readonly isSold: (bound: BoundDataset) => boolean;
  /** Conditions on the returned rows, and whether they are aggregated. */
  readonly restrictions?: readonly Restriction[];
  readonly folds?: boolean;
}

/** @throws Failure InvalidParameter for a query that reads too many tables. */
export function buildTariff(level: Level, { folds, isSold, restrictions, weight }: Terms): Tariff {
  const datasets = datasetsOf(level.tables);
  const sold = (bound: BoundDataset): boolean => weight !== undefined && isSold(bound);
  const byRecords = (bound: BoundDataset): boolean =>
    bound.foreign && !sold(bound) && bound.dataset.access.sqlPrice !== 'answer';
  const counts = (bound: BoundDataset): boolean => byRecords(bound) && bound.dataset.weight > 0;
  const shares = datasets.some(counts)
    ? collectShares(level, counts, restrictions, folds === true)
    : [];
  // Include datasets of unused common tables: DuckDB may read them anyway.
  const own = new Map(
    datasets.filter(counts).map((bound) => [bound.dataset.tableId, bound] as const),
  );
  const least = sumRecords(shares, 0, () => 0);
  const items = [...own.values()].map((bound): Item => {
    const { tableId, weight } = bound.dataset;
    return { bounds: [bound], byRecords: true, weight, least: least.get(tableId) ?? 1 };
  });
  const rest = datasets.filter((bound) => !counts(bound));
  const isRestFree = rest.length === 0 && items.length > 0;
  const counted = countedReferences(shares);
  if (isRestFree) return { items, shares, counted };
  return { items: [...items, priceRest(rest, weight, sold)], shares, counted };
}

/** Prices the rest: the set weight applies to the owner's datasets, others keep their own weights. */
function priceRest(
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

/** Returns the objects of each item, for an answer of so many rows and bytes. */
export function countItemObjects(
  { counted, items, shares }: Tariff,
  rows: number,
  bytes: number,
  counts: readonly number[],
): readonly number[] {
  const byReference = new Map(counted.map((one, at) => [one, counts[at] ?? 0]));
  const records = sumRecords(shares, rows, (one) => byReference.get(one) ?? 0);
  return items.map(({ bounds, byRecords, least }) => {
    const id = bounds[0]?.dataset.tableId ?? 0;
    return Math.max(least, byRecords ? (records.get(id) ?? 0) : countObjects(rows, bytes));
  });
}

/** Returns the maximum cost of each item, by the catalog's statistics of index columns. */
export const maxItemObjects = (tariff: Tariff, rows: number, bytes: number): readonly number[] =>
  countItemObjects(tariff, rows, bytes, tariff.counted.map(maxReferenceRecords));
