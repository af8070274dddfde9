// Lines of a file that were set aside before DuckDB read the rest, and the lines that its numbers stand
// for.
import type { Reject } from '../../store/work/jobs.ts';

/** Lines that are not records. */
export interface UnreadLines {
  readonly count: number;
  /** The first of them. */
  readonly rejects: readonly Reject[];
}

/**
 * From which of DuckDB's lines on a file has how many lines more; in rising order. DuckDB counts a record
 * as one line, and lines that were set aside not at all.
 */
export type LineSteps = readonly { readonly from: number; readonly more: number }[];

/** The line of the file of a line as DuckDB counts it. */
export function lineInFile(steps: LineSteps | undefined, line: number): number {
  if (steps === undefined) return line;
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle]?.from ?? 0) <= line) low = middle + 1;
    else high = middle;
  }
  return line + (steps[low - 1]?.more ?? 0);
}
