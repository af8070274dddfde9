// `information_schema` as tools ask it: what the caller may read, as tables without files whose records are
// made for the question. They cost nothing, as DESCRIBE and SHOW TABLES do.
import type { BoundDataset } from '../../query/sql/plan/boundTable.ts';
import type { Hint } from '../../query/sql/plan/selectPlan.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Dataset, RecordSchema } from '../../store/lake/datasets/datasets.ts';
import { UNSAID } from '../../store/lake/datasets/datasets.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import {
  type Column,
  columnTypeOf,
  sqlType,
  UPDATED_COLUMN,
} from '../../store/lake/versions/columns.ts';
import { readableDatasets } from '../auth/access.ts';
import { readableViews } from '../auth/viewAccess.ts';
import type { Services } from '../request/endpoint.ts';

type SchemaServices = Pick<Services, 'clock' | 'lake' | 'queries'>;

const SCHEMA = 'INFORMATION_SCHEMA';
const CATALOG = 'tapedeck';

/** Records of one table, which are bound as one parameter of about 4 MB. */
const ROWS_MAX = 20_000;

const text = { type: 'string' } as const;
const whole = { type: 'integer' } as const;

/** Something that can be selected from. */
interface Named {
  readonly table_schema: string;
  readonly table_name: string;
  readonly table_type: 'BASE TABLE' | 'VIEW';
  readonly title: string;
  readonly schema: RecordSchema;
}

type Row = Readonly<Record<string, string | number | null>>;

interface SchemaTable {
  readonly properties: Readonly<Record<string, typeof text | typeof whole>>;
  readonly rows: (named: Iterable<Named>) => Iterable<Row>;
}

/** The columns of the standard that mean something here, under its names. */
const TABLES: Readonly<Record<string, SchemaTable>> = {
  SCHEMATA: {
    properties: { catalog_name: text, schema_name: text },
    rows: function* (named) {
      for (const schema_name of new Set([...named].map(({ table_schema }) => table_schema))) {
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
    rows: function* (named) {
      for (const { table_name, table_schema, table_type, title } of named) {
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
    rows: function* (named) {
      for (const { schema, table_name, table_schema } of named) {
        for (const [at, [column_name, property]] of Object.entries(schema.properties).entries()) {
          const is_nullable = schema.required.includes(column_name) ? 'NO' : 'YES';
          const data_type = sqlType(columnTypeOf(property));
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
};

export const isInformation = ({ workspace }: Pick<Dataset, 'workspace'>): boolean =>
  workspace === SCHEMA;

/** The table of that name; undefined for another name. */
export function informationTable(
  workspace: string | undefined,
  name: string,
  createdMs: number,
): Dataset | undefined {
  const dataset = name.toUpperCase();
  const known = workspace?.toUpperCase() === SCHEMA ? TABLES[dataset] : undefined;
  if (known === undefined) return undefined;
  const { properties } = known;
  return {
    ...UNSAID,
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
 * Its records for the caller.
 * @param hints conditions of the query on this table: workspaces and names that it asks for
 * @throws Failure InvalidParameter past the number of records.
 */
export function boundInformation(
  dataset: Dataset,
  caller: Caller,
  hints: readonly Hint[],
  moment: Moment,
  services: SchemaServices,
): BoundDataset {
  const timeMs = services.clock();
  const names = Object.keys(dataset.schema.properties);
  const pending: PendingRow[] = [];
  const named = asked(namedOf(caller, services), hints);
  for (const document of TABLES[dataset.dataset]?.rows(named) ?? []) {
    if (pending.length === ROWS_MAX) refuseMore(dataset);
    const sequence = pending.length + 1;
    pending.push({ index: String(sequence), replaces: true, document, sequence, timeMs });
  }
  const columns: Column[] = names.map((name, at) => {
    const type = columnTypeOf(dataset.schema.properties[name] ?? text);
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

function namedOf(caller: Caller, { lake, queries }: SchemaServices): readonly Named[] {
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
  const all: readonly Named[] = [...datasets, ...views];
  const order = ({ table_name, table_schema }: Named): string => `${table_schema} ${table_name}`;
  return all.toSorted((one, other) => (order(one) < order(other) ? -1 : 1));
}

/** Those that the query can have asked for: it compares them itself, too. */
function asked(named: readonly Named[], hints: readonly Hint[]): readonly Named[] {
  const wanted = hints.filter(({ numeric, operator }) => operator === '=' && !numeric);
  return named.filter((one) =>
    wanted.every(({ column, values }) => {
      const name = column.toLowerCase();
      return name !== 'table_schema' && name !== 'table_name' ? true : values.includes(one[name]);
    }),
  );
}

function refuseMore({ dataset }: Dataset): never {
  const rule = `holds more than ${ROWS_MAX} records for you: ask for one table_name`;
  throw new Failure('InvalidParameter', `"sqlQuery": information_schema.${dataset} ${rule}`);
}
