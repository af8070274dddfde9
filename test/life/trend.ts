// Periodic measurements of a long run: as a table, and checked for growth.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { median, p99 } from '../../bench/base/measure.ts';

/** Number of files of a folder, and their bytes. */
export function folderSize(folder: string): { readonly files: number; readonly bytes: number } {
  let [files, bytes] = [0, 0];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    files += 1;
    bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return { files, bytes };
}

export const megabytes = (bytes: number): string => (bytes / 1024 ** 2).toFixed(0);
/** Median and 99th percentile. */
export const both = (times: readonly number[]): string =>
  `${median(times).toFixed(1)} / ${p99(times).toFixed(1)}`;

export type Column<Entry> = readonly [name: string, value: (entry: Entry) => string];

export function markdownOf<Entry>(
  entries: readonly Entry[],
  columns: readonly Column<Entry>[],
): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  const heading = line(columns.map(([name]) => name)) + line(columns.map(() => '---'));
  return heading + entries.map((entry) => line(columns.map(([, value]) => value(entry)))).join('');
}

export interface Bound<Entry> {
  readonly name: string;
  readonly of: (entry: Entry) => number;
  /** Maximum ratio of the last third to the first. */
  readonly most: number;
  /** True for counts, which are the same on every machine: only they may fail. */
  readonly counted: boolean;
}

export interface Verdict {
  readonly lines: readonly string[];
  /** Counts that grew past their bound. */
  readonly failures: readonly string[];
}

/** Compares the medians of the last third of the entries with those of the first. */
export function trendOf<Entry>(
  entries: readonly Entry[],
  bounds: readonly Bound<Entry>[],
): Verdict {
  const third = Math.max(1, Math.floor(entries.length / 3));
  const judged = bounds.map(({ name, of, most, counted }) => {
    const first = median(entries.slice(0, third).map(of));
    const last = median(entries.slice(-third).map(of));
    const ratio = last / first;
    const line = `${name}: last third / first third ${ratio.toFixed(2)}, at most ${most}`;
    return { line, counted, isWithinBound: ratio <= most };
  });
  return {
    lines: judged.map(({ line, isWithinBound }) => (isWithinBound ? line : `${line}: EXCEEDED`)),
    failures: judged
      .filter(({ counted, isWithinBound }) => counted && !isWithinBound)
      .map(({ line }) => line),
  };
}
