// Aggregates records to one a period and replaces numbers with their changes, as data users know both:
// `collapse=monthly|ohlc`, `transform=rdiff`. In SQL over the records of a plan; each key and subkey
// is a series of its own. Collapse comes first; both come before the newest or oldest are selected.
import { type Column, toDecimalShape, isNumberType } from '../../store/lake/versions/columns.ts';
import { Failure } from '../../store/base/failure.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import { choiceRule } from '../../store/base/valueRules.ts';

export const PERIODS = ['daily', 'weekly', 'monthly', 'quarterly', 'annual'] as const;
export const FOLDS = ['last', 'first', 'min', 'max', 'sum', 'ohlc'] as const;
export const TRANSFORMS = ['diff', 'rdiff', 'cumul', 'normalize'] as const;

type Period = (typeof PERIODS)[number];
type Fold = (typeof FOLDS)[number];
/** diff: minus the previous. rdiff: diff by the previous. cumul: running sum. normalize: the first is 100. */
export type Transform = (typeof TRANSFORMS)[number];

export interface Collapse {
  readonly period: Period;
  readonly fold: Fold;
}

/** Parses `monthly` or `monthly|max`, in any case; the default aggregate is the last record of a period. */
export function parseCollapse(text: string): Collapse {
  const [first, second = 'last', ...rest] = text.toLowerCase().split('|');
  const period = PERIODS.find((item) => item === first);
  const fold = FOLDS.find((item) => item === second);
  if (period !== undefined && fold !== undefined && rest.length === 0) return { period, fold };
  const rule = `${choiceRule(PERIODS)}, and may name after a | one of ${FOLDS.join(', ')}`;
  throw new Failure('InvalidParameter', `"collapse" ${rule}`);
}

/** The columns of a series: those that order it, those that identify it, and its values. */
interface SeriesColumns {
  readonly dateColumn: Column;
  /** Orders records that share `dateColumn`. */
  readonly indexDate: Column;
  /** Key and subkey: never changed. */
  readonly ties: readonly Column[];
  readonly columns: readonly Column[];
}

/** Aggregates of a price, by the last word of its property's name. */
const OHLC: Readonly<Record<string, (value: string, order: string) => string>> = {
  open: (value, order) => `arg_min(${value}, ${order})`,
  high: (value) => `max(${value})`,
  low: (value) => `min(${value})`,
  close: (value, order) => `arg_max(${value}, ${order})`,
  volume: (value) => `sum(${value})`,
};
const PART = /(open|high|low|close|volume)$/;

const ohlcPart = ({ name }: Column): string => PART.exec(name.toLowerCase())?.[1] ?? '';

/** @throws Failure InvalidParameter if bars are requested and there are no prices. */
export function checkCollapse({ fold }: Collapse, columns: readonly Column[]): void {
  if (fold !== 'ohlc' || columns.some((column) => isNumber(column) && ohlcPart(column) !== ''))
    return;
  const rule = 'ohlc needs numbers whose names end in open, high, low, close or volume';
  throw new Failure('InvalidParameter', `"collapse" ${rule}`);
}

/** Prints a sub-select with one record a period: values aggregated, date of the last record. */
export function printCollapse(
  rows: string,
  collapse: Collapse,
  series: SeriesColumns,
  zone: string,
): string {
  const date = identifier(series.dateColumn.name);
  const order = `(${printOrderOf(series).join(', ')})`;
  const ties = series.ties.map(({ name }) => identifier(name));
  const keyNames = new Set([series.dateColumn, ...series.ties].map(({ name }) => name));
  const values = series.columns
    .filter(({ name }) => !keyNames.has(name))
    .map(
      (column) => `${printAggregate(column, collapse.fold, order)} AS ${identifier(column.name)}`,
    );
  const terms = [...ties, `max(${date}) AS ${date}`, ...values];
  const groups = [...ties, printPeriod(series.dateColumn, collapse.period, zone)];
  return `(SELECT ${terms.join(', ')} FROM ${rows} WHERE ${date} IS NOT NULL GROUP BY ${groups.join(', ')})`;
}

