// Merges a batch with the stored records: which of its records are left out, which stored ones are replaced,
// and which must be rewritten because the schema is widened. Writes only files of the work folder.
import { type Column, toColumnType } from '../../store/lake/versions/columns.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import { type Comparison, compareWithStored } from './identical.ts';
import { type MergeTarget, type Reconciled, reconcile } from './reconcile.ts';
import { type Rewritten, rewriteStored } from './rewrite.ts';
import type { Edit } from '../../store/lake/edit.ts';
import type { Batch } from '../batch/batchRequest.ts';
import type { SchemaChange, Load } from '../conform/load.ts';
import { repeatHandling } from '../conform/duplicates.ts';

export interface MergeResult extends Reconciled, Omit<Comparison, 'batch'> {
  /** The edit that removes all stored files, if all of them are replaced. */
  readonly emptied: Edit | undefined;
  /** The stored records with the changed columns. */
  readonly rewritten: Rewritten | undefined;
}

/** @throws Failure InvalidBody if more records than allowed would have to be rewritten. */
export async function mergeLoad(
  read: Batch,
  load: Load,
  change: SchemaChange | undefined,
  place: MergeTarget,
): Promise<MergeResult> {
  const { table } = place;
  const wider = change === undefined ? place : { ...place, table: withColumns(place, change) };
  const { batch: compared, ...counts } = await compareWithStored(read, load, wider);
  const batch = { ...read, ...compared };
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
    const reconciled = await reconcile(batch, repeatHandling(load), wider);
    return { ...counts, ...reconciled, emptied: undefined, rewritten: undefined };
  }
  if (load.duplicates === 'replace') {
    const rewritten = await rewriteStored(change.columns, place, { replacedBy: path });
    const replaced = table.records - rewritten.stats.records;
    return { ...whole, replaced, emptied, rewritten };
  }
  const reconciled = await reconcile(batch, 'ignore', wider);
  return {
    ...counts,
    ...reconciled,
    emptied,
    rewritten: await rewriteStored(change.columns, place),
  };
}

const withColumns = ({ table }: MergeTarget, { columns }: SchemaChange): MergeTarget['table'] => ({
  ...table,
  columns,
});

/** Whether a stored column changes its type. Arrays become objects without a change of files. */
const retypes = ({ widened }: SchemaChange, { table }: MergeTarget): boolean =>
  table.columns.some(({ name, type }) => {
    const wider = Object.hasOwn(widened, name) ? widened[name] : undefined;
    return wider !== undefined && toColumnType(wider) !== type;
  });

/** The catalog edits of a schema change. */
export function schemaEdits(
  { columns, tableId }: MergeTarget['table'],
  change: SchemaChange | undefined,
): Edit[] {
  if (change === undefined) return [];
  const existing = new Map(columns.map((column) => [column.id, column]));
  const added = change.columns.filter(({ id }) => !existing.has(id));
  const altered = change.columns.filter((column) => {
    const was = existing.get(column.id);
    return was !== undefined && was.type !== column.type;
  });
  return [
    ...(altered.length === 0
      ? []
      : [{ kind: 'alter-columns', tableId, columns: altered } as const]),
    ...(added.length === 0 ? [] : [{ kind: 'add-columns', tableId, columns: added } as const]),
  ];
}

/** The edits that replace a table's columns, and remove all of its files. */
export function replacingEdits(before: Table, columns: readonly Column[]): readonly Edit[] {
  const { tableId } = before;
  const dropped = before.columns.filter(({ id }) => !columns.some((column) => column.id === id));
  const added = columns.filter(({ id }) => !before.columns.some((column) => column.id === id));
  const altered = columns.filter(({ id, type }) =>
    before.columns.some((column) => column.id === id && column.type !== type),
  );
  const columnIds = dropped.map(({ id }) => id);
  return [
    ...(dropped.length === 0 ? [] : [{ kind: 'drop-columns', tableId, columnIds } as const]),
    ...(altered.length === 0
      ? []
      : [{ kind: 'alter-columns', tableId, columns: altered } as const]),
    ...(added.length === 0 ? [] : [{ kind: 'add-columns', tableId, columns: added } as const]),
    ...(before.files.length === 0 ? [] : [{ kind: 'truncate', tableId } as const]),
  ];
}
