// Renders a dataset for its owner (INTERFACE.md 3.3 "Object").
import { Type } from '../../reads/request/schema.ts';
import { makeBind } from '../../query/plan/binding.ts';
import { dayIn } from '../../query/time/dates.ts';
import { planSeries } from '../../query/plan/seriesPlan.ts';
import { printRecords } from '../../query/plan/seriesSql.ts';
import { isDefaultContract } from '../../store/lake/datasets/contracts.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Bound } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import type { PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import { withPending } from '../../store/lake/pushes/pendingSql.ts';
import { withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import type { Services } from '../request/endpoint.ts';
import { identifier } from '../../store/duckdb/sqlText.ts';

type DatasetViewServices = Pick<Services, 'clock' | 'lake' | 'pending' | 'series' | 'settings'>;

const openObject = Type.Object({}, { additionalProperties: true });

/** Schema of the view of a dataset, or of a view among datasets. */
export const DATASET_VIEW = Type.Object(
  {
    workspace: Type.String(),
    datasetId: Type.String(),
    title: Type.String(),
    description: Type.String(),
    source: Type.String(),
    license: Type.Optional(Type.String()),
    weight: Type.Union([Type.Number(), Type.Null()]),
    columnMapping: openObject,
    uniqueIndex: Type.Optional(Type.Boolean()),
    inferredIndex: Type.Optional(Type.Boolean()),
    access: openObject,
    schema: openObject,
    date: Type.Number({ description: 'When it was created, epoch milliseconds.' }),
    updated: Type.Number({ description: 'Epoch milliseconds.' }),
    keys: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
    records: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  },
  { additionalProperties: true },
);

const QUERY_MEMBERS = [
  'workspace',
  'datasetId',
  'title',
  'description',
  'source',
  'license',
  'weight',
  'columnMapping',
  'uniqueIndex',
  'inferredIndex',
  'schema',
];

/** The members needed to query records, without access rules and expectations. */
export const queryView = (dataset: Dataset): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(schemaView(dataset)).filter(([name]) => QUERY_MEMBERS.includes(name)),
  );

/** The members that need no read of the records. */
export const schemaView = (dataset: Dataset): Readonly<Record<string, unknown>> => ({
  workspace: dataset.workspace,
  datasetId: dataset.dataset,
  title: dataset.title,
  description: dataset.description,
  source: dataset.source,
  ...(dataset.license === '' ? {} : { license: dataset.license }),
  weight: dataset.weight,
  columnMapping: dataset.mapping,
  ...(dataset.numbered ? { uniqueIndex: false } : {}),
  ...(dataset.inferred ? { inferredIndex: true } : {}),
  access: dataset.access,
  smartLinkAttributes: dataset.smartLinks,
  ...(dataset.historyDays === null ? {} : { historyDays: dataset.historyDays }),
  ...(isDefaultContract(dataset.contract) ? {} : { schemaContract: dataset.contract }),
  ...(dataset.expectations.length === 0 ? {} : { expectations: dataset.expectations }),
  schema: dataset.schema,
  parentDatasetId: null,
  date: dataset.createdMs,
  updated: dataset.updatedMs,
});

/** The full view with counts of the current version and of pending records. */
export async function datasetView(
  dataset: Dataset,
  services: DatasetViewServices,
): Promise<object> {
  const table = await services.lake.table(dataset.tableId);
  const pending =
    table === undefined ? [] : services.pending.rowsBeside(table.tableId, table.snapshot);
  if (table === undefined) return { ...schemaView(dataset), keys: 0, records: 0 };
  if (pending.length === 0) {
    const { keys } = await countStored(dataset, table, services);
    return { ...schemaView(dataset), keys, records: table.records };
  }
  return { ...schemaView(dataset), ...(await count(dataset, table, pending, services)) };
}

interface Counts {
  readonly keys: number;
  readonly records: number;
}

/** Caches counts by version: the counts of a version never change. */
const countCache = new WeakMap<Table, Promise<Counts>>();

function countStored(
  dataset: Dataset,
  table: Table,
  services: DatasetViewServices,
): Promise<Counts> {
  const counts = countCache.get(table) ?? count(dataset, table, [], services);
  countCache.set(table, counts);
  counts.catch(() => countCache.delete(table));
  return counts;
}

async function count(
  dataset: Dataset,
  table: Table,
  pending: readonly PendingRow[],
  { series }: Pick<Services, 'series'>,
): Promise<Counts> {
  const { key, subkey, date } = dataset.mapping;
  const names = [key, subkey, date].filter((name) => name !== undefined);
  const index = table.columns.filter(({ name }) => names.includes(name));
  if (key === undefined && pending.length === 0) return { keys: 0, records: table.records };
  if (table.files.length + pending.length === 0) return { keys: 0, records: 0 };
  return withOpenFiles(series.files, table.files, async ({ paths, pathOf }) => {
    const columns = pending.length === 0 ? index.filter(({ name }) => name === key) : index;
    const parameters: Bound[] = [];
    const bind = makeBind(parameters);
    const stored = visibleRows(table.files, columns, pathOf);
    const rows = withPending(stored, columns, index, pending, 'true', bind);
    const keys = key === undefined ? '0' : `count(DISTINCT ${identifier(key)})`;
    const statements = [`SELECT ${keys} AS keys, count(*) AS records FROM ${rows}`];
    const { deadlineMs, pool } = series;
    const answer = await pool.rows({ files: paths, statements, parameters, deadlineMs });
    const row = answer[0]?.[0] ?? {};
    return { keys: Number(row['keys'] ?? 0), records: Number(row['records'] ?? 0) };
  });
}

/** Records and dates of one key of a dataset, or of one of its subkeys. */
export async function keyView(
  dataset: Dataset,
  key: string,
  subkey: string | undefined,
  services: DatasetViewServices,
): Promise<object> {
  const { clock, lake, series, settings } = services;
  const table = await lake.table(dataset.tableId);
  if (table === undefined) throw new Failure('NotFound');
  const plan = planSeries(subkey === undefined ? { key } : { key, subkey }, {
    dataset,
    table,
    pending: (keys) => services.pending.rowsBeside(table.tableId, table.snapshot, keys),
    visibility: { kind: 'all' },
    rowsMax: 1,
    today: dayIn(clock(), settings.zone),
    zone: settings.zone,
    shape: 'data',
  });
  const parameters: Bound[] = [];
  const bind = makeBind(parameters);
  const date = identifier(plan.dateColumn.name);
  const epoch = (end: string): string => `epoch_ms(CAST(${end}(${date}) AS TIMESTAMP))`;
  const answer = await withOpenFiles(series.files, table.files, ({ paths, pathOf }) => {
    const rows = printRecords(plan, table.columns, { pathOf }, bind);
    const sql = `SELECT count(*) AS records, ${epoch('min')} AS first, ${epoch('max')} AS last
      FROM ${rows}`;
    const { deadlineMs, pool } = series;
    return pool.rows({ files: paths, statements: [sql], parameters, deadlineMs });
  });
  const row = answer[0]?.[0] ?? {};
  const ms = (value: unknown): number | null => (value === null ? null : Number(value));
  return {
    workspace: dataset.workspace,
    datasetId: dataset.dataset,
    key,
    ...(subkey === undefined ? {} : { subkey }),
    records: Number(row['records']),
    first: ms(row['first']),
    last: ms(row['last']),
  };
}
