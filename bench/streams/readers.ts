// Parent's side of a process of stream readers.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Starts a process of readers and waits until all are connected. */
export async function startReaders(
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

export interface Lateness {
  /** Delay of messages in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Processor time of the readers. */
  readonly cpuMs: number;
}

/** Sends the expected number of messages to the readers; returns a function that waits for the result. */
export async function expectMessages(
  listeners: ChildProcess,
  messages: number,
): Promise<() => Promise<Lateness>> {
  const acknowledged = once(listeners, 'message');
  listeners.send(messages);
  await acknowledged;
  const arrival = once(listeners, 'message');
  return async () => {
    const [value] = (await arrival) as [Lateness];
    return value;
  };
}
