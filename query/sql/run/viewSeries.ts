// Reads a view as a dataset: runs the plan of a series endpoint over the rows of its query. The view keeps
// the columns that it had when it was created, even if its tables change.
import {
  type Column,
  toColumnType,
  CREATED_COLUMN,
  parseSqlType,
  toProperty,
  type PropertyType,
  sqlType,
  UPDATED_COLUMN,
} from '../../../store/lake/versions/columns.ts';
import { parseDecimal } from '../../../store/lake/versions/decimals.ts';
import {
  type ColumnMapping,
  type Dataset,
  type RecordSchema,
  DATASET_DEFAULTS,
} from '../../../store/lake/datasets/datasets.ts';
import type { Body, BodyFormat } from '../../../store/duckdb/protocol.ts';
import type { Table } from '../../../store/lake/versions/lakeRead.ts';
import type { View } from '../../../store/lake/datasets/views.ts';
import type { Bind } from '../../plan/binding.ts';
import type { SeriesPlan } from '../../plan/seriesPlan.ts';
import { allConditions, printSeries } from '../../plan/seriesSql.ts';
import { folded } from '../lower/lowering.ts';
import { printInner } from '../print/printQuery.ts';
import type { Restriction } from '../pricing/references.ts';
import {
  type BoundPlan,
  type SqlColumn,
  type SqlEngine,
  type SqlLimits,
  tablePrinter,
  withTables,
} from './run.ts';
import type { Expression, Item, Query, Source } from '../plan/selectPlan.ts';
import { identifier } from '../../../store/duckdb/sqlText.ts';

/** Converts a view to a dataset for the series endpoints. */
export function datasetOfView(view: View, weight: number): Dataset {
  return {
    ...DATASET_DEFAULTS,
    tableId: 0,
    workspace: view.workspace,
    dataset: view.name,
    title: view.title,
    description: view.description,
    weight,
    schema: view.schema,
    mapping: view.mapping,
    createdMs: view.createdMs,
    updatedMs: view.updatedMs,
  };
}

/** Returns the view's columns and the two system columns, which are null: no write time is known. */
export function tableOfView({ schema }: View, snapshot: number): Table {
  const own = Object.entries(schema.properties).map(([name, property]) => ({
    name,
    type: toColumnType(property),
  }));
  const system = [CREATED_COLUMN, UPDATED_COLUMN].map(
    (name) => ({ name, type: 'timestamp' }) as const,
  );
  const columns = [...own, ...system].map((column, at): Column => ({
    ...column,
    id: at + 1,
    nullable: true,
  }));
  return { tableId: 0, snapshot, folder: '', columns, files: [], records: 0, bytes: 0 };
}

/** @throws Failure as `runSql`. */
export async function runViewSeries(
  plan: SeriesPlan,
  bound: BoundPlan,
  format: BodyFormat,
  engine: SqlEngine,
  limits: SqlLimits,
  caller: { readonly departure: () => AbortSignal },
): Promise<Body> {
  return withTables(bound, engine, limits, caller, (open, place) => {
    const relation = (columns: readonly Column[], bind: Bind): string => {
      const rows = printInner(bound.plan.query, tablePrinter(bound, place), bound, bind);
      return `(SELECT ${columns.map(castColumn).join(', ')} FROM (${rows}))`;
    };
    // A view has no positions in files that could distinguish equal rows.
    const placeless = { ...plan, byPlace: false };
    const asFile = format === 'parquet';
    const { sql, parameters } = printSeries(placeless, place, { asFile, relation });
    return engine.pool.body({ ...open, statements: [sql], parameters }, format);
  });
}

/** Converts the conditions of a series to restrictions on the rows of the view. */
export const restrictionsOf = (plan: SeriesPlan): readonly Restriction[] =>
  allConditions(plan).map(({ column: { name, type }, operator, values }) => {
    const column: Expression = { kind: 'column', path: [folded(name)], at: undefined };
    const list = values.map((value): Expression => {
      const text = { kind: 'text', value } as const;
      if (type === 'varchar') return text;
      return { kind: 'cast', operand: text, type: sqlType(type), attempt: true };
    });
    const [right = { kind: 'null' }] = list;
    if (operator !== '=') {
      return { kind: 'test', test: { kind: 'compare', operator, left: column, right } };
    }
    return { kind: 'test', test: { kind: 'in', negated: false, operand: column, list } };
  });

