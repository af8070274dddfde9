// Answers of market types, by the parameters of the request. The shapes are generated from the server's
// table; an attribute without a value is null, and a type without data is `Nothing`.
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
import type * as Shapes from './operations.ts';

export type Quote = Shapes.Quote;
export type Company = Shapes.Company;
export type Bar = DayBar | MinuteBar;
export type Dividend = DividendsRecord;
export type Split = SplitsRecord;

/** All answers of each type, by its name. */
export type MarketTypes = Required<StockTypes>;

/** Parameters of the query, and the path segment after the type. */
export type StockQuery = Operations['getStockByType']['query'] & { readonly part?: string };

/** Parameters for several types and symbols. */
export type BatchQuery = Omit<Operations['getStockBatch']['query'], 'symbols' | 'types'>;

/** Answer of a type to a query; unknown for an unknown type. */
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

/** Types whose answer's shape depends on the query. */
interface Narrowed<Q> {
  readonly chart: Chart<RangeOf<Q>, Q>;
  readonly 'historical-prices': Chart<RangeOf<Q>, Q>;
  readonly 'intraday-prices': Minutes<Q>;
  readonly indicator: IndicatorAnswer<RangeOf<Omit<Q, 'part'>>, Q>;
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

/** A range that is not a literal in the program, and `date`, may be either. */
type Chart<R, Q> = R extends OfMinutes
  ? Minutes<Q>
  : R extends 'dynamic'
    ? DynamicDays | DynamicMinutes
    : string extends R
      ? MarketTypes['chart']
      : R extends 'date'
        ? MarketTypes['chart']
        : IfTrue<Q, 'chartCloseOnly', readonly CloseBar[], readonly DayBar[]>;

type Minutes<Q> = IfTrue<Q, 'chartIEXOnly', readonly FeedMinuteBar[], readonly MinuteBar[]>;

type IndicatorAnswer<R, Q> =
  | IfTrue<
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

/** One of two, by a boolean parameter. */
type IfTrue<Q, Name extends string, Yes, No> = Q extends { readonly [K in Name]: infer B }
  ? B extends true
    ? Yes
    : No
  : No;

/** One attribute, if its name is a literal. */
type Attribute<T extends keyof MarketTypes, Q> = Q extends { readonly part: infer P }
  ? AttributeOf<Exclude<MarketTypes[T], Nothing>, P>
  : MarketTypes[T];

type AttributeOf<A, P> = string extends P
  ? A[keyof A] | null
  : P extends keyof A
    ? Exclude<A[P], undefined> | null
    : never;

/** The next one, or those of a range. */
type Next<Row, Q> = Q extends { readonly part: 'next' } ? Row | Nothing : readonly Row[];

/** Attributes that a filter leaves out are missing. */
type Filtered<A, Q> = Q extends { readonly filter: readonly string[] }
  ? A extends readonly (infer Row)[]
    ? readonly Partial<Row>[]
    : Partial<A>
  : A;
