// A time limit as a signal, whose reason reports the timeout.
import { SourceFailure } from './source.ts';

export interface Deadline extends Disposable {
  /** Aborts like the given signal, or after the time with a transient SourceFailure. */
  readonly signal: AbortSignal;
}

/** @param what begins the message of the timeout. Dispose the deadline, or its timer runs to its end. */
export function withDeadline(signal: AbortSignal, ms: number, what: string): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new SourceFailure(`${what} took longer than ${ms} ms`, true));
  }, ms);
  // A process without other work does not wait for it.
  timer.unref();
  return {
    signal: AbortSignal.any([signal, controller.signal]),
    [Symbol.dispose]: () => {
      clearTimeout(timer);
    },
  };
}
