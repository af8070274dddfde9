// Compiles the catalog's SQL for PostgreSQL. Tables of the DuckLake format have PostgreSQL's ids and times;
// text compares by its bytes, as in SQLite, independent of the database's locale.
import {
  type ColumnMetadata,
  type DatabaseIntrospector,
  type DataTypeNode,
  type Kysely,
  PostgresAdapter,
  PostgresQueryCompiler,
  sql,
  type TableMetadata,
} from 'kysely';
import type { SqlDialect } from '../catalog/database.ts';
import { MARK_TABLE } from './commitMarks.ts';
import { HOLDER_TABLE } from './schemaLock.ts';
import { NODE_TABLE } from './nodeTable.ts';

class SingleConnectionAdapter extends PostgresAdapter {
  override get supportsMultipleConnections(): boolean {
    return false;
  }
}

class BytewiseCompiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    this.append(node.dataType === 'text' ? 'text collate "C"' : node.dataType);
  }
}

export const postgresDialect = (schema: string): SqlDialect => ({
  compiler: () => new BytewiseCompiler(),
  adapter: () => new SingleConnectionAdapter(),
  introspector: (database): DatabaseIntrospector => ({
    getSchemas: async () => [{ name: schema }],
    getTables: () => listTables(database, schema),
  }),
});

interface ColumnRow {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly required: boolean;
  readonly fallback: boolean;
}

/** Lists the tables of one schema: a database may have thousands of others. */
async function listTables(database: Kysely<unknown>, schema: string): Promise<TableMetadata[]> {
  const { rows } = await sql<ColumnRow>`
    select c.relname as "table", a.attname as "column", t.typname as type,
      a.attnotnull as required, a.atthasdef as fallback
    from pg_catalog.pg_class c
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_catalog.pg_type t on t.oid = a.atttypid
    where c.relkind = 'r' and c.relname not in (${HOLDER_TABLE}, ${MARK_TABLE}, ${NODE_TABLE})
      and c.relnamespace = to_regnamespace(quote_ident(${schema}))
    order by c.relname, a.attnum`.execute(database);
  const tables = new Map<string, ColumnMetadata[]>();
  for (const { column, fallback, required, table, type } of rows) {
    const columns = tables.get(table) ?? [];
    columns.push({
      name: column,
      dataType: type,
      isNullable: !required,
      hasDefaultValue: fallback,
      isAutoIncrementing: false,
    });
    tables.set(table, columns);
  }
  return [...tables].map(([name, columns]) => ({
    name,
    schema,
    isView: false,
    isForeign: false,
    columns,
  }));
}
