// An edit of a dataset's schema with the records that it holds: they are left as they are, written
// again with the new types, or let go. One version; old ones answer as they did (INTERFACE.md 3.7).
import {
  type Column,
  columnTypeOf,
  type PropertyType,
  ROW_COLUMN,
} from '../../store/lake/versions/columns.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Row } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import { withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import type { MergeBench } from '../merge/reconcile.ts';
import { tableOf } from '../conform/conform.ts';
import { conversionOf, converts } from '../merge/conversions.ts';
import { inferType } from '../values/infer.ts';
import { publishFile } from '../merge/ingest.ts';
import { checkRewritable, type Conversions, rewriteStored } from '../merge/rewrite.ts';
import { uniqueIndexOf } from '../batch/uniqueIndex.ts';
import type { Edit } from '../../store/lake/edit.ts';
import { inWorkspace } from '../bytes/workbench.ts';
import type { IngestServices } from '../conform/load.ts';
import { identifier } from '../../store/duckdb/sqlText.ts';

/** What becomes of stored records: left as they are, written again, or let go. */
export type Existing = 'leave' | 'update' | 'delete';

interface SchemaEdit {
  readonly added: Readonly<Record<string, PropertyType>>;
  readonly retyped: Readonly<Record<string, PropertyType>>;
  readonly removed: readonly string[];
  readonly existing: Existing;
  /** A stored value that can't be of the new type becomes null, instead of ending the edit. */
  readonly discardsValues: boolean;
}

/** Distinct values from which the spelling of dates is told. */
const SPELLINGS_LOOKED_AT = 1_000;
/** Characters of a value that are told, or looked at as a date. */
const VALUE_CHARACTERS = 64;

/**
 * In the dataset's turn, with nothing pending. The work folder is there while `commit` runs, which
 * gets what is to be done to the table; with nothing to do it gets no edit.
 * @throws Failure InvalidBody naming the property, and the first value that is in the way.
 */