function printAggregate(column: Column, fold: Fold, order: string): string {
  const value = identifier(column.name);
  if (fold === 'first') return `arg_min_null(${value}, ${order})`;
  const last = `arg_max_null(${value}, ${order})`;
  if (fold === 'last' || !isNumber(column)) return last;
  if (fold === 'ohlc') return OHLC[ohlcPart(column)]?.(value, order) ?? last;
  return fold === 'sum' ? `sum(${summable(column)})` : `${fold}(${value})`;
}

/** Digits of a decimal whose sums over any number of records fit 38 digits. */
const SUMMED_DIGITS_MAX = 28;

/** Casts a column to a type wide enough for its sums and differences. */
function summable({ name, type }: Column): string {
  const decimal = toDecimalShape(type);
  const value = identifier(name);
  if (type === 'int64') return `CAST(${value} AS HUGEINT)`;
  const exact = decimal !== undefined && decimal.precision <= SUMMED_DIGITS_MAX;
  return `CAST(${value} AS ${exact ? `DECIMAL(38, ${decimal.scale})` : 'DOUBLE'})`;
}

const printOrderOf = ({ dateColumn, indexDate }: SeriesColumns): readonly string[] =>
  [...new Set([dateColumn.name, indexDate.name])].map(identifier);

const UNITS: Readonly<Record<Period, string>> = {
  daily: 'day',
  weekly: 'week',
  monthly: 'month',
  quarterly: 'quarter',
  annual: 'year',
};

/** Prints the first day of the period in the exchange's zone; weeks begin on Sunday, DuckDB's on Monday. */
function printPeriod({ name, type }: Column, period: Period, zone: string): string {
  const value = identifier(name);
  // Milliseconds beyond the calendar have no period.
  const instant = type === 'int64' ? `TRY(make_timestamp_ms(${value}))` : value;
  const local =
    type === 'date'
      ? value
      : `timezone(${literal(zone)}, timezone('UTC', CAST(${instant} AS TIMESTAMP)))`;
  const day = `CAST(${local} AS DATE)`;
  return `date_trunc('${UNITS[period]}', ${period === 'weekly' ? `${day} + 1` : day})`;
}

/** Prints a sub-select of the same records with each number transformed. */
export function printTransform(rows: string, transform: Transform, series: SeriesColumns): string {
  const order = `ORDER BY ${printOrderOf(series).join(', ')}`;
  const ties = series.ties.map(({ name }) => identifier(name)).join(', ');
  const window = `(${ties === '' ? '' : `PARTITION BY ${ties} `}${order})`;
  const keyNames = new Set([series.dateColumn, ...series.ties].map(({ name }) => name));
  const terms = series.columns.map((column) => {
    const name = identifier(column.name);
    if (keyNames.has(column.name) || !isNumber(column)) return name;
    return `${printTransformed(summable(column), transform, window)} AS ${name}`;
  });
  return `(SELECT ${terms.join(', ')} FROM ${rows})`;
}

function printTransformed(value: string, transform: Transform, window: string): string {
  const before = `lag(${value}) OVER ${window}`;
  if (transform === 'diff') return `${value} - ${before}`;
  if (transform === 'cumul') return `sum(${value}) OVER ${window}`;
  // Division by zero gives null, as data users expect, not an infinity, which JSON can't represent.
  if (transform === 'rdiff') return `(${value} - ${before}) / nullif(CAST(${before} AS DOUBLE), 0)`;
  const first = `first_value(${value} IGNORE NULLS) OVER ${window}`;
  return `CAST(${value} AS DOUBLE) / nullif(CAST(${first} AS DOUBLE), 0) * 100`;
}

/** Whether a series returns sums or differences of an integer column: those need a wider type. */
export function isSummed(
  column: Column,
  series: Pick<SeriesColumns, 'dateColumn' | 'ties'> & {
    readonly collapse: Collapse | undefined;
    readonly transform: Transform | undefined;
  },
): boolean {
  const { collapse, dateColumn, ties, transform } = series;
  const isKey = [dateColumn, ...ties].some(({ name }) => name === column.name);
  if (column.type !== 'int64' || isKey) return false;
  if (transform !== undefined) return transform === 'diff' || transform === 'cumul';
  if (collapse?.fold === 'ohlc') return ohlcPart(column) === 'volume';
  return collapse?.fold === 'sum';
}

const isNumber = ({ type }: Column): boolean => isNumberType(type);
