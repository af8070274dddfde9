// How a batch meets the records that are stored: what stays out, what gives way, and what must be
// written again because the schema becomes wider. Files of the work folder only.
import { type Column, columnTypeOf } from '../../store/lake/versions/columns.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import { type Comparison, compareWithStored } from './identical.ts';
import { type MergeBench, type Reconciled, reconcile } from './reconcile.ts';
import { type Rewritten, rewriteStored } from './rewrite.ts';
import type { Edit } from '../../store/lake/edit.ts';
import type { Batch } from '../batch/batchRequest.ts';
import type { SchemaChange, Load } from '../conform/load.ts';
import { keptRepeat } from '../conform/duplicates.ts';

export interface Meeting extends Reconciled, Omit<Comparison, 'batch'> {
  /** What ends all stored files, where all of them go. */
  readonly emptied: Edit | undefined;
  /** The stored records with their columns as they become. */
  readonly rewritten: Rewritten | undefined;
}

/** @throws Failure InvalidBody when more records than may be would have to be written again. */
export async function mergeLoad(
  read: Batch,
  load: Load,
  change: SchemaChange | undefined,
  place: MergeBench,
): Promise<Meeting> {
  const { table } = place;
  const wider = change === undefined ? place : { ...place, table: after(place, change) };
  const { batch: kept, ...counts } = await compareWithStored(read, load, wider);
  const batch = { ...read, ...kept };
  const { tableId } = table;
  const emptied: Edit | undefined =
    table.files.length > 0 ? { kind: 'truncate', tableId } : undefined;
  const { path, stats } = batch;
  const whole = {
    ...counts,
    path,
    stats,
    ignored: 0,
    replaced: 0,
    deletes: [],
    rewritten: undefined,
  };
  if (load.overwrite === true) return { ...whole, emptied };
  if (change === undefined || emptied === undefined || !retypes(change, place)) {
    const met = await reconcile(batch, keptRepeat(load), wider);
    return { ...counts, ...met, emptied: undefined, rewritten: undefined };
  }
  if (load.duplicates === 'replace') {
    const rewritten = await rewriteStored(change.columns, place, { replacedBy: path });
    const replaced = table.records - rewritten.stats.records;
    return { ...whole, replaced, emptied, rewritten };
  }
  const met = await reconcile(batch, 'ignore', wider);
  return { ...counts, ...met, emptied, rewritten: await rewriteStored(change.columns, place) };
}

const after = ({ table }: MergeBench, { columns }: SchemaChange): MergeBench['table'] => ({
  ...table,
  columns,
});

/** Arrays become objects without a file that changes. */
const retypes = ({ widened }: SchemaChange, { table }: MergeBench): boolean =>
  table.columns.some(({ name, type }) => {
    const wider = Object.hasOwn(widened, name) ? widened[name] : undefined;
    return wider !== undefined && columnTypeOf(wider) !== type;
  });

/** What a change of the schema is for the catalog. */
export function schemaEdits(
  { columns, tableId }: MergeBench['table'],
  change: SchemaChange | undefined,
): Edit[] {
  if (change === undefined) return [];
  const known = new Map(columns.map((column) => [column.id, column]));
  const added = change.columns.filter(({ id }) => !known.has(id));
  const altered = change.columns.filter((column) => {
    const was = known.get(column.id);
    return was !== undefined && was.type !== column.type;
  });
  return [
    ...(altered.length === 0
      ? []
      : [{ kind: 'alter-columns', tableId, columns: altered } as const]),
    ...(added.length === 0 ? [] : [{ kind: 'add-columns', tableId, columns: added } as const]),
  ];
}

/** What becomes of a table's columns, and of all that it has. */
export function replacingEdits(before: Table, columns: readonly Column[]): readonly Edit[] {
  const { tableId } = before;
  const gone = before.columns.filter(({ id }) => !columns.some((column) => column.id === id));
  const added = columns.filter(({ id }) => !before.columns.some((column) => column.id === id));
  const altered = columns.filter(({ id, type }) =>
    before.columns.some((column) => column.id === id && column.type !== type),
  );
  const columnIds = gone.map(({ id }) => id);
  return [
    ...(gone.length === 0 ? [] : [{ kind: 'drop-columns', tableId, columnIds } as const]),
    ...(altered.length === 0
      ? []
      : [{ kind: 'alter-columns', tableId, columns: altered } as const]),
    ...(added.length === 0 ? [] : [{ kind: 'add-columns', tableId, columns: added } as const]),
    ...(before.files.length === 0 ? [] : [{ kind: 'truncate', tableId } as const]),
  ];
}
