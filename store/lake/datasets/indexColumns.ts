// Finds the index columns of a version: those of its dataset's mapping, as far as the version has them. An
// old version may lack columns that were added later, or have others.
import { type Column, CREATED_COLUMN, ROW_COLUMN, UPDATED_COLUMN } from '../versions/columns.ts';
import type { ColumnMapping } from './datasets.ts';

interface Version {
  readonly columns: readonly Column[];
}

interface IndexNames {
  readonly key: string | undefined;
  readonly subkey: string | undefined;
  readonly date: string;
  /** Column of record numbers, if any. */
  readonly row: string | undefined;
}

/** Lists the columns of the unique index: key, subkey, date; the record number without an index. */
export function listIndexColumns(mapping: ColumnMapping, version: Version): readonly string[] {
  const { date, key, row, subkey } = findIndexNames(mapping, version);
  return [key, subkey, date, row].filter((name) => name !== undefined);
}

export function findIndexNames(mapping: ColumnMapping, { columns }: Version): IndexNames {
  const findName = (name: string | undefined): string | undefined =>
    columns.some((column) => column.name === name) ? name : undefined;
  return {
    key: findName(mapping.key),
    subkey: findName(mapping.subkey),
    date: findName(mapping.date) ?? findName(CREATED_COLUMN) ?? UPDATED_COLUMN,
    row: findName(ROW_COLUMN),
  };
}
