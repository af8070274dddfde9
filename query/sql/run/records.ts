// Determines how many records of a dataset an answer is computed from: at most, by the catalog's statistics
// of index columns; and exactly, by a count over the same version with the conditions on those columns.
import type { Bound } from '../../../store/duckdb/protocol.ts';
import type { FileAccess } from '../../../store/lake/versions/tableSql.ts';
import { type Bind, makeBind } from '../../plan/binding.ts';
import { type BoundDataset, filesFor, indexNames, printTable } from '../plan/boundTable.ts';
import { columnsIn, conjunction } from '../lower/expressionParts.ts';
import { hintsOf } from '../lower/hints.ts';
import { folded } from '../lower/lowering.ts';
import { printExpression } from '../print/printExpression.ts';
import { type Moment, type Printed, printInner, type PrintTable } from '../print/printQuery.ts';
import type { Reference, Restriction, Share } from '../pricing/references.ts';
import type { Level } from '../pricing/sourceColumns.ts';
import type { Expression, Hint } from '../plan/selectPlan.ts';
import type { Writer } from '../print/writer.ts';
import { identifier } from '../../../store/duckdb/sqlText.ts';

type Member = Extract<Restriction, { kind: 'member' }>;

interface Indexed {
  readonly tests: readonly Expression[];
  /** Members with index columns, and the positions of those columns in each. */
  readonly members: readonly { readonly member: Member; readonly places: readonly number[] }[];
}

/** Selects the restrictions of a reference on its index columns. */
function selectIndexed({ bound, restrictions }: Reference): Indexed {
  const index = new Set(indexNames(bound).map(folded));
  const tests = restrictions.flatMap((one) => {
    if (one.kind !== 'test') return [];
    const columns = columnsIn(one.test) ?? [];
    return columns.every(({ path }) => index.has(path.at(-1) ?? '')) ? [one.test] : [];
  });
  const members = restrictions.flatMap((one) => {
    if (one.kind !== 'member') return [];
    const places = one.columns.flatMap((name, at) => (index.has(name) ? [at] : []));
    return places.length === 0 ? [] : [{ member: one, places }];
  });
  return { tests, members };
}

const hintsFor = (tests: readonly Expression[]): readonly Hint[] =>
  hintsOf({ kind: 'table', index: 0, alias: '', columns: [] }, conjunction(tests));

/** Returns the maximum number of records of a reference, by the catalog alone. */
export function maxReferenceRecords(reference: Reference): number {
  const { bound } = reference;
  const hints = hintsFor(selectIndexed(reference).tests);
  const stored = filesFor(bound, hints).reduce(
    (sum, { deletes, records }) => sum + records - (deletes?.records ?? 0),
    0,
  );
  return Math.min(stored + bound.pending.length, uniqueMost(bound, hints));
}

/** Bounds the records by the unique index, if conditions name values of each of its columns. */
function uniqueMost(bound: BoundDataset, hints: readonly Hint[]): number {
  return indexNames(bound).reduce((product, name) => {
    const counts = hints
      // Digits are compared as numbers: several texts may equal one number.
      .filter(
        ({ column, numeric, operator }) =>
          !numeric && operator === '=' && folded(column) === folded(name),
      )
      .map(({ values }) => new Set(values).size);
    return product * Math.min(Infinity, ...counts);
  }, 1);
}

/** Returns the number of records, if the catalog has it. */
export function catalogRecords(reference: Reference): number | undefined {
  const { bound } = reference;
  const { members, tests } = selectIndexed(reference);
  const isWhole = tests.length === 0 && members.length === 0 && bound.pending.length === 0;
  return isWhole && bound.visibility.kind === 'all' ? bound.table.records : undefined;
}

/** Returns the references whose records are counted. */
export const countedReferences = (shares: readonly Share[]): readonly Reference[] =>
  shares.flatMap((share) => (share.kind === 'records' ? [share.reference] : []));

/** Returns the table printer of a level. */
type PrintTables = (level: Level) => PrintTable;

/**
 * Prints a statement of one row, with the number of records of each reference in order.
 * @param byTests ignores equalities with other tables, which counts more records
 */
export function printCounts(
  references: readonly Reference[],
  place: FileAccess,
  tables: PrintTables,
  moment: Moment,
  byTests: boolean,
): Printed {
  const parameters: Bound[] = [];
  const bind = makeBind(parameters);
  const counts = references.map((reference, at) => {
    const { members, tests } = selectIndexed(reference);
    const rows = printTable(reference.bound, hintsFor(tests), { ...place, system: false }, bind);
    const conditions = [
      ...tests.map((test) => printExpression(test, writerOf(moment, bind))),
      ...(byTests ? [] : members).map((one) => printMember(one, tables, moment, bind)),
    ];
    const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
    return `(SELECT count(*) FROM ${rows} AS ${COUNTED}${where}) AS n${at}`;
  });
  return { sql: `SELECT ${counts.join(', ')}`, parameters };
}

