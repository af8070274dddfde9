// Entry of a worker thread: loads the module of a task and runs it, at a lower priority than the event loop.
import { setPriority } from 'node:os';
import type { ThreadInput } from './workerTask.ts';

const NICENESS = 19;

// Linux applies it to the calling thread alone; elsewhere the whole process would become slower.
if (process.platform === 'linux') setPriority(NICENESS);

export async function runTask({ file, input }: ThreadInput): Promise<unknown> {
  const { run } = (await import(file)) as { readonly run: (input: unknown) => unknown };
  return run(input);
}