const SYSTEM_NAMES: ReadonlySet<string> = new Set([CREATED_COLUMN, UPDATED_COLUMN]);

function castColumn({ name, type }: Column): string {
  const value = SYSTEM_NAMES.has(name) ? 'NULL' : identifier(name);
  return `CAST(${value} AS ${sqlType(type)}) AS ${identifier(name)}`;
}

/** Derives the schema of a query's answer from its columns. */
export function schemaOf(columns: readonly SqlColumn[]): RecordSchema {
  const properties = columns.map(({ name, type }) => [name, propertyOfType(type)] as const);
  return { type: 'object', properties: Object.fromEntries(properties), required: [] };
}

function propertyOfType(type: string): PropertyType {
  const own = parseDecimal(type) === undefined ? undefined : parseSqlType(type);
  if (own !== undefined) return toProperty(own);
  if (/^U?(TINYINT|SMALLINT|INTEGER|BIGINT)$/.test(type)) return { type: 'integer' };
  if (/^(FLOAT|DOUBLE|HUGEINT|UHUGEINT)/.test(type)) return { type: 'number' };
  if (type === 'BOOLEAN') return { type: 'boolean' };
  if (type === 'DATE') return { type: 'string', format: 'date' };
  if (type === 'TIMESTAMP_NS') return toProperty('timestamp_ns');
  if (type.startsWith('TIMESTAMP')) return { type: 'string', format: 'date-time' };
  return type === 'JSON' || type.endsWith('[]') ? { type: 'object' } : { type: 'string' };
}

/** The first table of a query, with the columns of its unique index. */
export interface Parent {
  readonly id: string;
  readonly mapping: ColumnMapping;
}

/**
 * Derives the unique index that a query inherits from its first table: columns that it returns unchanged,
 * under any name.
 */
export function inheritedMapping(
  query: Query,
  parentOf: (index: number) => Parent | undefined,
): { readonly parent: string | null; readonly mapping: ColumnMapping } {
  const select = firstSelect(query);
  const table = select === undefined ? undefined : firstTable(select.from);
  const parent = table === undefined ? undefined : parentOf(table.index);
  if (select === undefined || table === undefined || parent === undefined) {
    return { parent: null, mapping: {} };
  }
  const parts = Object.entries(parent.mapping).flatMap(([part, column]) => {
    const name = findName(column, select.items, table.alias);
    return name === undefined ? [] : [[part, name] as const];
  });
  return { parent: parent.id, mapping: Object.fromEntries(parts) as ColumnMapping };
}

function firstSelect(query: Query): Extract<Query, { kind: 'select' }> | undefined {
  return query.kind === 'select' ? query : firstSelect(query.left);
}

function firstTable(source: Source): Extract<Source, { kind: 'table' }> | undefined {
  if (source.kind === 'join') return firstTable(source.left);
  return source.kind === 'table' ? source : undefined;
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Finds the name under which a query returns a column of the table, if it does. */
function findName(column: string, items: readonly Item[], alias: string): string | undefined {
  for (const item of items) {
    if (item.kind === 'star') {
      const isOf = item.relation === undefined || isSame(item.relation, alias);
      const isIn = (names: readonly string[]): boolean =>
        names.some((name) => isSame(name, column));
      // A pattern may exclude it, and a replaced column is another value.
      if (!isOf || item.pattern !== undefined || isIn(item.except)) continue;
      if (isIn(item.replace.map(({ name }) => name))) continue;
      return item.rename.find(({ from }) => isSame(from, column))?.to ?? column;
    }
    if (item.expression.kind !== 'column') continue;
    const [name = '', qualifier] = [...item.expression.path].reverse();
    if (!isSame(name, column) || !isSame(qualifier ?? alias, alias)) continue;
    return item.alias ?? column;
  }
  return undefined;
}
