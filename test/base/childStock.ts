// Query processes that test servers hand on to one another: starting one takes more processor time than
// most tests. A child keeps nothing of a server but what it read of files, as between two datasets.
import type { ChildProcess } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { treeBytes } from '../../bench/base/measure.ts';
import { type ChildProcesses, createProcesses } from '../../store/duckdb/slot.ts';
import { startedBy } from './program.ts';

/** Of each niceness; more that come at once end. */
const KEPT_MAX = 4;

/** One with more resident would be weighed by what another server asked of it. */
const RESIDENT_BYTES_MAX = 256 * 1024 ** 2;

const ownProcesses = createProcesses(pathToFileURL(startedBy('store/duckdb/child.ts')));

const kept = new Map<number, ChildProcess[]>();
const nicenesses = new WeakMap<ChildProcess, number>();

export const stockedProcesses: ChildProcesses = {
  start(niceness) {
    const child = kept.get(niceness)?.pop() ?? ownProcesses.start(niceness);
    child.removeAllListeners('exit');
    nicenesses.set(child, niceness);
    child.ref();
    child.channel?.ref();
    return child;
  },
  async end(child, isIdle) {
    const niceness = nicenesses.get(child) ?? 0;
    const bytes = await treeBytes(child.pid, false);
    const stock = kept.get(niceness) ?? [];
    const ended = child.exitCode !== null || child.signalCode !== null || !child.connected;
    const isFull = stock.length >= KEPT_MAX || bytes > RESIDENT_BYTES_MAX;
    if (!isIdle || ended || isFull) return ownProcesses.end(child, isIdle);
    child.removeAllListeners('message');
    child.removeAllListeners('exit');
    child.once('exit', () => {
      const at = stock.indexOf(child);
      if (at >= 0) stock.splice(at, 1);
    });
    // They end with this process, and do not keep it.
    child.unref();
    child.channel?.unref();
    stock.push(child);
    kept.set(niceness, stock);
  },
};

/** Those that wait for a server. */
export const stockedPids = (): readonly (number | undefined)[] =>
  [...kept.values()].flat().map(({ pid }) => pid);
