// Renames columns of a file to properties, and adds properties that the file does not have.
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

export interface NamedColumn {
  /** The name of the property. */
  readonly name: string;
  /** The name in the file, if it differs. */
  readonly from?: string;
  /** The value for all records: the file has no such column. */
  readonly constant?: string;
}

export const nameInFile = ({ from, name }: NamedColumn): string => from ?? name;

/** Terms of a select list for constants. */
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
 * Selects rows of a file with its columns renamed to properties, and constants.
 * @param besides further columns of the rows, which are kept
 */
export function selectAsProperties(
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
