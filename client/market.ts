// Shapes of the market types that most programs read. What a server does not know of a symbol is null.

type Told<T> = { readonly [K in keyof T]: T[K] | null };

export interface Quote extends Told<{
  companyName: string;
  primaryExchange: string;
  calculationPrice: string;
  open: number;
  close: number;
  high: number;
  low: number;
  latestPrice: number;
  latestSource: string;
  latestTime: string;
  latestUpdate: number;
  latestVolume: number;
  previousClose: number;
  previousVolume: number;
  change: number;
  changePercent: number;
  avgTotalVolume: number;
  marketCap: number;
  peRatio: number;
  week52High: number;
  week52Low: number;
  ytdChange: number;
  currency: string;
  isUSMarketOpen: boolean;
}> {
  readonly symbol: string;
}

export interface Bar {
  readonly date: string;
  /** `HH:MM`, of minutes. */
  readonly minute?: string;
  readonly open: number | null;
  readonly high: number | null;
  readonly low: number | null;
  readonly close: number | null;
  readonly volume: number | null;
}

export interface Company extends Told<{
  companyName: string;
  exchange: string;
  industry: string;
  website: string;
  description: string;
  CEO: string;
  sector: string;
  employees: number;
  country: string;
}> {
  readonly symbol: string;
}

export interface Dividend {
  readonly symbol: string;
  readonly exDate: string;
  readonly paymentDate: string | null;
  readonly amount: number | string | null;
  readonly currency: string | null;
}

export interface Split {
  readonly symbol: string;
  readonly exDate: string;
  readonly ratio: number;
  readonly fromFactor: number;
  readonly toFactor: number;
}

/** By the name of the type; others are plain objects. */
export interface MarketTypes {
  quote: Quote;
  chart: readonly Bar[];
  'historical-prices': readonly Bar[];
  'intraday-prices': readonly Bar[];
  company: Company;
  dividends: readonly Dividend[];
  splits: readonly Split[];
  peers: readonly string[];
  price: number;
}
