// What a market type is asked for, and what it must read of the inputs to answer.
import type { Day } from '../../query/time/days.ts';
import type { OptionSide } from '../derive/optionChain.ts';
import type { Row } from '../derive/values.ts';
import type { InputId } from '../inputs/inputRow.ts';

/** Parameters of the caller, by the names of the interface. */
export interface Options {
  readonly range?: string | undefined;
  readonly from?: Day | undefined;
  readonly to?: Day | undefined;
  readonly on?: Day | undefined;
  readonly exactDate?: Day | undefined;
  readonly last?: number | undefined;
  readonly sort?: 'asc' | 'desc' | undefined;
  readonly chartLast?: number | undefined;
  readonly chartInterval?: number | undefined;
  readonly chartCloseOnly?: boolean | undefined;
  readonly chartByDay?: boolean | undefined;
  readonly chartSimplify?: boolean | undefined;
  readonly changeFromClose?: boolean | undefined;
  readonly chartReset?: boolean | undefined;
  readonly chartIEXOnly?: boolean | undefined;
  readonly chartIEXWhenNull?: boolean | undefined;
  readonly includeToday?: boolean | undefined;
  readonly displayPercent?: boolean | undefined;
  readonly oddLot?: boolean | undefined;
  /** Which technical indicator. */
  readonly indicator?: string | undefined;
  readonly input1?: number | undefined;
  readonly input2?: number | undefined;
  readonly input3?: number | undefined;
  readonly input4?: number | undefined;
  readonly lastIndicator?: boolean | undefined;
  readonly indicatorOnly?: boolean | undefined;
  /** Of options: a day, YYYYMMDD, or a month, YYYYMM. */
  readonly expiration?: string | undefined;
  readonly side?: OptionSide | undefined;
}

export interface Ask {
  /** In the owner's spelling. */
  readonly symbol: string;
  readonly nowMs: number;
  /** What happened later may not be seen yet: the caller's data are delayed. */
  readonly untilMs: number;
  /** The exchange's day of now. */
  readonly today: Day;
  readonly options: Options;
}

/** Which records of one key, oldest first. */
export type Window =
  | { readonly kind: 'newest'; readonly count: number }
  | { readonly kind: 'oldest' }
  /** The last one on or before a day. */
  | { readonly kind: 'at'; readonly day: Day }
  | { readonly kind: 'days'; readonly from: Day | undefined; readonly to: Day | undefined }
  | Page;

/** Of the records of some days so many, after those of the pages before. */
interface Page {
  readonly kind: 'page';
  readonly from: Day;
  readonly to: Day;
  readonly offset: number;
  readonly count: number;
}

export interface Need {
  readonly input: InputId;
  readonly key: string;
  readonly window: Window;
}

/** The records of a need, oldest first; none where the input is not there or may not be read. */
export type Read = (need: Need) => readonly Row[];

export const newest = (input: InputId, key: string, count: number): Need => ({
  input,
  key,
  window: {
    kind: 'newest',
    count,
  },
});

export const wholeOf = (input: InputId, key: string): Need => ({
  input,
  key,
  window: {
    kind: 'days',
    from: undefined,
    to: undefined,
  },
});

export const between = (
  input: InputId,
  key: string,
  from: Day | undefined,
  to: Day | undefined,
): Need => ({ input, key, window: { kind: 'days', from, to } });
