// Serves `information_schema` for tools: the datasets and views that the caller may read, as tables without
// files whose records are built for the query. They are free, as DESCRIBE and SHOW TABLES are.
import { lookupTable } from '../../store/base/lookupTable.ts';
import type { BoundDataset } from '../../query/sql/plan/boundTable.ts';
import type { Hint } from '../../query/sql/plan/selectPlan.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Dataset, RecordSchema } from '../../store/lake/datasets/datasets.ts';
import { DATASET_DEFAULTS } from '../../store/lake/datasets/datasets.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import {
  type Column,
  toColumnType,
  sqlType,
  UPDATED_COLUMN,
} from '../../store/lake/versions/columns.ts';
import { readableDatasets } from '../rights/access.ts';
import { readableViews } from '../rights/viewAccess.ts';
import type { ReadServices } from '../request/readServices.ts';

type SchemaServices = Pick<ReadServices, 'clock' | 'lake' | 'queries'>;

const SCHEMA = 'INFORMATION_SCHEMA';
const CATALOG = 'tapedeck';

/** Maximum records of one table, which are bound as one parameter of about 4 MB. */
const ROWS_MAX = 20_000;

const text = { type: 'string' } as const;
const whole = { type: 'integer' } as const;

/** A dataset or view that a query can select from. */
interface TableEntry {
  readonly table_schema: string;
  readonly table_name: string;
  readonly table_type: 'BASE TABLE' | 'VIEW';
  readonly title: string;
  readonly schema: RecordSchema;
}

type Row = Readonly<Record<string, string | number | null>>;

interface SchemaTable {
  readonly properties: Readonly<Record<string, typeof text | typeof whole>>;
  readonly rows: (entries: Iterable<TableEntry>) => Iterable<Row>;
}

/** The supported columns of the SQL standard, under its names. */
const TABLES = lookupTable<SchemaTable>({
  SCHEMATA: {
    properties: { catalog_name: text, schema_name: text },
    rows: function* (entries) {
      for (const schema_name of new Set([...entries].map(({ table_schema }) => table_schema))) {
        yield { catalog_name: CATALOG, schema_name };
      }
    },
  },
  TABLES: {
    properties: {
      table_catalog: text,
      table_schema: text,
      table_name: text,
      table_type: text,
      TABLE_COMMENT: text,
    },
    rows: function* (entries) {
      for (const { table_name, table_schema, table_type, title } of entries) {
        const comment = title === '' ? null : title;
        yield {
          table_catalog: CATALOG,
          table_schema,
          table_name,
          table_type,
          TABLE_COMMENT: comment,
        };
      }
    },
  },
  COLUMNS: {
    properties: {
      table_catalog: text,
      table_schema: text,
      table_name: text,
      column_name: text,
      ordinal_position: whole,
      is_nullable: text,
      data_type: text,
    },
    rows: function* (entries) {
      for (const { schema, table_name, table_schema } of entries) {
        for (const [at, [column_name, property]] of Object.entries(schema.properties).entries()) {
          const is_nullable = schema.required.includes(column_name) ? 'NO' : 'YES';
          const data_type = sqlType(toColumnType(property));
          yield {
            table_catalog: CATALOG,
            table_schema,
            table_name,
            column_name,
            ordinal_position: at + 1,
            is_nullable,
            data_type,
          };
        }
      }
    },
  },
});

export const NO_STORED_INFORMATION = 'information_schema is not allowed in stored queries';

export const isInformation = ({ workspace }: Pick<Dataset, 'workspace'>): boolean =>
  workspace === SCHEMA;

/** Finds the table of a name; undefined for another name. */
export function findInformationTable(
  workspace: string | undefined,
  name: string,
  createdMs: number,
): Dataset | undefined {
  const dataset = name.toUpperCase();
  const schemaTable = workspace?.toUpperCase() === SCHEMA ? TABLES[dataset] : undefined;
  if (schemaTable === undefined) return undefined;
  const { properties } = schemaTable;
  return {
    ...DATASET_DEFAULTS,
    tableId: 0,
    workspace: SCHEMA,
    dataset,
    weight: 0,
    createdMs,
    updatedMs: createdMs,
    schema: {
      type: 'object',
      properties,
      required: [],
    },
    mapping: { date: UPDATED_COLUMN },
  };
}

/**
 * Builds the records of a table for the caller.
 * @param hints conditions of the query on this table: the requested workspaces and names
 * @throws Failure InvalidParameter above the maximum number of records.
 */
export function bindInformation(
  dataset: Dataset,
  caller: Caller,
  hints: readonly Hint[],
  moment: Moment,
  services: SchemaServices,
): BoundDataset {
  const timeMs = services.clock();
  const names = Object.keys(dataset.schema.properties);
  const pending: PendingRow[] = [];
  const entries = selectTables(listTables(caller, services), hints);
  for (const document of TABLES[dataset.dataset]?.rows(entries) ?? []) {
    if (pending.length === ROWS_MAX) refuseMore(dataset);
    const sequence = pending.length + 1;
    pending.push({ index: String(sequence), replaces: true, document, sequence, timeMs });
  }
  const columns: Column[] = names.map((name, at) => {
    const type = toColumnType(dataset.schema.properties[name] ?? text);
    return { id: at + 1, name, type, nullable: true };
  });
  columns.push({ id: 0, name: UPDATED_COLUMN, type: 'timestamp', nullable: false });
  const { snapshot } = moment;
  const table = { tableId: 0, snapshot, folder: '', columns, files: [], records: 0, bytes: 0 };
  return {
    kind: 'dataset',
    dataset,
    foreign: false,
    table,
    pending,
    moment,
    newest: moment.sequence,
    visibility: { kind: 'all' },
  };
}

function listTables(caller: Caller, { lake, queries }: SchemaServices): readonly TableEntry[] {
  const datasets = readableDatasets(caller, lake).map(({ dataset, schema, title, workspace }) => ({
    table_schema: workspace,
    table_name: dataset,
    table_type: 'BASE TABLE' as const,
    title,
    schema,
  }));
  const views = readableViews(caller, { lake, queries }).map(
    ({ name, schema, title, workspace }) => ({
      table_schema: workspace,
      table_name: name,
      table_type: 'VIEW' as const,
      title,
      schema,
    }),
  );
  const all: readonly TableEntry[] = [...datasets, ...views];
  const order = ({ table_name, table_schema }: TableEntry): string =>
    `${table_schema} ${table_name}`;
  return all.toSorted((one, other) => (order(one) < order(other) ? -1 : 1));
}

/** Selects the tables that can match the conditions of the query, which checks them again. */
function selectTables(
  entries: readonly TableEntry[],
  hints: readonly Hint[],
): readonly TableEntry[] {
  const equalityHints = hints.filter(({ numeric, operator }) => operator === '=' && !numeric);
  return entries.filter((one) =>
    equalityHints.every(({ column, values }) => {
      const name = column.toLowerCase();
      return name !== 'table_schema' && name !== 'table_name' ? true : values.includes(one[name]);
    }),
  );
}

function refuseMore({ dataset }: Dataset): never {
  const rule = `has more than ${ROWS_MAX} records for you: select one table_name`;
  throw new Failure('InvalidParameter', `"sqlQuery": information_schema.${dataset} ${rule}`);
}
