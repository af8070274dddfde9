// Bars of one or more minutes (INTERFACE.md 1 "intraday-prices"), oldest first. The original distinguished
// its own exchange's feed from the whole market; here there is one feed, and market* repeat it.
import { everyNth, latest, simplifyLine } from './thinning.ts';
import {
  dayIn,
  greatest,
  least,
  numberIn,
  rounded,
  type Row,
  shareOf,
  sumOf,
  textIn,
} from './values.ts';
import { instantOf, minuteLabel } from './exchangeTime.ts';

interface MinuteOptions {
  readonly simplify: boolean;
  readonly interval: number | undefined;
  readonly last: number | undefined;
  /** changeOverTime starts from this close, not from the first bar. */
  readonly fromClose: number | null;
  /** Minutes of one bar. */
  readonly minutes: number;
  readonly order: 'asc' | 'desc';
  /** Without the members of the whole market. */
  readonly plain: boolean;
}

export function minuteRows(rows: readonly Row[], options: MinuteOptions): readonly object[] {
  const bars = (options.minutes > 1 ? joinBars(rows, options.minutes) : rows).map(minuteBar);
  const shape = options.simplify ? simplifyLine(bars, ({ close }) => close) : bars;
  const thin = latest(everyNth(shape, options.interval), options.last);
  const base = options.fromClose ?? firstOf(thin);
  const selected = thin.map((bar) => toAnswerRow(bar, base, options.plain));
  return options.order === 'desc' ? selected.toReversed() : selected;
}

/** End of a bar, epoch milliseconds. */
export const endOfMinute = (row: Row): number =>
  instantOf(dayIn(row, 'date'), textIn(row, 'minute') ?? '') + 60_000;

interface MinuteBar {
  readonly date: string;
  readonly minute: string;
  readonly row: Row;
  readonly high: number | null;
  readonly low: number | null;
  readonly open: number | null;
  readonly close: number | null;
  readonly average: number | null;
  readonly volume: number | null;
  readonly notional: number | null;
  readonly numberOfTrades: number | null;
}

function minuteBar(row: Row): MinuteBar {
  const [volume, close] = [numberIn(row, 'volume'), numberIn(row, 'close')];
  const reported = numberIn(row, 'notional');
  const average =
    numberIn(row, 'average') ??
    (reported !== null && volume !== null && volume > 0 ? rounded(reported / volume, 3) : close);
  const computed = average !== null && volume !== null ? rounded(average * volume, 3) : null;
  return {
    date: dayIn(row, 'date'),
    minute: textIn(row, 'minute') ?? '',
    row,
    high: numberIn(row, 'high'),
    low: numberIn(row, 'low'),
    open: numberIn(row, 'open'),
    close,
    average,
    volume,
    notional: reported ?? computed,
    numberOfTrades: numberIn(row, 'numberOfTrades'),
  };
}

const firstOf = (bars: readonly MinuteBar[]): number | null => {
  const first = bars.find(({ close }) => close !== null);
  return first?.open ?? first?.close ?? null;
};

function toAnswerRow(bar: MinuteBar, base: number | null, plain: boolean): object {
  const { average, close, high, low, notional, numberOfTrades, open, row, volume } = bar;
  const changeOverTime = numberIn(row, 'changeOverTime') ?? shareOf(base, close, 6);
  const own = {
    date: bar.date,
    minute: bar.minute,
    label: textIn(row, 'label') ?? minuteLabel(bar.minute),
    high,
    low,
    open,
    close,
    average,
    volume,
    notional,
    numberOfTrades,
  };
  if (plain) return { ...own, changeOverTime };
  return {
    ...own,
    marketHigh: numberIn(row, 'marketHigh') ?? high,
    marketLow: numberIn(row, 'marketLow') ?? low,
    marketAverage: numberIn(row, 'marketAverage') ?? average,
    marketVolume: numberIn(row, 'marketVolume') ?? volume,
    marketNotional: numberIn(row, 'marketNotional') ?? notional,
    marketNumberOfTrades: numberIn(row, 'marketNumberOfTrades') ?? numberOfTrades,
    marketOpen: numberIn(row, 'marketOpen') ?? open,
    marketClose: numberIn(row, 'marketClose') ?? close,
    changeOverTime,
    marketChangeOverTime: numberIn(row, 'marketChangeOverTime') ?? changeOverTime,
  };
}

/** Bars of several minutes: `09:30`, `10:00`, … for 30. */
function joinBars(rows: readonly Row[], minutes: number): readonly Row[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const minute = minuteStart(textIn(row, 'minute') ?? '', minutes);
    const name = `${dayIn(row, 'date')} ${minute}`;
    const group = groups.get(name) ?? [];
    group.push(row);
    groups.set(name, group);
  }
  return [...groups].map(([name, group]) => joinedBar(name.slice(11), group));
}

function minuteStart(minute: string, minutes: number): string {
  const [hour = 0, past = 0] = minute.split(':').map(Number);
  const start = Math.floor((hour * 60 + past) / minutes) * minutes;
  return `${String(Math.floor(start / 60)).padStart(2, '0')}:${String(start % 60).padStart(2, '0')}`;
}

function joinedBar(minute: string, rows: readonly Row[]): Row {
  const bars = rows.map(minuteBar);
  const of = (name: 'open' | 'close' | 'high' | 'low' | 'volume'): readonly (number | null)[] =>
    bars.map((bar) => bar[name]);
  const [volume, notional] = [sumOf(of('volume')), sumOf(bars.map((bar) => bar.notional))];
  return {
    date: bars[0]?.date ?? '',
    minute,
    open: of('open').find((value) => value !== null) ?? null,
    close: of('close').findLast((value) => value !== null) ?? null,
    high: greatest(of('high')),
    low: least(of('low')),
    volume,
    notional: rounded(notional, 3),
    average: volume > 0 ? rounded(notional / volume, 3) : null,
    numberOfTrades: sumOf(bars.map((bar) => bar.numberOfTrades)),
  };
}
