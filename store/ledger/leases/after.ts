// Timers as an argument: tests of leases play hours in a moment.

/** Runs once after a delay; what is returned puts it off for ever. */
export type After = (delayMs: number, run: () => void) => () => void;

export const realAfter: After = (delayMs, run) => {
  const timer = setTimeout(run, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
};
