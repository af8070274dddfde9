// Catalog threads that test servers reuse: starting one takes 70 ms of processor time,
// half of that of a server.
import type { Worker } from 'node:worker_threads';
import { dedicatedThreads, type ThreadPool } from '../../store/sqlite/writer.ts';

/** More idle threads are ended. */
const KEPT_MAX = 4;

const idleThreads: Worker[] = [];

export const stockedThreads: ThreadPool = {
  take: () => idleThreads.pop() ?? dedicatedThreads.take(),
  release: async (thread) => {
    if (idleThreads.length >= KEPT_MAX) return dedicatedThreads.release(thread);
    // It does not keep this process alive, and ends with it.
    thread.unref();
    idleThreads.push(thread);
    return undefined;
  },
};
