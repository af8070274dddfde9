// Widens properties whose types were inferred if a later file needs it and no stored value changes:
// integers become numbers for a decimal, and text for a code if the property has a code's name.
import type { PropertyType } from '../../store/lake/versions/columns.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import { runStatements, fileLineOf, RECORD_NUMBER } from '../batch/batchStatements.ts';
import { comparedProperties } from '../batch/expectations.ts';
import { isCodeName } from '../values/columnNames.ts';
import { plainNumber } from '../values/numberFormats.ts';
import { fromClause, type Relation } from '../values/relation.ts';
import type { Misfit } from '../batch/batchRequest.ts';
import type { Workbench } from '../bytes/workbench.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

/**
 * Stored records that one schema change may rewrite: as many as one ingestion of stored
 * records (INTERFACE.md 3.7, 3.8). They are sorted in the memory of ingestion, in the dataset's turn.
 */
export const REWRITE_RECORDS_MAX = 1_000_000;

/** Larger integers are not all representable as doubles. */
const EXACT_MAX = 2n ** 53n;

/** A load into an existing dataset. */
interface Into {
  readonly dataset: Dataset;
  readonly table: Table;
  readonly relation: Relation;
  readonly bench: Workbench;
  /** Properties whose types the dataset's place declares. */
  readonly declared: ReadonlySet<string>;
}

/** The wider type that a misfit gives an integer property; undefined where its record is rejected. */
export async function widenInferred(
  misfit: Misfit,
  property: PropertyType,
  into: Into,
): Promise<{ readonly misfit: Misfit; readonly property: PropertyType } | undefined> {
  const { dataset, declared, table } = into;
  const { column } = misfit;
  if (dataset.contract.inferred !== true || property.type !== 'integer') return undefined;
  if (Object.values(dataset.mapping).includes(column) || declared.has(column)) return undefined;
  if (table.records > REWRITE_RECORDS_MAX) return undefined;
  if (isCodeName(column) && isCode(misfit.value)) {
    const isCompared = comparedProperties(dataset.expectations).has(column);
    return isCompared ? undefined : { misfit, property: { type: 'string' } };
  }
  if (!fitsNumbers(column, table)) return undefined;
  const decimal = await firstDecimal(column, into);
  return decimal && { misfit: decimal, property: { type: 'number' } };
}

/** Whether a value is one word with a letter or a leading zero. */
const isCode = (value: string): boolean =>
  /^[\w.:/-]{1,100}$/.test(value) && /[A-Za-z]|^0\d/.test(value);

/** Whether every value stored in a column converts to a number (a double) without loss. */
export function fitsNumbers(name: string, { columns, files }: Table): boolean {
  const column = columns.find((one) => one.name === name);
  if (column?.type === 'float64') return true;
  return files.every(({ ranges }) => {
    const range = ranges.get(column?.id ?? 0);
    if (range === undefined) return false;
    // A file with only nulls has no bounds.
    return [range.min, range.max].every((bound) => bound === null || isExactDouble(bound));
  });
}

/** False for a bound with decimals: values between may have more digits. */
const isExactDouble = (bound: string): boolean =>
  /^-?\d{1,40}$/.test(bound) && BigInt(bound) >= -EXACT_MAX && BigInt(bound) <= EXACT_MAX;

const DECIMAL = String.raw`[-+]?(?:0|[1-9][0-9]*)?\.[0-9]+(?:[eE][-+]?[0-9]{1,3})?`;
const WHOLE = '[-+]?[0-9]{16,}';

/** The first value with decimals; undefined also if the file has integers beyond exact doubles. */
async function firstDecimal(
  column: string,
  { bench, relation }: Into,
): Promise<Misfit | undefined> {
  if (relation.kind === 'parquet') return undefined;
  const target = { id: 1, name: column, type: 'varchar', nullable: true } as const;
  const text = `trim(${identifier(column)})`;
  // Digits as they are read: 1,5 is 1.5 where commas are decimal.
  const number = relation.columns.find(({ name }) => name === column)?.inferred.number;
  const digits = number === undefined ? text : plainNumber(text, number.style);
  const texts = `SELECT ${text} AS text, ${digits} AS value, row_number() OVER () AS ${RECORD_NUMBER}
    FROM ${fromClause(relation, [target], false)}`;
  const isDecimal = `regexp_full_match(value, ${literal(DECIMAL)}) AND TRY_CAST(value AS DOUBLE) % 1 <> 0`;
  const isLarge = `regexp_full_match(value, ${literal(WHOLE)}) AND
    coalesce(abs(TRY_CAST(value AS HUGEINT)) > ${EXACT_MAX}, true)`;
  const [rows] = await runStatements(bench, relation, [
    `SELECT min(${RECORD_NUMBER}) FILTER (WHERE ${isDecimal}) AS n, bool_or(${isLarge}) AS has_large,
      arg_min(text, ${RECORD_NUMBER}) FILTER (WHERE ${isDecimal}) AS value FROM (${texts})`,
  ]);
  const { has_large: hasLarge, n, value } = rows?.[0] ?? {};
  if (hasLarge === true || n === null || n === undefined) return undefined;
  return {
    column,
    line: fileLineOf(Number(n), relation),
    value: String(value),
  };
}
