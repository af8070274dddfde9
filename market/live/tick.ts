// What a feed tells: one thing that happened to one symbol, or to the market as a whole.

interface Of {
  readonly symbol: string;
  /** Epoch milliseconds; feeds that know nanoseconds tell them as a fraction. */
  readonly timeMs: number;
}

export interface QuoteTick extends Of {
  readonly kind: 'quote';
  readonly bidPrice: number;
  readonly bidSize: number;
  readonly askPrice: number;
  readonly askSize: number;
}

export interface TradeTick extends Of {
  readonly kind: 'trade';
  readonly price: number;
  readonly size: number;
  readonly tradeId: string;
  readonly venue?: string | undefined;
  readonly isISO?: boolean;
  readonly isOddLot?: boolean;
  readonly isOutsideRegularHours?: boolean;
  readonly isSinglePriceCross?: boolean;
  readonly isTradeThroughExempt?: boolean;
}

/** A trade that was told before did not happen. */
interface BreakTick extends Omit<TradeTick, 'kind'> {
  readonly kind: 'break';
}

/** What one price of a side of the book holds now; 0 takes it away. */
export interface LevelTick extends Of {
  readonly kind: 'level';
  readonly side: 'bid' | 'ask';
  readonly price: number;
  readonly size: number;
  /** More of the same event follows: the book is not to be shown yet. */
  readonly isPart?: boolean;
}

/** Members as `/deep` and its channels show them (INTERFACE.md 1 "deep"). */
export interface StateTick extends Of {
  readonly kind: 'state';
  readonly state: StateName;
  readonly value: Readonly<Record<string, unknown>>;
}

export const STATES = [
  ...(['tradingStatus', 'opHaltStatus', 'ssrStatus', 'securityEvent'] as const),
  ...(['officialPrice', 'auction', 'systemEvent'] as const),
] as const;
export type StateName = (typeof STATES)[number];

export type Tick = QuoteTick | TradeTick | BreakTick | LevelTick | StateTick;

export interface TickReader {
  /**
   * Further ticks in the order of their times; none at the end.
   * @throws Failure when they could not be read; asked again, it reads them again.
   */
  next(): Promise<readonly Tick[]>;
  /** No more is asked for. */
  close(): void;
}
