// A child process that answers one question at a time: `{ told }`, or `{ fault }` with the reason.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

interface Answer<Told> {
  readonly told?: Told;
  readonly fault?: string;
}

export const forked = (script: string, words: readonly string[] = []): ChildProcess =>
  fork(new URL(script, import.meta.url), words, { serialization: 'advanced' });

/** Its next answer. @throws Error with its fault, or when it ends instead */
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

/** Child's side: answers each question of the parent by `obey`, and ends with the parent. */
export function answerParent<Question>(obey: (question: Question) => Promise<unknown>): void {
  process.on('message', (question: Question) => {
    obey(question).then(
      (told) => process.send?.({ told }),
      (error: unknown) => process.send?.({ fault: String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}

/** Ends it, and waits until it has. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  if (child.connected) child.disconnect();
  await exit;
}
