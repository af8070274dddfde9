// Abstracts timers, so that tests of leases simulate hours quickly.

/** Runs a function once after a delay; the returned function cancels it. */
export type StartTimer = (delayMs: number, run: () => void) => () => void;

export const startTimer: StartTimer = (delayMs, run) => {
  const timer = setTimeout(run, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
};
