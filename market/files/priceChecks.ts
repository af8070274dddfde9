// Checks by known splits whether closes are adjusted as declared, and finds closes far from both neighbors.
// Nothing is changed: a load reports it, or requires a confirmation.
import type { CrossCheck } from '../../store/lake/datasets/defaults.ts';
import type { Row } from '../../store/duckdb/protocol.ts';

/** Days around a split in which closes before and after it are searched. */
const WINDOW_DAYS = 10;
/** A close this many times both its neighbors, or that fraction of both, is reported. */
const OUTLIER_FACTOR = 10;
const ADJUSTED =
  'set isSplitAdjusted to true in each record, or pass constants={"isSplitAdjusted":true} (--adjusted)';
/** Splits of a smaller factor, such as 21 for 20, are within a day's price move. */
const LEAST_FACTOR = 1.25;
/** Share of a split's factor, as a logarithm, by which the closes may differ from it. */
const TOLERANCE = 1 / 3;
/** Symbols and days that are named in one note. */
const NAMED_MAX = 5;

const PRICE_COLUMNS = {
  required: ['symbol', 'date', 'close'],
  optional: { isSplitAdjusted: 'BOOLEAN', uClose: 'DOUBLE' },
};
const SPLIT_COLUMNS = { required: ['symbol', 'exDate', 'fromFactor', 'toFactor'], optional: {} };

/** The last close before each split and the first one from its day on. */
const aroundSplits = (prices: string, splits: string): string => `
  WITH split AS (
    SELECT symbol, CAST("exDate" AS DATE) AS day, "fromFactor" AS before, "toFactor" AS after,
      CAST("fromFactor" AS DOUBLE) / "toFactor" AS factor
    FROM ${splits} WHERE "fromFactor" > 0 AND "toFactor" > 0
  ), bar AS (
    SELECT symbol, CAST(date AS DATE) AS day, close, coalesce("isSplitAdjusted", false) AS adjusted
    FROM ${prices} WHERE close > 0 AND "uClose" IS NULL
  )
  SELECT split.symbol AS symbol, CAST(split.day AS VARCHAR) AS day, split.before AS before,
    split.after AS after, factor,
    arg_max(close, bar.day) FILTER (WHERE bar.day < split.day) AS last,
    arg_min(close, bar.day) FILTER (WHERE bar.day >= split.day) AS next,
    arg_max(adjusted, bar.day) FILTER (WHERE bar.day < split.day) AS adjusted
  FROM split JOIN bar ON bar.symbol = split.symbol
    AND bar.day BETWEEN split.day - ${WINDOW_DAYS} AND split.day + ${WINDOW_DAYS}
  WHERE abs(ln(factor)) >= ln(${LEAST_FACTOR})
  GROUP BY ALL ORDER BY 1, 2`;

const outliers = (prices: string): string => `
  SELECT symbol, day, close, last, next, count(*) OVER () AS n FROM (
    SELECT symbol, CAST(date AS VARCHAR) AS day, close, lag(close) OVER bars AS last,
      lead(close) OVER bars AS next
    FROM ${prices} WHERE close > 0 WINDOW bars AS (PARTITION BY symbol ORDER BY date)
  ) WHERE last IS NOT NULL AND next IS NOT NULL
    AND (close >= ${OUTLIER_FACTOR} * greatest(last, next)
      OR close * ${OUTLIER_FACTOR} <= least(last, next))
  ORDER BY symbol, day LIMIT ${NAMED_MAX}`;

interface AroundSplit {
  readonly symbol: string;
  readonly day: string;
  readonly shares: string;
  readonly last: number;
  readonly next: number;
  readonly isAdjusted: boolean;
}

/** Splits whose closes match the opposite declaration. */
function contradictions(rows: readonly Row[]): readonly AroundSplit[] {
  return rows.flatMap((row) => {
    const [factor, last, next] = ['factor', 'last', 'next'].map((name) => Number(row[name]));
    if (factor === undefined || !last || !next) return [];
    const [moved, split] = [Math.log(next / last), Math.log(factor)];
    const isAdjusted = row['adjusted'] === true;
    // A split is visible in traded prices, and not in adjusted ones.
    const distance = isAdjusted ? Math.abs(moved - split) : Math.abs(moved);
    if (distance >= Math.abs(split) * TOLERANCE) return [];
    const shares = `${Number(row['after'])} for ${Number(row['before'])}`;
    const [symbol, day] = [String(row['symbol']), String(row['day'])];
    return [{ symbol, day, shares, last, next, isAdjusted }];
  });
}

const around = ({ day, last, next, shares, symbol }: AroundSplit): string =>
  `${symbol} closes at ${last} before and ${next} after its split of ${day} (${shares})`;

const more = (all: readonly unknown[]): string =>
  all.length > 1 ? `, and so do ${all.length - 1} more` : '';

function contradiction(rows: readonly Row[]): string | undefined {
  const all = contradictions(rows);
  const [first] = all;
  if (first === undefined) return undefined;
  const [like, declared, way] = first.isAdjusted
    ? ['prices as traded', 'split-adjusted', 'leave out isSplitAdjusted (--adjusted)']
    : ['split-adjusted prices', 'as traded', ADJUSTED];
  return `${around(first)}, like ${like}${more(all)}; they are declared ${declared}: ${way}`;
}

function outlierNotes(rows: readonly Row[]): readonly string[] {
  const [first] = rows;
  if (first === undefined) return [];
  const list = rows
    .map((row) => `${row['symbol']} ${row['day']} ${Number(row['close'])}`)
    .join(', ');
  const what = `closes are ${OUTLIER_FACTOR} times or a tenth of both their neighbours`;
  return [`note: ${Number(first['n'])} ${what}: ${list}; they are stored as they are`];
}

/** Checks a load of daily bars, by the stored splits. */
export const PRICE_CHECK: CrossCheck = {
  otherDataset: 'SPLITS',
  own: PRICE_COLUMNS,
  other: SPLIT_COLUMNS,
  statements: (own, other) => [
    outliers(own),
    ...(other === undefined ? [] : [aroundSplits(own, other)]),
  ],
  report: ([odd = [], rows = []]) => ({
    notes: outlierNotes(odd),
    contradiction: contradiction(rows),
  }),
};

/** Checks a load of splits, by the stored daily bars. */
export const SPLIT_CHECK: CrossCheck = {
  otherDataset: 'HISTORICAL_PRICES',
  own: SPLIT_COLUMNS,
  other: PRICE_COLUMNS,
  statements: (own, other) => (other === undefined ? [] : [aroundSplits(other, own)]),
  report: ([rows = []]) => {
    const reason = contradiction(rows);
    return {
      notes: reason === undefined ? [] : [`note: stored prices contradict a split: ${reason}`],
    };
  },
};
