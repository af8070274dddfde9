// Requests between parent and child process, one at a time. A reply is `{ result }`, or `{ fault }` with the
// reason.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

interface Answer<Told> {
  readonly told?: Told;
  readonly fault?: string;
}

export const forked = (script: string, words: readonly string[] = []): ChildProcess =>
  fork(new URL(script, import.meta.url), words, { serialization: 'advanced' });

/**
 * Sends a request, if any, and returns the next reply.
 * @throws Error with its fault, or if the child exits
 */
export async function answerOf<Told>(
  child: ChildProcess,
  question?: object | string,
): Promise<Told> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const answered = Promise.race([
    once(child, 'message', { signal }),
    once(child, 'exit', { signal }).then(([code]) => [{ fault: `it ended with ${String(code)}` }]),
  ]);
  if (question !== undefined) child.send(question);
  try {
    const [{ fault, told }] = (await answered) as [Answer<Told>];
    if (told === undefined) throw new Error(`${child.spawnargs.at(1)}: ${fault}`);
    return told;
  } finally {
    waiting.abort();
  }
}

/** Child's side: handles each request of the parent, and exits with the parent. */
export function answerParent<Question>(obey: (question: Question) => Promise<unknown>): void {
  process.on('message', (question: Question) => {
    obey(question).then(
      (told) => process.send?.({ told }),
      (error: unknown) => process.send?.({ fault: String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}

/** Ends a child process and waits for its exit. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  if (child.connected) child.disconnect();
  await exit;
}
