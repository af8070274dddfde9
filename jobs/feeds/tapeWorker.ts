// Generates a session of the synthetic exchange in a thread of its own, up to each requested instant.
import { parentPort, workerData } from 'node:worker_threads';
import { sampleMarket, type RecordRequest } from '../../market/exchange/sampledMarket.ts';
import { SessionTape } from '../../market/exchange/ticks.ts';

const tape = new SessionTape(sampleMarket(workerData as RecordRequest));
parentPort?.on('message', (untilMs: number) => parentPort?.postMessage(tape.until(untilMs)));
