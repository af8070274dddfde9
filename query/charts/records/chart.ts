// What a chart is made of, whoever paints it: places from left to right, and what is drawn at them.

/** Lines of a chart; more can not be told apart. */
export const LINES_MAX = 8;

export interface Line {
  readonly name: string;
  /** One for each place; undefined where the line has a gap. */
  readonly values: readonly (number | undefined)[];
}

/** What a candle says of its places: those from the first to the last of them. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

export interface Chart {
  readonly title: string;
  /** What each place is called, from left to right. */
  readonly labels: readonly string[];
  /** By what: days, oldest first; texts of the records; where they stand among the records. */
  readonly labelled: 'day' | 'text' | 'place';
  readonly lines: readonly Line[];
  /** Undefined for a chart that has no candles. */
  readonly bars?: readonly Bar[];
}
