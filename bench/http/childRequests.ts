// Requests between parent and child process, one at a time. A reply is `{ result }`, or `{ fault }` with the
// reason.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

interface Answer<Result> {
  readonly result?: Result;
  readonly fault?: string;
}

export const forkChild = (script: string, words: readonly string[] = []): ChildProcess =>
  fork(new URL(script, import.meta.url), words, { serialization: 'advanced' });

/**
 * Sends a request, if any, and returns the next reply.
 * @throws Error with its fault, or if the child exits
 */
export async function requestChild<Result>(
  child: ChildProcess,
  request?: object | string,
): Promise<Result> {
  const controller = new AbortController();
  const { signal } = controller;
  const reply = Promise.race([
    once(child, 'message', { signal }),
    once(child, 'exit', { signal }).then(([code]) => [{ fault: `it ended with ${String(code)}` }]),
  ]);
  if (request !== undefined) child.send(request);
  try {
    const [{ fault, result }] = (await reply) as [Answer<Result>];
    if (result === undefined) throw new Error(`${child.spawnargs.at(1)}: ${fault}`);
    return result;
  } finally {
    controller.abort();
  }
}

/** Child's side: handles each request of the parent, and exits with the parent. */
export function serveParent<Request>(handle: (request: Request) => Promise<unknown>): void {
  process.on('message', (request: Request) => {
    handle(request).then(
      (result) => process.send?.({ result }),
      (error: unknown) => process.send?.({ fault: String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}

/** Ends a child process and waits for its exit. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  if (child.connected) child.disconnect();
  await exit;
}
