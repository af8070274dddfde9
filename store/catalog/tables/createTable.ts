// Declares and creates the tables of the catalog.
import type { ColumnType, Kysely } from 'kysely';

/** A boolean column: SQLite returns 0 or 1, PostgreSQL true or false; convert it with `Boolean`. */
export type SqlBoolean = ColumnType<boolean | number, boolean, boolean>;

/** A column that a later step added: an insert may omit it, and its default applies. */
export type Added<T> = ColumnType<T, T | undefined, T>;

export type AddedBoolean = ColumnType<boolean | number, boolean | undefined, boolean>;

/** Creates a table from the compact notation `name type, name! type`; `!` marks the primary key. */
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

/** Whether a table exists and has a column. */
export async function hasColumn(
  database: Kysely<unknown>,
  table: string,
  column: string,
): Promise<boolean> {
  const tables = await database.introspection.getTables();
  const existing = tables.find(({ name }) => name === table)?.columns ?? [];
  return existing.some(({ name }) => name === column);
}