export async function editSchema(
  dataset: Dataset,
  edit: SchemaEdit,
  services: IngestServices,
  commit: (edits: readonly Edit[]) => Promise<void>,
): Promise<void> {
  const { deadlineMs, lake } = services;
  const table = await tableOf(lake, dataset);
  const altered = alteredBy(table.columns, edit);
  const stays = table.records > 0 && edit.existing !== 'delete';
  if (altered.length > 0 && stays) checkConvertible(table.columns, altered, edit);
  await inWorkspace(dataset.workspace, services, async (where) => {
    const bench = { ...where, deadlineMs, onProgress: () => undefined };
    const place = { bench, files: lake.files, table, index: uniqueIndexOf(dataset, table) };
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

/** Columns whose stored type becomes another one. */
const alteredBy = (columns: readonly Column[], { retyped }: SchemaEdit): readonly Column[] =>
  columns.flatMap((column) => {
    const property = Object.hasOwn(retyped, column.name) ? retyped[column.name] : undefined;
    const type = property === undefined ? column.type : columnTypeOf(property);
    return type === column.type ? [] : [{ ...column, type }];
  });

/** @throws Failure InvalidBody naming the property and what stands in the way. */
function checkConvertible(
  columns: readonly Column[],
  altered: readonly Column[],
  { existing }: SchemaEdit,
): void {
  for (const { id, name, type } of altered) {
    const at = `schema.properties.${name}`;
    if (existing === 'leave') {
      const told = 'while its records are left as they are: existing must be update or delete';
      throw new Failure('InvalidBody', `${at} can not change its type ${told}`);
    }
    const was = columns.find((column) => column.id === id)?.type ?? type;
    if (converts(was, type)) continue;
    const rule = 'its records can not be converted: existing may be delete';
    throw new Failure('InvalidBody', `${at} can not change its type so, ${rule}`);
  }
}

function columnEdits(
  { table }: MergeBench,
  altered: readonly Column[],
  { added, removed }: SchemaEdit,
): readonly Edit[] {
  const { columns, tableId } = table;
  const gone = columns.filter(({ name }) => removed.includes(name)).map(({ id }) => id);
  const fresh = Object.entries(added).map(([name, property]) => ({
    name,
    type: columnTypeOf(property),
    nullable: true,
  }));
  return [
    ...(gone.length === 0 ? [] : [{ kind: 'drop-columns', tableId, columnIds: gone } as const]),
    ...(altered.length === 0
      ? []
      : [{ kind: 'alter-columns', tableId, columns: altered } as const]),
    ...(fresh.length === 0 ? [] : [{ kind: 'add-columns', tableId, columns: fresh } as const]),
  ];
}

/** How the stored values of each altered column are converted; dates in the spelling they have. */
async function conversionsFor(altered: readonly Column[], place: MergeBench): Promise<Conversions> {
  const { table } = place;
  checkRewritable(table);
  const made = new Map<number, string>();
  for (const { id, type } of altered) {
    const was = table.columns.find((column) => column.id === id);
    if (was === undefined) continue;
    const value = `s.${identifier(was.name)}`;
    const spelled = was.type === 'varchar' && (type === 'date' || type === 'timestamp');
    const inferred = spelled ? inferType(await spellingsOf(was, place)) : undefined;
    const read = (inferred?.spelling ?? inferred?.numeric)?.read;
    made.set(id, conversionOf(value, was.type, type, read));
  }
  return made;
}

async function spellingsOf({ name }: Column, place: MergeBench): Promise<readonly string[]> {
  const value = `left(${identifier(name)}, ${VALUE_CHARACTERS})`;
  const rows = await askStored(
    place,
    (stored) => `SELECT DISTINCT ${value} AS value FROM ${stored}
      WHERE nullif(${identifier(name)}, '') IS NOT NULL LIMIT ${SPELLINGS_LOOKED_AT}`,
  );
  return rows.map((row) => String(row['value']));
}

/** @throws Failure InvalidBody naming the first record whose value would be lost. */
async function refuseLost(
  altered: readonly Column[],
  conversions: Conversions,
  place: MergeBench,
): Promise<void> {
  const { index, table } = place;
  for (const { id, name, type } of altered) {
    const value = `s.${identifier(name)}`;
    const isText = table.columns.some((was) => was.id === id && was.type === 'varchar');
    const given = isText ? `nullif(${value}, '')` : value;
    const shownOf = index.columns.filter((column) => column.name !== ROW_COLUMN);
    const named = shownOf.map(
      (column, at) => `CAST(s.${identifier(column.name)} AS VARCHAR) AS i${at}`,
    );
    const shown = `left(CAST(${value} AS VARCHAR), ${VALUE_CHARACTERS}) AS value`;
    const order = index.columns.map((column) => `s.${identifier(column.name)}`);
    const [row] = await askStored(
      place,
      (stored) => `SELECT ${[shown, ...named].join(', ')} FROM ${stored} AS s
        WHERE ${given} IS NOT NULL AND ${conversions.get(id) ?? 'true'} IS NULL
        ${order.length === 0 ? '' : `ORDER BY ${order.join(', ')}`} LIMIT 1`,
    );
    if (row === undefined) continue;
    const where = shownOf.map((_, at) => String(row[`i${at}`])).join(', ');
    const of = where === '' ? '' : ` of record ${where}`;
    const told = `${JSON.stringify(String(row['value']))}${of} is no ${TYPES[type] ?? type}`;
    throw new Failure('InvalidBody', `schema.properties.${name} can not change its type: ${told}`);
  }
}

/** Types in the words of a schema, where they differ. */
const TYPES: Readonly<Record<string, string>> = {
  int64: 'integer',
  float64: 'number',
  int128: 'integer of at most 38 digits',
  timestamp: 'date-time',
  timestamp_ns: 'date-time-ns',
};

async function askStored(
  { bench, files, table }: MergeBench,
  sql: (stored: string) => string,
): Promise<readonly Row[]> {
  return withOpenFiles(files, table.files, async ({ paths, pathOf }) => {
    const statements = [sql(visibleRows(table.files, table.columns, pathOf))];
    const { deadlineMs, folder, pool } = bench;
    return (await pool.rows({ files: paths, folder, statements, deadlineMs }))[0] ?? [];
  });
}
