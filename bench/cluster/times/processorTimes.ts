// Where the processor time of a server goes: its event loop, which is one thread whatever the machine has,
// its other threads, the processes below it, and its catalog.
import { readdir, readFile } from 'node:fs/promises';
import { treeCpuMs } from '../../http/cpuTime.ts';

/** Milliseconds of processor. */
export interface Spent {
  readonly loop: number;
  /** Other threads of the process: collection of memory, files, the catalog's where it is SQLite. */
  readonly beside: number;
  /** DuckDB's processes. */
  readonly below: number;
  /** PostgreSQL. */
  readonly catalog: number;
}

const NS_OF_MS = 1_000_000;

/** The kernel counts what threads ran in nanoseconds; undefined of one that has ended. */
async function threadMs(pid: number, thread: string): Promise<number> {
  const path = `/proc/${pid}/task/${thread}/schedstat`;
  const stat = await readFile(path, 'utf8').catch(() => '0');
  return Number(stat.split(' ')[0]) / NS_OF_MS;
}

/** So far. @param catalogPid PostgreSQL's first process, where there is one */
async function spentBy(pid: number, catalogPid: number | undefined): Promise<Spent> {
  const threads = await readdir(`/proc/${pid}/task`);
  const all = await Promise.all(threads.map((thread) => threadMs(pid, thread)));
  const own = all.reduce((sum, ms) => sum + ms, 0);
  const loop = await threadMs(pid, String(pid));
  const below = Math.max(0, (await treeCpuMs([pid])) - own);
  const catalog = catalogPid === undefined ? 0 : await treeCpuMs([catalogPid]);
  return { loop, beside: own - loop, below, catalog };
}

/** What `work` takes of it, by what it counts. */
export async function spentOf<Told>(
  pid: number,
  catalogPid: number | undefined,
  work: () => Promise<Told>,
  count: (told: Told) => number,
): Promise<{ readonly told: Told; readonly spent: Spent }> {
  const before = await spentBy(pid, catalogPid);
  const told = await work();
  const after = await spentBy(pid, catalogPid);
  const by = (part: keyof Spent): number =>
    Math.max(0, after[part] - before[part]) / Math.max(1, count(told));
  const spent = { loop: by('loop'), beside: by('beside'), below: by('below') };
  return { told, spent: { ...spent, catalog: by('catalog') } };
}
