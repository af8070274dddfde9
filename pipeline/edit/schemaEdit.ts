// Edits a dataset's schema together with its records: they are left unchanged, rewritten with the new
// types, or deleted. Creates one version; old ones stay readable (INTERFACE.md 3.7).
import { lookupTable } from '../../store/base/lookupTable.ts';
import {
  type Column,
  toColumnType,
  type PropertyType,
  ROW_COLUMN,
} from '../../store/lake/versions/columns.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Row } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import { withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import type { MergeTarget } from '../merge/reconcile.ts';
import { tableOf } from '../conform/conform.ts';
import { buildConversion, canConvert } from '../merge/conversions.ts';
import { inferType } from '../values/infer.ts';
import { publishFile } from '../merge/ingest.ts';
import { checkRewritable, type Conversions, rewriteStored } from '../merge/rewrite.ts';
import { buildUniqueIndex } from '../batch/uniqueIndex.ts';
import type { Edit } from '../../store/lake/edit.ts';
import { withWorkFolder } from '../bytes/workbench.ts';
import type { IngestServices } from '../conform/load.ts';
import { identifier } from '../../store/duckdb/sqlText.ts';
import { WIDE_INTEGER } from '../batch/batchStatements.ts';

/** The handling of stored records: left unchanged, rewritten, or deleted. */
export type Existing = 'leave' | 'update' | 'delete';

interface SchemaEdit {
  readonly added: Readonly<Record<string, PropertyType>>;
  readonly retyped: Readonly<Record<string, PropertyType>>;
  readonly removed: readonly string[];
  readonly existing: Existing;
  /** A stored value that does not fit the new type becomes null, instead of failing the edit. */
  readonly discardsValues: boolean;
}

/** Distinct values from which the spelling of dates is inferred. */
const SPELLING_SAMPLE = 1_000;
/** Characters of a value that are reported, or parsed as a date. */
const VALUE_CHARACTERS = 64;

/**
 * Runs in the dataset's turn, with nothing pending. The work folder exists while `commit` runs, which
 * gets the edits of the table; without changes it gets none.
 * @throws Failure InvalidBody naming the property, and the first value that prevents the edit.
 */
export async function editSchema(
  dataset: Dataset,
  edit: SchemaEdit,
  services: IngestServices,
  commit: (edits: readonly Edit[]) => Promise<void>,
): Promise<void> {
  const { deadlineMs, lake } = services;
  const table = await tableOf(lake, dataset);
  const altered = findAltered(table.columns, edit);
  const stays = table.records > 0 && edit.existing !== 'delete';
  if (altered.length > 0 && stays) checkConvertible(table.columns, altered, edit);
  await withWorkFolder(dataset.workspace, services, async (where) => {
    const bench = { ...where, deadlineMs, onProgress: () => undefined };
    const place = { bench, files: lake.files, table, index: buildUniqueIndex(dataset, table) };
    const { tableId } = dataset;
    const emptied: readonly Edit[] =
      table.files.length > 0 && (altered.length > 0 || edit.existing === 'delete')
        ? [{ kind: 'truncate', tableId }]
        : [];
    const edits = [...columnEdits(place, altered, edit), ...emptied];
    if (altered.length === 0 || !stays) return commit(edits);
    const columns = table.columns.map((one) => altered.find(({ id }) => id === one.id) ?? one);
    const conversions = await conversionsFor(altered, place);
    if (!edit.discardsValues) await refuseLost(altered, conversions, place);
    const { path, stats } = await rewriteStored(columns, place, { conversions });
    services.at('parquet-written');
    const inserts = await publishFile(path, stats, { ...table, columns }, lake, 'all');
    await commit([...edits, ...inserts]);
  });
}

/** Columns whose stored type changes. */
const findAltered = (columns: readonly Column[], { retyped }: SchemaEdit): readonly Column[] =>
  columns.flatMap((column) => {
    const property = Object.hasOwn(retyped, column.name) ? retyped[column.name] : undefined;
    const type = property === undefined ? column.type : toColumnType(property);
    return type === column.type ? [] : [{ ...column, type }];
  });

const typeFailure = (property: string, reason: string): Failure =>
  new Failure('InvalidBody', `schema.properties.${property} can not change its type${reason}`);

/** @throws Failure InvalidBody naming the property and the reason. */
function checkConvertible(
  columns: readonly Column[],
  altered: readonly Column[],
  { existing }: SchemaEdit,
): void {
  for (const { id, name, type } of altered) {
    if (existing === 'leave') {
      const rule = 'while its records are left as they are: existing must be update or delete';
      throw typeFailure(name, ` ${rule}`);
    }
    const was = columns.find((column) => column.id === id)?.type ?? type;
    if (canConvert(was, type)) continue;
    const rule = 'its records can not be converted: existing may be delete';
    throw typeFailure(name, ` so, ${rule}`);
  }
}

