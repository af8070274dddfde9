// Query processes that test servers reuse: starting one takes more processor time than
// most tests. A child keeps only its cached file reads of a server, as between two datasets.
import type { ChildProcess } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { treeBytes } from '../../bench/base/measure.ts';
import { type ChildProcesses, createProcesses } from '../../store/duckdb/slot.ts';
import { startedBy } from './program.ts';

/** Processes of each niceness; more of them are ended. */
const KEPT_MAX = 4;

/** A process with more resident memory would distort memory measurements of the next server. */
const RESIDENT_BYTES_MAX = 256 * 1024 ** 2;

const ownProcesses = createProcesses(pathToFileURL(startedBy('store/duckdb/child.ts')));

const idleProcesses = new Map<number, ChildProcess[]>();
const nicenesses = new WeakMap<ChildProcess, number>();

export const stockedProcesses: ChildProcesses = {
  start(niceness) {
    const child = idleProcesses.get(niceness)?.pop() ?? ownProcesses.start(niceness);
    child.removeAllListeners('exit');
    nicenesses.set(child, niceness);
    child.ref();
    child.channel?.ref();
    return child;
  },
  async end(child, isIdle) {
    const niceness = nicenesses.get(child) ?? 0;
    const bytes = await treeBytes(child.pid, false);
    const stock = idleProcesses.get(niceness) ?? [];
    const ended = child.exitCode !== null || child.signalCode !== null || !child.connected;
    const isFull = stock.length >= KEPT_MAX || bytes > RESIDENT_BYTES_MAX;
    if (!isIdle || ended || isFull) return ownProcesses.end(child, isIdle);
    child.removeAllListeners('message');
    child.removeAllListeners('exit');
    child.once('exit', () => {
      const at = stock.indexOf(child);
      if (at >= 0) stock.splice(at, 1);
    });
    // They end with this process, and do not keep it alive.
    child.unref();
    child.channel?.unref();
    stock.push(child);
    idleProcesses.set(niceness, stock);
  },
};

/** The idle processes. */
export const stockedPids = (): readonly (number | undefined)[] =>
  [...idleProcesses.values()].flat().map(({ pid }) => pid);
