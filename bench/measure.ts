// Ratios: both sides in one run, interleaved, the median of pairs. Absolutes are of this machine
// and this minute; only the ratio is a figure.
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface Ratio {
  readonly bench: string;
  /** Median of (bare time / our time): 1 is equal speed, more is faster than bare. */
  readonly ratio: number;
  readonly target: string;
  readonly pairs: number;
  readonly oursMs: number;
  readonly bareMs: number;
  readonly note: string;
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const high = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? high : (high + (sorted[middle - 1] ?? 0)) / 2;
};

export const p99 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0;

/** Runs both sides in turn `pairs` times; the first pair warms up and is not counted. */
export async function ratioOf(
  bench: { readonly name: string; readonly target: string; readonly pairs: number },
  ours: (round: number) => Promise<number>,
  bare: (round: number) => Promise<number>,
): Promise<Ratio> {
  const rounds: { ours: number; bare: number }[] = [];
  for (let round = 0; round <= bench.pairs; round += 1) {
    const oursFirst = round % 2 === 0;
    const first = oursFirst ? await ours(round) : await bare(round);
    const second = oursFirst ? await bare(round) : await ours(round);
    const pair = oursFirst ? { ours: first, bare: second } : { ours: second, bare: first };
    if (round > 0) rounds.push(pair);
  }
  return {
    bench: bench.name,
    ratio: rounded(median(rounds.map((pair) => pair.bare / pair.ours))),
    target: bench.target,
    pairs: bench.pairs,
    oursMs: rounded(median(rounds.map((pair) => pair.ours))),
    bareMs: rounded(median(rounds.map((pair) => pair.bare))),
    note: '',
  };
}

export const rounded = (value: number): number => Math.round(value * 1000) / 1000;

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Runs one statement by bare DuckDB in a process of its own; the milliseconds of the statement. */
export async function bareDuckDb(sql: string): Promise<number> {
  const script = new URL('./bareDuckdb.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [script, sql]);
  return Number(stdout);
}

/** Resident bytes of this process and all below it, sampled until `stop`; the largest sum. */
export function watchMemory(everyMs = 50): { stop(): Promise<number> } {
  let most = 0;
  let going = true;
  const watching = (async (): Promise<void> => {
    while (going) {
      most = Math.max(most, await treeBytes());
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  return {
    stop: async () => {
      going = false;
      await watching;
      return most;
    },
  };
}

const PAGE_BYTES = 4096;

/** Resident bytes of a process, with all below it or alone. */
export async function treeBytes(root = process.pid, below = true): Promise<number> {
  if (!below) return residentBytes(root);
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (stat !== '') parents.set(Number(name), Number(fields[1]));
  }
  const isBelow = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at)) {
      if (at === root) return true;
    }
    return false;
  };
  let bytes = 0;
  for (const pid of parents.keys()) if (isBelow(pid)) bytes += await residentBytes(pid);
  return bytes;
}

async function residentBytes(pid: number): Promise<number> {
  const statm = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '0 0');
  return Number(statm.split(' ')[1]) * PAGE_BYTES;
}
