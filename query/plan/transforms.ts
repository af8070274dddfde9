// Records folded to one a period, and numbers as changes of themselves, as data users know both:
// `collapse=monthly|ohlc`, `transform=rdiff`. In SQL over the records of a plan; each key and subkey
// is a series of its own. Collapse comes first, both before the newest or oldest are taken.
import { type Column, decimalOf, isNumberType } from '../../store/lake/versions/columns.ts';
import { Failure } from '../../store/base/failure.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

export const PERIODS = ['daily', 'weekly', 'monthly', 'quarterly', 'annual'] as const;
export const FOLDS = ['last', 'first', 'min', 'max', 'sum', 'ohlc'] as const;
export const TRANSFORMS = ['diff', 'rdiff', 'cumul', 'normalize'] as const;

type Period = (typeof PERIODS)[number];
type Fold = (typeof FOLDS)[number];
/** diff: minus the one before. rdiff: that by the one before. cumul: sum so far. normalize: of 100. */
export type Transform = (typeof TRANSFORMS)[number];

export interface Collapse {
  readonly period: Period;
  readonly fold: Fold;
}

/** `monthly` or `monthly|max`, in any case; the last record of a period when no fold is named. */
export function parseCollapse(text: string): Collapse {
  const [first, second = 'last', ...rest] = text.toLowerCase().split('|');
  const period = PERIODS.find((item) => item === first);
  const fold = FOLDS.find((item) => item === second);
  if (period !== undefined && fold !== undefined && rest.length === 0) return { period, fold };
  const rule = `must be one of ${PERIODS.join(', ')}, and may name after a | one of ${FOLDS.join(', ')}`;
  throw new Failure('InvalidParameter', `"collapse" ${rule}`);
}

/** The columns of a series: what orders it, what tells it from others, and what it holds. */
interface SeriesColumns {
  readonly dateColumn: Column;
  /** It orders those of one date. */
  readonly indexDate: Column;
  /** Key and subkey: they stay what they are. */
  readonly ties: readonly Column[];
  readonly columns: readonly Column[];
}

/** Ways to fold a price, by the last word of its property's name. */
const OHLC: Readonly<Record<string, (value: string, order: string) => string>> = {
  open: (value, order) => `arg_min(${value}, ${order})`,
  high: (value) => `max(${value})`,
  low: (value) => `min(${value})`,
  close: (value, order) => `arg_max(${value}, ${order})`,
  volume: (value) => `sum(${value})`,
};
const PART = /(open|high|low|close|volume)$/;

const partOf = ({ name }: Column): string => PART.exec(name.toLowerCase())?.[1] ?? '';

/** @throws Failure InvalidParameter when bars are asked for and there are no prices. */
export function checkCollapse({ fold }: Collapse, columns: readonly Column[]): void {
  if (fold !== 'ohlc' || columns.some((column) => isNumber(column) && partOf(column) !== ''))
    return;
  const rule = 'ohlc needs numbers whose names end in open, high, low, close or volume';
  throw new Failure('InvalidParameter', `"collapse" ${rule}`);
}

/** A sub-select with one record a period: its values folded, its date that of the last one. */
export function printCollapse(
  rows: string,
  collapse: Collapse,
  series: SeriesColumns,
  zone: string,
): string {
  const date = identifier(series.dateColumn.name);
  const order = `(${printOrderOf(series).join(', ')})`;
  const ties = series.ties.map(({ name }) => identifier(name));
  const kept = new Set([series.dateColumn, ...series.ties].map(({ name }) => name));
  const values = series.columns
    .filter(({ name }) => !kept.has(name))
    .map((column) => `${foldOf(column, collapse.fold, order)} AS ${identifier(column.name)}`);
  const terms = [...ties, `max(${date}) AS ${date}`, ...values];
  const groups = [...ties, periodOf(series.dateColumn, collapse.period, zone)];
  return `(SELECT ${terms.join(', ')} FROM ${rows} WHERE ${date} IS NOT NULL GROUP BY ${groups.join(', ')})`;
}

function foldOf(column: Column, fold: Fold, order: string): string {
  const value = identifier(column.name);
  if (fold === 'first') return `arg_min_null(${value}, ${order})`;
  const last = `arg_max_null(${value}, ${order})`;
  if (fold === 'last' || !isNumber(column)) return last;
  if (fold === 'ohlc') return OHLC[partOf(column)]?.(value, order) ?? last;
  return fold === 'sum' ? `sum(${summable(column)})` : `${fold}(${value})`;
}

/** Digits of a decimal whose sums of any number of records fit 38. */
const SUMMED_DIGITS_MAX = 28;

/** What sums and differences are made of, wide enough for each of them. */
function summable({ name, type }: Column): string {
  const decimal = decimalOf(type);
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

/** First day of the period in the exchange's zone; weeks begin on Sunday, DuckDB's on Monday. */
function periodOf({ name, type }: Column, period: Period, zone: string): string {
  const value = identifier(name);
  // Milliseconds beyond every calendar are of no period.
  const instant = type === 'int64' ? `TRY(make_timestamp_ms(${value}))` : value;
  const local =
    type === 'date'
      ? value
      : `timezone(${literal(zone)}, timezone('UTC', CAST(${instant} AS TIMESTAMP)))`;
  const day = `CAST(${local} AS DATE)`;
  return `date_trunc('${UNITS[period]}', ${period === 'weekly' ? `${day} + 1` : day})`;
}

/** A sub-select of the same records, each number in the place of its transformed self. */
export function printTransform(rows: string, transform: Transform, series: SeriesColumns): string {
  const order = `ORDER BY ${printOrderOf(series).join(', ')}`;
  const ties = series.ties.map(({ name }) => identifier(name)).join(', ');
  const window = `(${ties === '' ? '' : `PARTITION BY ${ties} `}${order})`;
  const kept = new Set([series.dateColumn, ...series.ties].map(({ name }) => name));
  const terms = series.columns.map((column) => {
    const name = identifier(column.name);
    if (kept.has(column.name) || !isNumber(column)) return name;
    return `${transformed(summable(column), transform, window)} AS ${name}`;
  });
  return `(SELECT ${terms.join(', ')} FROM ${rows})`;
}

function transformed(value: string, transform: Transform, window: string): string {
  const before = `lag(${value}) OVER ${window}`;
  if (transform === 'diff') return `${value} - ${before}`;
  if (transform === 'cumul') return `sum(${value}) OVER ${window}`;
  // By zero is nothing, as data users have it, rather than an infinity that JSON can not say.
  if (transform === 'rdiff') return `(${value} - ${before}) / nullif(CAST(${before} AS DOUBLE), 0)`;
  const first = `first_value(${value} IGNORE NULLS) OVER ${window}`;
  return `CAST(${value} AS DOUBLE) / nullif(CAST(${first} AS DOUBLE), 0) * 100`;
}

/** Whether a series answers sums and differences of a column of integers: wider than they are. */
export function isSummed(
  column: Column,
  series: Pick<SeriesColumns, 'dateColumn' | 'ties'> & {
    readonly collapse: Collapse | undefined;
    readonly transform: Transform | undefined;
  },
): boolean {
  const { collapse, dateColumn, ties, transform } = series;
  const kept = [dateColumn, ...ties].some(({ name }) => name === column.name);
  if (column.type !== 'int64' || kept) return false;
  if (transform !== undefined) return transform === 'diff' || transform === 'cumul';
  if (collapse?.fold === 'ohlc') return partOf(column) === 'volume';
  return collapse?.fold === 'sum';
}

const isNumber = ({ type }: Column): boolean => isNumberType(type);
