// Rows of daily charts (INTERFACE.md 1 "chart", the later form), oldest first.
import type { Day } from '../../query/time/days.ts';
import type { Bar } from './adjust.ts';
import { everyNth, latest, simplifyLine } from './thinning.ts';
import { difference, numberIn, shareOf, textIn } from './values.ts';
import { shortDay } from './exchangeTime.ts';

export interface ChartOptions {
  /** Only date, close, volume and changes. */
  readonly closeOnly: boolean;
  readonly simplify: boolean;
  /** Every nth bar. */
  readonly interval: number | undefined;
  /** The latest n bars. */
  readonly last: number | undefined;
  /** changeOverTime starts from the close before the first bar. */
  readonly fromClose: boolean;
  readonly order: 'asc' | 'desc';
}

/**
 * Rows of the bars from `from` on.
 * @param bars oldest first, with at least one before `from` if there is one
 */
export function chartRows(
  symbol: string,
  bars: readonly Bar[],
  from: Day | undefined,
  options: ChartOptions,
): readonly object[] {
  const first = from === undefined ? 0 : bars.findIndex(({ date }) => date >= from);
  const selected = first < 0 ? [] : bars.slice(first);
  const shape = options.simplify ? simplifyLine(selected, ({ split }) => split.close) : selected;
  const thin = latest(everyNth(shape, options.interval), options.last);
  const [start] = thin;
  const isBefore = options.fromClose && start !== undefined;
  const before = closesBefore(bars);
  const base = (isBefore ? before.get(start) : undefined) ?? start;
  const rows = thin.map((bar) => {
    const changes = changesOf(bar, before.get(bar), base);
    return options.closeOnly ? closeRow(bar, changes) : fullRow(symbol, bar, changes);
  });
  return options.order === 'desc' ? rows.toReversed() : rows;
}

/** Maps each bar to the last one before it with a close. */
function closesBefore(bars: readonly Bar[]): ReadonlyMap<Bar, Bar | undefined> {
  const before = new Map<Bar, Bar | undefined>();
  let last: Bar | undefined;
  for (const bar of bars) {
    before.set(bar, last);
    if (bar.split.close !== null) last = bar;
  }
  return before;
}

interface Changes {
  readonly change: number | null;
  readonly changePercent: number | null;
  readonly changeOverTime: number | null;
}

function changesOf(bar: Bar, before: Bar | undefined, base: Bar | undefined): Changes {
  const { row, split } = bar;
  const previous = before?.split.close ?? null;
  // The first bar has no change; a bar without a close has null.
  const none = split.close === null ? null : 0;
  return {
    change: numberIn(row, 'change') ?? difference(previous, split.close) ?? none,
    changePercent: numberIn(row, 'changePercent') ?? shareOf(previous, split.close) ?? none,
    changeOverTime:
      numberIn(row, 'changeOverTime') ?? shareOf(base?.split.close ?? null, split.close, 6) ?? none,
  };
}

const closeRow = ({ date, split }: Bar, changes: Changes): object => ({
  date,
  close: split.close,
  volume: split.volume,
  ...changes,
});

function fullRow(symbol: string, { date, full, raw, row, split }: Bar, changes: Changes): object {
  return {
    close: split.close,
    high: split.high,
    low: split.low,
    open: split.open,
    symbol,
    volume: split.volume,
    id: 'HISTORICAL_PRICES',
    key: symbol,
    subkey: '',
    date,
    updated: numberIn(row, 'updated'),
    changeOverTime: changes.changeOverTime,
    marketChangeOverTime: numberIn(row, 'marketChangeOverTime') ?? changes.changeOverTime,
    uOpen: raw.open,
    uClose: raw.close,
    uHigh: raw.high,
    uLow: raw.low,
    uVolume: raw.volume,
    fOpen: full.open,
    fClose: full.close,
    fHigh: full.high,
    fLow: full.low,
    fVolume: full.volume,
    label: textIn(row, 'label') ?? shortDay(date),
    change: changes.change,
    changePercent: changes.changePercent,
  };
}

/** One day as an object: `previous`, with its changes from the day before. */
export function previousRow(symbol: string, bars: readonly Bar[]): object {
  const bar = bars.at(-1);
  if (bar === undefined) return {};
  const before = closesBefore(bars).get(bar);
  return fullRow(symbol, bar, changesOf(bar, before, before ?? bar));
}
