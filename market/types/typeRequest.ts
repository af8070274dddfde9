// Requests for a market type, and the records of inputs that an answer needs.
import type { Day } from '../../query/time/days.ts';
import type { OptionSide } from '../derive/optionChain.ts';
import type { Row } from '../derive/values.ts';
import type { InputId } from '../inputs/inputRow.ts';

/** Parameters of the caller, by their names in the interface. */
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
  /** Name of the technical indicator. */
  readonly indicator?: string | undefined;
  readonly input1?: number | undefined;
  readonly input2?: number | undefined;
  readonly input3?: number | undefined;
  readonly input4?: number | undefined;
  readonly lastIndicator?: boolean | undefined;
  readonly indicatorOnly?: boolean | undefined;
  /** For options: a day, YYYYMMDD, or a month, YYYYMM. */
  readonly expiration?: string | undefined;
  readonly side?: OptionSide | undefined;
}

export interface TypeRequest {
  /** In the owner's spelling. */
  readonly symbol: string;
  readonly nowMs: number;
  /** Later events are not visible yet: the caller's data are delayed. */
  readonly untilMs: number;
  /** The exchange's current day. */
  readonly today: Day;
  readonly options: Options;
}

/** Selects records of one key, oldest first. */
export type Window =
  | { readonly kind: 'newest'; readonly count: number }
  | { readonly kind: 'oldest' }
  /** The last one on or before a day. */
  | { readonly kind: 'at'; readonly day: Day }
  | { readonly kind: 'days'; readonly from: Day | undefined; readonly to: Day | undefined }
  | Page;

/** `count` records of some days, after those of the earlier pages. */
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

/** Returns the records of a need, oldest first; none where the input does not exist or may not be read. */
export type Read = (need: Need) => readonly Row[];

export const newest = (input: InputId, key: string, count: number): Need => ({
  input,
  key,
  window: {
    kind: 'newest',
    count,
  },
});

export const allRecords = (input: InputId, key: string): Need => ({
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
