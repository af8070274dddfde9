// Lines of a file that were set aside before DuckDB read the rest, and the mapping of DuckDB's line numbers
// to lines of the file.
import type { Reject } from '../../store/work/jobs.ts';

/** Lines that are not records. */
export interface UnreadLines {
  readonly count: number;
  /** The first of them. */
  readonly rejects: readonly Reject[];
}

/**
 * Offsets from DuckDB's line numbers to lines of the file, in rising order. DuckDB counts a record as one
 * line, and does not count lines that were set aside.
 */
export type LineSteps = readonly { readonly from: number; readonly more: number }[];

/** Converts a line number of DuckDB to a line of the file. */
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
