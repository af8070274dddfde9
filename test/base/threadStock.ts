// Threads of catalogs that test servers hand on to one another: starting one takes 70 ms of processor time,
// half of what a server takes.
import type { Worker } from 'node:worker_threads';
import { dedicatedThreads, type ThreadPool } from '../../store/sqlite/writer.ts';

/** More that come at once end. */
const KEPT_MAX = 4;

const kept: Worker[] = [];

export const stockedThreads: ThreadPool = {
  take: () => kept.pop() ?? dedicatedThreads.take(),
  release: async (thread) => {
    if (kept.length >= KEPT_MAX) return dedicatedThreads.release(thread);
    // It does not keep this process, and ends with it.
    thread.unref();
    kept.push(thread);
    return undefined;
  },
};
