// How the tables of the catalog are declared and made.
import type { ColumnType, Kysely } from 'kysely';

/** A boolean column: SQLite answers 0 or 1, PostgreSQL true or false; read it by truth. */
export type SqlBoolean = ColumnType<boolean | number, boolean, boolean>;

/** A column that a later step added: an insert may leave it to its default. */
export type Added<T> = ColumnType<T, T | undefined, T>;

export type AddedBoolean = ColumnType<boolean | number, boolean | undefined, boolean>;

/** One `create table` from the compact notation: `name type, name! type`. */
export async function createTable(
  database: Kysely<unknown>,
  table: string,
  columns: string,
): Promise<void> {
  let builder = database.schema.createTable(table);
  for (const column of columns.split(/,\s+/)) {
    const [name = '', type = ''] = column.trim().split(/\s+/);
    const key = name.endsWith('!');
    const dataType = type as 'bigint' | 'text' | 'boolean' | 'timestamptz' | 'uuid';
    builder = builder.addColumn(key ? name.slice(0, -1) : name, dataType, (definition) =>
      key ? definition.primaryKey() : definition,
    );
  }
  await builder.execute();
}

/** Whether a table is there and has a column. */
export async function hasColumn(
  database: Kysely<unknown>,
  table: string,
  column: string,
): Promise<boolean> {
  const tables = await database.introspection.getTables();
  const known = tables.find(({ name }) => name === table)?.columns ?? [];
  return known.some(({ name }) => name === column);
}
