// First-in, first-out queue of a station, with its work and waiting times.

export interface StationQueue<Task> {
  /** Returns the service time if the task is served now; undefined if it waits. */
  take(task: Task, ms: number, nowMs: number, counts: boolean): number | undefined;
  /** Ends the service of a task; returns the next task with its service time. */
  free(nowMs: number): { readonly task: Task; readonly ms: number } | undefined;
  readonly sums: () => Sums;
}

interface Sums {
  readonly workMs: number;
  /** Mean over counted tasks that have started. */
  readonly meanWaitMs: number;
}

interface Waiting<Task> {
  readonly task: Task;
  readonly ms: number;
  readonly cameMs: number;
  readonly counts: boolean;
}

/** Number of served entries after which the queue's array is cut. */
const CUT = 1_024;

export function stationQueue<Task>(servers: number): StationQueue<Task> {
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
