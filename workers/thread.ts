// Entry of a worker thread: loads the module of a task and runs it, at a lower priority than the event loop.
import { setPriority } from 'node:os';
import { Failure } from '../store/base/failure.ts';
import type { ThreadInput, ThreadOutput } from './workerTask.ts';

const NICENESS = 19;

// Linux applies it to the calling thread alone; elsewhere the whole process would become slower.
if (process.platform === 'linux') setPriority(NICENESS);

/** Failures are returned: an error that is sent to another thread loses its class. */
export async function runTask({ file, input }: ThreadInput): Promise<ThreadOutput> {
  const { run } = (await import(file)) as { readonly run: (input: unknown) => unknown };
  try {
    return { output: await run(input) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { detail, type, waitMs } = error;
    return { failure: { type, detail, waitMs } };
  }
}