function columnEdits(
  { table }: MergeTarget,
  altered: readonly Column[],
  { added, removed }: SchemaEdit,
): readonly Edit[] {
  const { columns, tableId } = table;
  const dropped = columns.filter(({ name }) => removed.includes(name)).map(({ id }) => id);
  const fresh = Object.entries(added).map(([name, property]) => ({
    name,
    type: toColumnType(property),
    nullable: true,
  }));
  return [
    ...(dropped.length === 0
      ? []
      : [{ kind: 'drop-columns', tableId, columnIds: dropped } as const]),
    ...(altered.length === 0
      ? []
      : [{ kind: 'alter-columns', tableId, columns: altered } as const]),
    ...(fresh.length === 0 ? [] : [{ kind: 'add-columns', tableId, columns: fresh } as const]),
  ];
}

/** SQL conversions of the stored values of altered columns; dates are parsed in their own spelling. */
async function conversionsFor(
  altered: readonly Column[],
  place: MergeTarget,
): Promise<Conversions> {
  const { table } = place;
  checkRewritable(table);
  const conversions = new Map<number, string>();
  for (const { id, type } of altered) {
    const was = table.columns.find((column) => column.id === id);
    if (was === undefined) continue;
    const value = `s.${identifier(was.name)}`;
    const spelled = was.type === 'varchar' && (type === 'date' || type === 'timestamp');
    const inferred = spelled ? inferType(await sampleValues(was, place)) : undefined;
    const read = (inferred?.spelling ?? inferred?.numeric)?.read;
    conversions.set(id, buildConversion(value, was.type, type, read));
  }
  return conversions;
}

async function sampleValues({ name }: Column, place: MergeTarget): Promise<readonly string[]> {
  const value = `left(${identifier(name)}, ${VALUE_CHARACTERS})`;
  const rows = await queryStored(
    place,
    (stored) => `SELECT DISTINCT ${value} AS value FROM ${stored}
      WHERE nullif(${identifier(name)}, '') IS NOT NULL LIMIT ${SPELLING_SAMPLE}`,
  );
  return rows.map((row) => String(row['value']));
}

/** @throws Failure InvalidBody naming the first record whose value would be lost. */
async function refuseLost(
  altered: readonly Column[],
  conversions: Conversions,
  place: MergeTarget,
): Promise<void> {
  const { index, table } = place;
  for (const { id, name, type } of altered) {
    const value = `s.${identifier(name)}`;
    const isText = table.columns.some((was) => was.id === id && was.type === 'varchar');
    const filled = isText ? `nullif(${value}, '')` : value;
    const keys = index.columns.filter((column) => column.name !== ROW_COLUMN);
    const named = keys.map(
      (column, at) => `CAST(s.${identifier(column.name)} AS VARCHAR) AS i${at}`,
    );
    const text = `left(CAST(${value} AS VARCHAR), ${VALUE_CHARACTERS}) AS value`;
    const order = index.columns.map((column) => `s.${identifier(column.name)}`);
    const [row] = await queryStored(
      place,
      (stored) => `SELECT ${[text, ...named].join(', ')} FROM ${stored} AS s
        WHERE ${filled} IS NOT NULL AND ${conversions.get(id) ?? 'true'} IS NULL
        ${order.length === 0 ? '' : `ORDER BY ${order.join(', ')}`} LIMIT 1`,
    );
    if (row === undefined) continue;
    const where = keys.map((_, at) => String(row[`i${at}`])).join(', ');
    const of = where === '' ? '' : ` of record ${where}`;
    const problem = `${JSON.stringify(String(row['value']))}${of} is no ${TYPES[type] ?? type}`;
    throw typeFailure(name, `: ${problem}`);
  }
}

/** Types in schema terms, where they differ. */
const TYPES = lookupTable<string>({
  int64: 'integer',
  float64: 'number',
  int128: WIDE_INTEGER,
  timestamp: 'date-time',
  timestamp_ns: 'date-time-ns',
});

async function queryStored(
  { bench, files, table }: MergeTarget,
  sql: (stored: string) => string,
): Promise<readonly Row[]> {
  return withOpenFiles(files, table.files, async ({ paths, pathOf }) => {
    const statements = [sql(visibleRows(table.files, table.columns, pathOf))];
    const { deadlineMs, folder, pool } = bench;
    return (await pool.rows({ files: paths, folder, statements, deadlineMs }))[0] ?? [];
  });
}
