// Processor time of processes and their descendants, which the kernel counts in steps of ten milliseconds.
import { readdir, readFile } from 'node:fs/promises';

/** Milliseconds per clock tick in /proc. */
const MS_OF_TICK = 10;
/** Fields of `/proc/<pid>/stat` after the name: parent; user, system, and those of exited children. */
const PARENT = 1;
const TIMES = [11, 12, 13, 14] as const;

interface ProcessTimes {
  readonly parent: number;
  readonly ms: number;
}

async function readProcess(pid: string): Promise<ProcessTimes | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  if (stat === '') return undefined;
  // The name may contain spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = TIMES.reduce((sum, place) => sum + Number(fields[place]), 0);
  return { parent: Number(fields[PARENT]), ms: ticks * MS_OF_TICK };
}

/**
 * Returns the processor milliseconds used by the processes and their descendants. Exited processes count for
 * the parent that waited for them.
 */
export async function treeCpuMs(roots: readonly number[]): Promise<number> {
  const all = new Map<number, ProcessTimes>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const process = await readProcess(name);
    if (process !== undefined) all.set(Number(name), process);
  }
  const isBelow = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined; at = all.get(at)?.parent) {
      if (roots.includes(at)) return true;
    }
    return false;
  };
  let ms = 0;
  for (const [pid, { ms: own }] of all) if (isBelow(pid)) ms += own;
  return ms;
}

/**
 * Returns the processor milliseconds of one side. This process counts without its descendants, which are the
 * other side and the client.
 */
export async function measureCpuMs(side: readonly number[]): Promise<number> {
  const { system, user } = process.cpuUsage();
  const ownMs = side.includes(process.pid) ? (system + user) / 1_000 : 0;
  return ownMs + (await treeCpuMs(side.filter((pid) => pid !== process.pid)));
}

/** Returns the parent process; for a PostgreSQL connection, the server. */
export const findParent = async (pid: number): Promise<number> =>
  (await readProcess(String(pid)))?.parent ?? 0;

/** Returns the processor milliseconds of this process since `process.cpuUsage()` returned `before`. */
export function cpuSince(before: NodeJS.CpuUsage): number {
  const { system, user } = process.cpuUsage(before);
  return (system + user) / 1_000;
}
