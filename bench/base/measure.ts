// Measures ratios: both sides in one run, interleaved, with the median of pairs. Absolute times depend on the
// machine and its load; only the ratio is comparable.
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface Ratio extends Answers {
  readonly bench: string;
  /** Median of (bare time / our time): 1 is equal speed, more is faster than bare. */
  readonly ratio: number;
  readonly target: string;
  readonly pairs: number;
  readonly oursMs: number;
  readonly bareMs: number;
  readonly note: string;
}

/** Times of the answers in all counted rounds, in milliseconds; undefined if a side cannot measure them. */
interface Answers {
  readonly oursP50?: number | undefined;
  readonly oursP99?: number | undefined;
  /** Processor time per answer of the serving processes and of the client. */
  readonly oursCpuMs?: number | undefined;
  readonly oursClientCpuMs?: number | undefined;
  readonly bareP50?: number | undefined;
  readonly bareP99?: number | undefined;
  readonly bareCpuMs?: number | undefined;
  readonly bareClientCpuMs?: number | undefined;
}

/** Measurement of one round of one side. */
export interface Measurement {
  /** The time used for the ratio. */
  readonly ms: number;
  /** Milliseconds of each answer. */
  readonly times?: readonly number[];
  /** Processor time per answer. */
  readonly cpuMs?: number;
  readonly clientCpuMs?: number;
}

export interface Pair {
  readonly ours: Measurement;
  readonly bare: Measurement;
}

interface Bench {
  readonly name: string;
  readonly target: string;
  readonly pairs: number;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const high = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? high : (high + (sorted[middle - 1] ?? 0)) / 2;
};

export const p99 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0;

type RunSide = (round: number) => Promise<number | Measurement>;

/** Runs both sides alternately `pairs` times; an additional first pair warms up and is not counted. */
export async function measureRatio(bench: Bench, ours: RunSide, bare: RunSide): Promise<Ratio> {
  const pairs: Pair[] = [];
  const runOnce = async (side: RunSide, round: number): Promise<Measurement> => {
    const present = await side(round);
    return typeof present === 'number' ? { ms: present } : present;
  };
  for (let round = 0; round <= bench.pairs; round += 1) {
    const oursFirst = round % 2 === 0;
    const first = await runOnce(oursFirst ? ours : bare, round);
    const second = await runOnce(oursFirst ? bare : ours, round);
    const pair = oursFirst ? { ours: first, bare: second } : { ours: second, bare: first };
    if (round > 0) pairs.push(pair);
  }
  return computeRatio(bench, pairs);
}

export function computeRatio({ name, pairs, target }: Bench, rounds: readonly Pair[]): Ratio {
  const [ours, bare] = [rounds.map((pair) => pair.ours), rounds.map((pair) => pair.bare)];
  const [own, other] = [summarizeAnswers(ours), summarizeAnswers(bare)];
  return {
    bench: name,
    ratio: roundFigure(median(rounds.map((pair) => pair.bare.ms / pair.ours.ms))),
    target,
    pairs,
    oursMs: roundFigure(median(ours.map(({ ms }) => ms))),
    bareMs: roundFigure(median(bare.map(({ ms }) => ms))),
    oursP50: own.p50,
    oursP99: own.p99,
    oursCpuMs: own.cpuMs,
    oursClientCpuMs: own.clientCpuMs,
    bareP50: other.p50,
    bareP99: other.p99,
    bareCpuMs: other.cpuMs,
    bareClientCpuMs: other.clientCpuMs,
    note: '',
  };
}

/** Returns our time divided by theirs, for which less is better. */
export const invertRatio = (ratio: Ratio): Ratio => ({
  ...ratio,
  ratio: roundFigure(1 / ratio.ratio),
});

/** Times of one side; JSON omits undefined members. */
interface SideAnswers {
  readonly p50: number | undefined;
  readonly p99: number | undefined;
  readonly cpuMs: number | undefined;
  readonly clientCpuMs: number | undefined;
}

/** Summarizes the times of all rounds and the mean processor time per answer. */
export function summarizeAnswers(rounds: readonly Measurement[]): SideAnswers {
  const times = rounds.flatMap((round) => round.times ?? []);
  return {
    p50: times.length === 0 ? undefined : roundFigure(median(times)),
    p99: times.length === 0 ? undefined : roundFigure(p99(times)),
    cpuMs: mean(rounds.map(({ cpuMs }) => cpuMs)),
    clientCpuMs: mean(rounds.map(({ clientCpuMs }) => clientCpuMs)),
  };
}

/** Formats a measurement without a second side as a JSON line. */
export const formatLine = (
  bench: string,
  target: string,
  runOnce: Measurement,
  more: Readonly<Record<string, number | string>> = {},
): string => JSON.stringify({ bench, target, ...summarizeAnswers([runOnce]), ...more });

/** Uses the mean, which is finer than the median because the kernel counts in steps of ten milliseconds. */
function mean(values: readonly (number | undefined)[]): number | undefined {
  const present = values.filter((value) => value !== undefined);
  if (present.length === 0) return undefined;
  return roundFigure(present.reduce((sum, value) => sum + value, 0) / present.length);
}

export const roundFigure = (value: number): number => Math.round(value * 1000) / 1000;

export async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Runs one statement in bare DuckDB in a separate process, which reports the times. */
export async function bareDuckDb(sql: string): Promise<Measurement> {
  const script = new URL('./bareDuckdb.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [script, sql]);
  return JSON.parse(stdout) as Measurement;
}

/** Samples the resident bytes of this process and its descendants until `stop`; returns the largest sum. */
export function watchMemory(everyMs = 50): { stop(): Promise<number> } {
  let most = 0;
  let isRunning = true;
  const sampling = (async (): Promise<void> => {
    while (isRunning) {
      most = Math.max(most, await treeBytes());
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  return {
    stop: async () => {
      isRunning = false;
      await sampling;
      return most;
    },
  };
}

const PAGE_BYTES = 4096;

/** Returns the resident bytes of a process, with or without its descendants. */
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
