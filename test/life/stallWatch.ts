// Loaded into a server before its own code: writes a line for each stall of its event loop over 50 ms
// after the start, and whether the process was busy, or waited for a processor.
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

export const BUSY = 'busy';
const EVERY_MS = 10;
const STALL_MS = 50;
const START_MS = 5_000;

function watch(path: string): void {
  let lastMs = performance.now();
  let spent = process.threadCpuUsage();
  setInterval(() => {
    const nowMs = performance.now();
    const lateMs = nowMs - lastMs - EVERY_MS;
    const { system, user } = process.threadCpuUsage(spent);
    lastMs = nowMs;
    spent = process.threadCpuUsage();
    if (lateMs <= STALL_MS || nowMs < START_MS) return;
    const isBusy = (user + system) / 1_000 > STALL_MS;
    appendFileSync(path, `${isBusy ? BUSY : 'waited'}\n`);
  }, EVERY_MS).unref();
}

const { STALLS } = process.env;
if (isMainThread && STALLS !== undefined) watch(STALLS);
