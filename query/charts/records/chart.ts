// The content of a chart, independent of its format: positions from left to right, and their values.

/** Lines of a chart; a reader can't distinguish more. */
export const LINES_MAX = 8;

export interface Line {
  readonly name: string;
  /** One for each position; undefined where the line has a gap. */
  readonly values: readonly (number | undefined)[];
}

/** The values of a candle, and the positions that it merges, from the first to the last. */
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
  /** The label of each position, from left to right. */
  readonly labels: readonly string[];
  /** The kind of labels: days, oldest first; texts of the records; positions among the records. */
  readonly labelled: 'day' | 'text' | 'place';
  readonly lines: readonly Line[];
  /** Undefined for a chart that has no candles. */
  readonly bars?: readonly Bar[];
}
