// Generates the records of inputs and writes each input to a file, in a thread of its own.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { recordLines } from '../../market/exchange/records/records.ts';
import type { ExchangeAnswer, ExchangeTask } from './exchangeFile.ts';

/** Characters per write. */
const CHUNK = 1_000_000;

function write({ path, request }: ExchangeTask): ExchangeAnswer {
  const file = openSync(path, 'wx', 0o600);
  let [chunk, lines, bytes] = ['', 0, 0];
  const flush = (): void => {
    bytes += writeSync(file, chunk);
    chunk = '';
  };
  try {
    for (const line of recordLines(request)) {
      chunk += line;
      lines += 1;
      if (chunk.length > CHUNK) flush();
    }
    flush();
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return { records: lines - 1, bytes };
}

parentPort?.on('message', (task: ExchangeTask) => parentPort?.postMessage(write(task)));
