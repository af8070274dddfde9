// Loaded into a server before its own code: writes down how often its event loop stood for over 50 ms after
// the start, and how often it was busy itself for so long, and did not wait for a processor.
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const EVERY_MS = 10;
const STALL_MS = 50;
const START_MS = 5_000;

function watch(path: string): void {
  const told = { stalls: 0, busy: 0, longestMs: 0 };
  let lastMs = performance.now();
  let spent = process.threadCpuUsage();
  setInterval(() => {
    const nowMs = performance.now();
    const lateMs = nowMs - lastMs - EVERY_MS;
    const { system, user } = process.threadCpuUsage(spent);
    lastMs = nowMs;
    spent = process.threadCpuUsage();
    if (lateMs <= STALL_MS || nowMs < START_MS) return;
    told.stalls += 1;
    if ((user + system) / 1_000 > STALL_MS) told.busy += 1;
    told.longestMs = Math.max(told.longestMs, Math.round(lateMs));
    writeFileSync(path, JSON.stringify(told));
  }, EVERY_MS).unref();
}

const { STALLS } = process.env;
if (isMainThread && STALLS !== undefined) watch(STALLS);
