// A dataset as its owner sees it (INTERFACE.md 3.3 "Object").
import { planSeries } from '../query/seriesPlan.ts';
import { printConditions, prunedFiles } from '../query/seriesSql.ts';
import type { Dataset } from '../store/datasets.ts';
import { identifier } from '../store/duckdb/instance.ts';
import { Failure } from '../store/failure.ts';
import type { Table } from '../store/lakeRead.ts';
import { withOpenFiles } from '../store/tableFiles.ts';
import { visibleRows } from '../store/tableSql.ts';
import type { Services } from './endpoint.ts';

/** What needs no look at the records. */
export const schemaView = (dataset: Dataset): Readonly<Record<string, unknown>> => ({
  workspace: dataset.workspace,
  datasetId: dataset.dataset,
  title: dataset.title,
  description: dataset.description,
  source: dataset.source,
  weight: dataset.weight,
  columnMapping: dataset.mapping,
  access: dataset.access,
  smartLinkAttributes: dataset.smartLinks,
  schema: dataset.schema,
  parentDatasetId: null,
  date: dataset.createdMs,
  updated: dataset.updatedMs,
});

/** With the counts of the current version. */
export async function datasetView(dataset: Dataset, services: Services): Promise<object> {
  const table = await services.lake.table(dataset.tableId);
  const keys = table === undefined ? 0 : await countKeys(dataset, table, services);
  return { ...schemaView(dataset), keys, records: table?.records ?? 0 };
}

/** Counts of the versions asked for last: a version's count never changes. */
const counted = new WeakMap<Table, Promise<number>>();

function countKeys(dataset: Dataset, table: Table, services: Services): Promise<number> {
  const known = counted.get(table) ?? askKeys(dataset, table, services);
  counted.set(table, known);
  known.catch(() => counted.delete(table));
  return known;
}

async function askKeys(dataset: Dataset, table: Table, { series }: Services): Promise<number> {
  const columns = table.columns.filter(({ name }) => name === dataset.mapping.key);
  if (columns.length === 0 || table.files.length === 0) return 0;
  return withOpenFiles(series.files, table.files, async ({ paths, pathOf }) => {
    const rows = visibleRows(table.files, columns, pathOf);
    const key = identifier(dataset.mapping.key ?? '');
    const statements = [`SELECT count(DISTINCT ${key}) AS keys FROM ${rows}`];
    const { deadlineMs, pool } = series;
    const answer = await pool.rows({ files: paths, statements, deadlineMs });
    return Number(answer[0]?.[0]?.['keys'] ?? 0);
  });
}

/** What is known of one key of a dataset, or of one of its subkeys: records and dates. */
export async function keyView(
  dataset: Dataset,
  key: string,
  subkey: string | undefined,
  services: Services,
): Promise<object> {
  const { lake, series, settings } = services;
  const table = await lake.table(dataset.tableId);
  if (table === undefined) throw new Failure('NotFound');
  const plan = planSeries(subkey === undefined ? { key } : { key, subkey }, {
    dataset,
    table,
    visibility: { kind: 'all' },
    rowsMax: 1,
    zone: settings.zone,
    shape: 'data',
  });
  const parameters: string[] = [];
  const condition = printConditions(plan, (value) => `$${parameters.push(value)}`);
  const date = identifier(plan.dateColumn.name);
  const epoch = (end: string): string => `epoch_ms(CAST(${end}(${date}) AS TIMESTAMP))`;
  const answer = await withOpenFiles(series.files, table.files, ({ paths, pathOf }) => {
    const rows = visibleRows(prunedFiles(plan), table.columns, pathOf);
    const sql = `SELECT count(*) AS records, ${epoch('min')} AS first, ${epoch('max')} AS last
      FROM ${rows} WHERE ${condition}`;
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
