// A time limit that says, as the reason of a signal, that it was one.
import { SourceFailure } from './source.ts';

export interface Deadline extends Disposable {
  /** Stops as the given one does, or after the time with a SourceFailure that is transient. */
  readonly signal: AbortSignal;
}

/** `what` took too long: begins the sentence. Dispose it, or its timer lives until it is over. */
export function withDeadline(signal: AbortSignal, ms: number, what: string): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new SourceFailure(`${what} took longer than ${ms} ms`, true));
  }, ms);
  // A process that has nothing else to do does not wait for it.
  timer.unref();
  return {
    signal: AbortSignal.any([signal, controller.signal]),
    [Symbol.dispose]: () => {
      clearTimeout(timer);
    },
  };
}
