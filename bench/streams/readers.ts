// Readers of streams, as a process of their own that is told what to wait for.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process of many readers, all of them connected. */
export async function readersOf(
  port: number,
  path: string,
  token: string,
  count: number,
): Promise<ChildProcess> {
  const script = new URL('./listeners.ts', import.meta.url).pathname;
  const child = fork(script, [String(port), String(count), path, token]);
  const [first] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
  if (first !== 'ready') throw new Error(`the readers ended: ${String(first)}`);
  return child;
}

export interface Heard {
  /** Of how late messages are, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Processor time of the readers. */
  readonly cpuMs: number;
}

/** Tells the readers what to wait for, and when they know it, how to wait until they have it. */
export async function expecting(
  listeners: ChildProcess,
  messages: number,
): Promise<() => Promise<Heard>> {
  const told = once(listeners, 'message');
  listeners.send(messages);
  await told;
  const heard = once(listeners, 'message');
  return async () => {
    const [value] = (await heard) as [Heard];
    return value;
  };
}
