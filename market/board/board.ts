// The last two days of every symbol, and rankings of them (INTERFACE.md 1 "market").
import type { Day } from '../../query/time/days.ts';
import { adjustBars, type Bar } from '../derive/adjust.ts';
import { closeOf, findSession } from '../derive/lastSale.ts';
import { numberIn, rounded, type Row, shareOf, textIn } from '../derive/values.ts';

/** Days of bars that a board reads: they include the two last sessions of nearly every symbol. */
export const BOARD_DAYS = 7;

export interface SymbolDays {
  readonly symbol: string;
  /** The last one, and the one before. */
  readonly bars: readonly Bar[];
  readonly changePercent: number;
  readonly volume: number;
}

/**
 * @param rows bars of all symbols, oldest first of each
 * @param splits of all symbols
 */
export function buildBoard(
  rows: readonly Row[],
  splits: readonly Row[],
  today: Day,
): readonly SymbolDays[] {
  const splitsOf = bySymbol(splits);
  return [...bySymbol(rows)].flatMap(([symbol, own]): readonly SymbolDays[] => {
    const actions = { splits: splitsOf.get(symbol) ?? [], dividends: [] };
    const closed = own.filter((row) => numberIn(row, 'close') !== null);
    const bars = adjustBars(closed.slice(-2), actions, today);
    const close = bars.at(-1)?.split.close ?? null;
    if (close === null) return [];
    const before = bars.length > 1 ? (bars[0]?.split.close ?? null) : null;
    const volume = bars.at(-1)?.split.volume ?? 0;
    return [{ symbol, bars, changePercent: shareOf(before, close) ?? 0, volume }];
  });
}

function bySymbol(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  const symbols = new Map<string, Row[]>();
  for (const row of rows) {
    const symbol = (textIn(row, 'symbol') ?? '').toUpperCase();
    const own = symbols.get(symbol) ?? [];
    own.push(row);
    symbols.set(symbol, own);
  }
  return symbols;
}

type Order = (one: SymbolDays, other: SymbolDays) => number;

const byVolume: Order = (one, other) => other.volume - one.volume;

interface List {
  readonly order: Order;
  readonly holds: (entry: SymbolDays) => boolean;
}

/** Without an own exchange its volume is the market's; outside the hours these lists are empty. */
const LISTS: ReadonlyMap<string, List> = new Map<string, List>([
  ['mostactive', { order: byVolume, holds: () => true }],
  [
    'gainers',
    { order: (a, b) => b.changePercent - a.changePercent, holds: (one) => one.changePercent > 0 },
  ],
  [
    'losers',
    { order: (a, b) => a.changePercent - b.changePercent, holds: (one) => one.changePercent < 0 },
  ],
  ['iexvolume', { order: byVolume, holds: () => true }],
  ['iexpercent', { order: byVolume, holds: () => true }],
  ...['premarket_gainers', 'premarket_losers', 'postmarket_gainers', 'postmarket_losers'].map(
    (name): [string, List] => [name, { order: byVolume, holds: () => false }],
  ),
]);

export const LIST_NAMES: readonly string[] = [...LISTS.keys()];

/** Symbols of a list, in its order; undefined for an unknown list. */
export function rankSymbols(
  name: string,
  board: readonly SymbolDays[],
  limit: number,
): readonly string[] | undefined {
  const list = LISTS.get(name.toLowerCase());
  if (list === undefined) return undefined;
  return board
    .filter(list.holds)
    .toSorted((one, other) => list.order(one, other) || (one.symbol < other.symbol ? -1 : 1))
    .slice(0, limit)
    .map(({ symbol }) => symbol);
}

/** `ohlc` of a symbol's last day. */
export function lastDayOf({ bars, symbol }: SymbolDays): Row {
  const bar = bars.at(-1);
  const { close = null, high = null, low = null, open = null, volume = null } = bar?.split ?? {};
  const day = bar?.date ?? '';
  return {
    open: {
      price: open,
      time: findSession(day)?.openMs ?? null,
    },
    close: {
      price: close,
      time: closeOf(day),
    },
    high,
    low,
    volume,
    symbol,
  };
}

/** Volume of a venue; '' where trades have none. */
interface VenueVolume {
  readonly mic: string;
  readonly volume: number;
  readonly lastUpdated: number;
}

/** Volume by venue, the highest first (INTERFACE.md 1 "market" volume). */
export function volumesOf(sums: readonly VenueVolume[], venues: readonly Row[]): readonly Row[] {
  const names = new Map(venues.map((row) => [textIn(row, 'mic') ?? '', row]));
  const whole = sums.reduce((sum, { volume }) => sum + volume, 0);
  return sums
    .map(({ lastUpdated, mic, volume }) => ({
      mic,
      tapeId: textIn(names.get(mic), 'tapeId'),
      venueName: textIn(names.get(mic), 'name') ?? mic,
      volume,
      tapeA: null,
      tapeB: null,
      tapeC: null,
      marketPercent: whole === 0 ? null : rounded(volume / whole, 5),
      lastUpdated,
    }))
    .sort((one, other) => other.volume - one.volume);
}

/** Performance of a sector on the last day. */
interface SectorRow {
  readonly type: 'sector';
  readonly name: string;
  /** Change of the value of its companies, as a share. */
  readonly performance: number;
  /** Epoch milliseconds: the end of its day. */
  readonly lastUpdated: number | null;
}

/** @param companies latest record of each, by symbol */
export function sectorsOf(
  board: readonly SymbolDays[],
  companies: ReadonlyMap<string, Row>,
  today: Day,
): readonly SectorRow[] {
  const sectors = new Map<string, { before: number; now: number; day: Day }>();
  for (const { bars, symbol } of board) {
    const company = companies.get(symbol);
    const name = company === undefined ? null : textIn(company, 'sector');
    const [one, last] = [bars[0]?.split.close ?? null, bars.at(-1)];
    const close = last?.split.close ?? null;
    if (name === null || name === '' || one === null || close === null || bars.length < 2) continue;
    // Without shares a company counts by its change alone.
    const shares = numberIn(company, 'sharesOutstanding');
    const worth = shares === null || shares <= 0 ? 1 : shares * one;
    const sum = sectors.get(name) ?? { before: 0, now: 0, day: '' };
    sum.before += worth;
    sum.now += (worth * close) / one;
    if ((last?.date ?? '') > sum.day) sum.day = last?.date ?? '';
    sectors.set(name, sum);
  }
  return [...sectors]
    .map(([name, { before, day, now }]) => ({
      type: 'sector' as const,
      name,
      performance: rounded(now / before - 1, 5),
      lastUpdated: closeOf(day === '' ? today : day),
    }))
    .sort((one, other) => other.performance - one.performance);
}
