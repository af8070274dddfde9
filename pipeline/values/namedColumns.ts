// Columns of a file under other names than it gives them, and properties that it does not have at all.
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

export interface NamedColumn {
  /** Of the property that it is. */
  readonly name: string;
  /** What the file calls it, where that is not the same. */
  readonly from?: string;
  /** The value of each record: the file has no such column. */
  readonly constant?: string;
}

export const nameInFile = ({ from, name }: NamedColumn): string => from ?? name;

/** Members of a select list, each a value that all records have. */
export const constantTerms = <T extends NamedColumn>(
  columns: readonly T[],
  typeOf: (column: T) => string,
): readonly string[] =>
  columns.flatMap((column) =>
    column.constant === undefined
      ? []
      : [`CAST(${literal(column.constant)} AS ${typeOf(column)}) AS ${identifier(column.name)}`],
  );

/**
 * Rows of a file with its columns under the names of properties, and constants beside them.
 * @param besides further columns of the rows, which are passed on
 */
export function underProperties(
  rows: string,
  columns: readonly NamedColumn[],
  constants: readonly string[],
  ...besides: readonly string[]
): string {
  const same = columns.every((column) => nameInFile(column) === column.name);
  if (same && constants.length === 0) return rows;
  const named = columns.map(
    (column) => `${identifier(nameInFile(column))} AS ${identifier(column.name)}`,
  );
  return `(SELECT ${[...besides, ...named, ...constants].join(', ')} FROM ${rows})`;
}
