// A tick of a feed: one event of one symbol, or of the whole market.

interface Of {
  readonly symbol: string;
  /** Epoch milliseconds; feeds with nanoseconds have a fraction. */
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

/** Cancels an earlier trade. */
interface BreakTick extends Omit<TradeTick, 'kind'> {
  readonly kind: 'break';
}

/** Current size of one price of a side of the book; 0 removes it. */
export interface LevelTick extends Of {
  readonly kind: 'level';
  readonly side: 'bid' | 'ask';
  readonly price: number;
  readonly size: number;
  /** More levels of the same event follow: the book is incomplete. */
  readonly isPart?: boolean;
}

/** Members as in `/deep` and its channels (INTERFACE.md 1 "deep"). */
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
   * @throws Failure when they could not be read; the next call reads them again.
   */
  next(): Promise<readonly Tick[]>;
  /** Ends the reader. */
  close(): void;
}
