// Generates a session of the synthetic exchange in a thread of its own, up to each requested instant.
import { parentPort, workerData } from 'node:worker_threads';
import { drawnOf, type Wanted } from '../../market/exchange/drawn.ts';
import { SessionTape } from '../../market/exchange/ticks.ts';

const tape = new SessionTape(drawnOf(workerData as Wanted));
parentPort?.on('message', (untilMs: number) => parentPort?.postMessage(tape.until(untilMs)));
