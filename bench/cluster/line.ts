// Who waits at a station, in the order of arrival, and what it has had to do.

export interface Line<Task> {
  /** Undefined: it waits. Otherwise how long it is served for, from now on. */
  take(task: Task, ms: number, nowMs: number, counts: boolean): number | undefined;
  /** One is served; who is next, and for how long. */
  free(nowMs: number): { readonly task: Task; readonly ms: number } | undefined;
  readonly sums: () => Sums;
}

interface Sums {
  readonly workMs: number;
  /** Of those that were counted and have begun. */
  readonly meanWaitMs: number;
}

interface Waiting<Task> {
  readonly task: Task;
  readonly ms: number;
  readonly cameMs: number;
  readonly counts: boolean;
}

/** So many served ones stay at the front of a queue before they are cut off it. */
const CUT = 1_024;

export function lineOf<Task>(servers: number): Line<Task> {
  let queue: Waiting<Task>[] = [];
  let first = 0;
  let [busy, workMs, began, waitedMs] = [0, 0, 0, 0];
  return {
    take: (task, ms, nowMs, counts) => {
      if (counts) workMs += ms;
      if (busy === servers) {
        queue.push({ task, ms, cameMs: nowMs, counts });
        return undefined;
      }
      busy += 1;
      if (counts) began += 1;
      return ms;
    },
    free: (nowMs) => {
      const next = queue[first];
      if (next === undefined) {
        busy -= 1;
        return undefined;
      }
      first += 1;
      if (first === CUT) {
        queue = queue.slice(first);
        first = 0;
      }
      if (next.counts) {
        began += 1;
        waitedMs += nowMs - next.cameMs;
      }
      return next;
    },
    sums: () => ({ workMs, meanWaitMs: began === 0 ? 0 : waitedMs / began }),
  };
}
