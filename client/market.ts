// What market types answer, by how they are asked. The shapes themselves are generated from the server's
// table; what a server does not know of a symbol is null, and of a type that tells nothing of it, `Nothing`.
import type {
  CloseBar,
  DayBar,
  DividendsRecord,
  DynamicDays,
  DynamicMinutes,
  FeedMinuteBar,
  Indicator,
  IndicatorAlone,
  MinuteBar,
  MinuteIndicator,
  Nothing,
  Operations,
  OptionContract,
  SplitsRecord,
  StockTypes,
} from './operations.ts';
import type * as Told from './operations.ts';

export type Quote = Told.Quote;
export type Company = Told.Company;
export type Bar = DayBar | MinuteBar;
export type Dividend = DividendsRecord;
export type Split = SplitsRecord;

/** All that each type may answer, by its name. */
export type MarketTypes = Required<StockTypes>;

/** Parameters of the query, and what stands behind the type in the path. */
export type StockQuery = Operations['getStockByType']['query'] & { readonly part?: string };

/** Of several types and symbols. */
export type BatchQuery = Omit<Operations['getStockBatch']['query'], 'symbols' | 'types'>;

/** What a type answers to a query; of a type that is not known nothing is said. */
export type StockAnswer<T extends string, Q> = Filtered<
  T extends keyof Narrowed<Q>
    ? Narrowed<Q>[T]
    : T extends keyof MarketTypes
      ? MarketTypes[T]
      : unknown,
  Q
>;

/** By symbol; a type is missing where the token may not read it. */
export type StockBatch<T extends string, Q> = Readonly<
  Record<string, { readonly [K in T]?: StockAnswer<K, Q> }>
>;

/** Types of which the query says which of their shapes they answer. */
interface Narrowed<Q> {
  readonly chart: Chart<RangeOf<Q>, Q>;
  readonly 'historical-prices': Chart<RangeOf<Q>, Q>;
  readonly 'intraday-prices': Minutes<Q>;
  readonly indicator: Indicated<RangeOf<Omit<Q, 'part'>>, Q>;
  readonly quote: Attribute<'quote', Q>;
  readonly stats: Attribute<'stats', Q>;
  readonly company: Attribute<'company', Q>;
  readonly options: Q extends { readonly part: string }
    ? readonly OptionContract[]
    : MarketTypes['options'];
  readonly dividends: Next<DividendsRecord, Q>;
  readonly splits: Next<SplitsRecord, Q>;
}

type RangeOf<Q> = Q extends { readonly part: infer R } | { readonly range: infer R }
  ? R
  : Q extends { readonly exactDate: string }
    ? 'date'
    : '';

type OfMinutes = '1d' | '5dm' | '1mm';

/** A range that is not written in the program, and `date`, may be of both. */
type Chart<R, Q> = R extends OfMinutes
  ? Minutes<Q>
  : R extends 'dynamic'
    ? DynamicDays | DynamicMinutes
    : string extends R
      ? MarketTypes['chart']
      : R extends 'date'
        ? MarketTypes['chart']
        : Says<Q, 'chartCloseOnly', readonly CloseBar[], readonly DayBar[]>;

type Minutes<Q> = Says<Q, 'chartIEXOnly', readonly FeedMinuteBar[], readonly MinuteBar[]>;

type Indicated<R, Q> =
  | Says<
      Q,
      'indicatorOnly',
      IndicatorAlone,
      R extends OfMinutes
        ? MinuteIndicator
        : string extends R
          ? Indicator | MinuteIndicator
          : Indicator
    >
  | Nothing;

/** One of two, by a parameter that is true or is not. */
type Says<Q, Name extends string, Yes, No> = Q extends { readonly [K in Name]: infer B }
  ? B extends true
    ? Yes
    : No
  : No;

/** One attribute, of the name that is written. */
type Attribute<T extends keyof MarketTypes, Q> = Q extends { readonly part: infer P }
  ? AttributeOf<Exclude<MarketTypes[T], Nothing>, P>
  : MarketTypes[T];

type AttributeOf<A, P> = string extends P
  ? A[keyof A] | null
  : P extends keyof A
    ? Exclude<A[P], undefined> | null
    : never;

/** The one that comes next, or those of a range. */
type Next<Row, Q> = Q extends { readonly part: 'next' } ? Row | Nothing : readonly Row[];

/** Attributes that a filter leaves out are missing. */
type Filtered<A, Q> = Q extends { readonly filter: readonly string[] }
  ? A extends readonly (infer Row)[]
    ? readonly Partial<Row>[]
    : Partial<A>
  : A;
