// Splits the processor time of a server: its event loop, which is one thread on any machine, its other
// threads, its child processes, and its catalog.
import { readdir, readFile } from 'node:fs/promises';
import { treeCpuMs } from '../../http/cpuTime.ts';

/** Processor time in milliseconds. */
export interface ProcessorTimes {
  readonly loop: number;
  /** Other threads of the process: garbage collection, files, and the catalog if it is SQLite. */
  readonly beside: number;
  /** DuckDB's processes. */
  readonly below: number;
  /** PostgreSQL. */
  readonly catalog: number;
}

const NS_OF_MS = 1_000_000;

/** Returns the run time of a thread, which the kernel counts in nanoseconds; 0 if it has ended. */
async function threadMs(pid: number, thread: string): Promise<number> {
  const path = `/proc/${pid}/task/${thread}/schedstat`;
  const stat = await readFile(path, 'utf8').catch(() => '0');
  return Number(stat.split(' ')[0]) / NS_OF_MS;
}

/** Returns the processor time so far. @param catalogPid PostgreSQL's parent process, if any */
async function spentBy(pid: number, catalogPid: number | undefined): Promise<ProcessorTimes> {
  const threads = await readdir(`/proc/${pid}/task`);
  const all = await Promise.all(threads.map((thread) => threadMs(pid, thread)));
  const own = all.reduce((sum, ms) => sum + ms, 0);
  const loop = await threadMs(pid, String(pid));
  const below = Math.max(0, (await treeCpuMs([pid])) - own);
  const catalog = catalogPid === undefined ? 0 : await treeCpuMs([catalogPid]);
  return { loop, beside: own - loop, below, catalog };
}

/** Measures the processor time of `work`, divided by its count. */
export async function measureSpent<Result>(
  pid: number,
  catalogPid: number | undefined,
  work: () => Promise<Result>,
  count: (result: Result) => number,
): Promise<{ readonly result: Result; readonly spent: ProcessorTimes }> {
  const before = await spentBy(pid, catalogPid);
  const result = await work();
  const after = await spentBy(pid, catalogPid);
  const by = (part: keyof ProcessorTimes): number =>
    Math.max(0, after[part] - before[part]) / Math.max(1, count(result));
  const spent = { loop: by('loop'), beside: by('beside'), below: by('below') };
  return { result, spent: { ...spent, catalog: by('catalog') } };
}