const COUNTED = '_counted';
const columnOf = (name: string): string => `${COUNTED}.${identifier(name)}`;

const writerOf = (moment: Moment, bind: Bind): Writer => {
  const none = (): never => {
    throw new Error('a condition on an index column has no sub-select');
  };
  return {
    column: (path) => columnOf(path.at(-1) ?? ''),
    text: bind,
    moment: (what) =>
      what === 'date'
        ? `CAST(${bind(moment.today)} AS DATE)`
        : `CAST(${bind(moment.now)} AS TIMESTAMP)`,
    name: identifier,
    query: none,
    table: none,
  };
};

function printMember(
  { member, places }: Indexed['members'][number],
  tables: PrintTables,
  moment: Moment,
  bind: Bind,
): string {
  const { columns, rows } = member;
  const query = printInner(rows.query, tables(rows.level), moment, bind);
  const names = columns.map((_, at) => `v${at}`);
  const equal = places.map((at) => `_member.v${at} = ${columnOf(columns[at] ?? '')}`);
  return `EXISTS (FROM (${query}) AS _member(${names.join(', ')}) WHERE ${equal.join(' AND ')})`;
}

/** Records by dataset. */
type Records = ReadonlyMap<BoundDataset['dataset']['tableId'], number>;

/**
 * Sums the records of each dataset; each reference has at least one, since an empty answer is an answer too.
 * @param rows rows of the answer
 * @param counts returns the records of a counted reference
 */
export function sumRecords(
  shares: readonly Share[],
  rows: number,
  counts: (reference: Reference) => number,
): Records {
  const sum = new Map<number, number>();
  for (const share of shares) {
    for (const [id, records] of chargeShare(share, rows, counts)) {
      sum.set(id, (sum.get(id) ?? 0) + records);
    }
  }
  return sum;
}

type Entries = readonly (readonly [tableId: number, records: number])[];

function chargeShare(
  share: Share,
  rows: number,
  counts: (reference: Reference) => number,
): Entries {
  if (share.kind === 'either') return chargeEither(share, rows, counts);
  const { reference } = share;
  const most = maxReferenceRecords(reference);
  const records = share.kind === 'rows' ? Math.min(rows, most) : counts(reference);
  return [[reference.bound.dataset.tableId, Math.max(1, records)]];
}

/**
 * The rows are from both sides in unknown proportion. Charges all rows to the more expensive side and the
 * minimum to the other; or all rows to both, if their datasets are so small that this is less.
 */
function chargeEither(
  { left, right }: Extract<Share, { kind: 'either' }>,
  rows: number,
  counts: (reference: Reference) => number,
): Entries {
  const of = (side: readonly Share[], count: number): Entries =>
    side.flatMap((share) => chargeShare(share, count, counts));
  const isLeft = weightPerRow(left) >= weightPerRow(right);
  const [expensive, inexpensive] = isLeft ? [left, right] : [right, left];
  const one = [...chargeUncapped(expensive, rows), ...of(inexpensive, 0)];
  const both = [...of(left, rows), ...of(right, rows)];
  return messagesOf(one, [...left, ...right]) <= messagesOf(both, [...left, ...right]) ? one : both;
}

/** Charges as many records as there are rows, even if the dataset has fewer. */
const chargeUncapped = (shares: readonly Share[], rows: number): Entries =>
  shares.flatMap((share): Entries => {
    if (share.kind === 'either') {
      const isLeft = weightPerRow(share.left) >= weightPerRow(share.right);
      const [expensive, inexpensive] = isLeft
        ? [share.left, share.right]
        : [share.right, share.left];
      return [...chargeUncapped(expensive, rows), ...chargeUncapped(inexpensive, 0)];
    }
    return [[share.reference.bound.dataset.tableId, Math.max(1, rows)]];
  });

const weightPerRow = (shares: readonly Share[]): number =>
  shares.reduce((sum, share) => {
    if (share.kind !== 'either') return sum + share.reference.bound.dataset.weight;
    return sum + Math.max(weightPerRow(share.left), weightPerRow(share.right));
  }, 0);

function messagesOf(entries: Entries, shares: readonly Share[]): number {
  const weights = new Map(
    referencesOf(shares).map(({ bound }) => [bound.dataset.tableId, bound.dataset.weight]),
  );
  return entries.reduce((sum, [id, records]) => sum + records * (weights.get(id) ?? 0), 0);
}

/** Returns all references, each as often as it is counted. */
const referencesOf = (shares: readonly Share[]): readonly Reference[] =>
  shares.flatMap((share) =>
    share.kind === 'either' ? referencesOf([...share.left, ...share.right]) : [share.reference],
  );
