// Which columns a version's records go by: those of its dataset's mapping, as far as the version has them.
// An old one may lack what the dataset was given since, or what was taken from it.
import { type Column, CREATED_COLUMN, ROW_COLUMN, UPDATED_COLUMN } from '../versions/columns.ts';
import type { ColumnMapping } from './datasets.ts';

interface Version {
  readonly columns: readonly Column[];
}

interface IndexNames {
  readonly key: string | undefined;
  readonly subkey: string | undefined;
  readonly date: string;
  /** Of records that are numbered. */
  readonly row: string | undefined;
}

/** Columns of the unique index: key, subkey, date; the number of a record that has none. */
export function indexOf(mapping: ColumnMapping, version: Version): readonly string[] {
  const { date, key, row, subkey } = indexNamesOf(mapping, version);
  return [key, subkey, date, row].filter((name) => name !== undefined);
}

export function indexNamesOf(mapping: ColumnMapping, { columns }: Version): IndexNames {
  const known = (name: string | undefined): string | undefined =>
    columns.some((column) => column.name === name) ? name : undefined;
  return {
    key: known(mapping.key),
    subkey: known(mapping.subkey),
    date: known(mapping.date) ?? known(CREATED_COLUMN) ?? UPDATED_COLUMN,
    row: known(ROW_COLUMN),
  };
}
