// Windows of pushes as the replicas receive them (store/replica): a replica pauses reads of the pushed
// datasets from the request to pause until it receives the change.
import { loopOf, WAY_MS } from './cluster.ts';
import type { GoOn, Step } from './network.ts';

interface Changes {
  /** Adds a dataset to the next window. */
  addPush(dataset: number): void;
  /** Returns whether the node pauses reads of the dataset. */
  isPaused(node: number, dataset: number): boolean;
  /** Waits until the change is visible or the wait times out. */
  waitVisible(node: number, dataset: number): Step;
  /** Steps of the current window after its commit. */
  steps(): readonly Step[];
}

/** Maximum wait of a read at its node. */
const VISIBLE_WAIT_MS = 100;

/** Paused datasets of one node: number of windows and waiting calls. */
type PausedDatasets = Map<number, { windows: number; readonly waiting: GoOn[] }>;

/** @param message loop time of a message and its answer; a message alone takes half */
export function makeChanges(nodes: number, message: number): Changes {
  const paused = Array.from({ length: nodes }, (): PausedDatasets => new Map());
  let gathered: number[] = [];
  const others = paused.slice(1).map((_, at) => at + 1);
  const half = { at: loopOf(0), ms: (message / 2) * others.length };
  const pausedAt = (node: number): PausedDatasets => paused[node] ?? new Map();
  const pause = (datasets: ReadonlySet<number>, node: number): void => {
    const own = pausedAt(node);
    for (const dataset of datasets) {
      const entry = own.get(dataset);
      if (entry === undefined) own.set(dataset, { windows: 1, waiting: [] });
      else entry.windows += 1;
    }
  };
  const resume = (datasets: ReadonlySet<number>, node: number, nowMs: number): void => {
    const own = pausedAt(node);
    for (const dataset of datasets) {
      const entry = own.get(dataset);
      if (entry === undefined) throw new Error(`dataset ${dataset} is not paused`);
      entry.windows -= 1;
      if (entry.windows > 0) continue;
      own.delete(dataset);
      for (const goOn of entry.waiting) goOn(nowMs);
    }
  };
  const pauseSteps = (datasets: ReadonlySet<number>, node: number): readonly Step[] => [
    { waitMs: WAY_MS },
    { at: loopOf(node), ms: message },
    { run: () => pause(datasets, node) },
    { waitMs: WAY_MS },
  ];
  const resumeSteps = (datasets: ReadonlySet<number>, node: number): readonly Step[] => [
    { waitMs: WAY_MS },
    { at: loopOf(node), ms: message / 2 },
    { run: (nowMs) => resume(datasets, node, nowMs) },
  ];
  return {
    addPush: (dataset) => void gathered.push(dataset),
    isPaused: (node, dataset) => pausedAt(node).has(dataset),
    waitVisible: (node, dataset) => ({
      until: (goOn) => void pausedAt(node).get(dataset)?.waiting.push(goOn),
      mostMs: VISIBLE_WAIT_MS,
    }),
    steps: () => {
      const datasets = new Set(gathered);
      gathered = [];
      if (others.length === 0) return [];
      return [
        half,
        { all: others.map((node) => pauseSteps(datasets, node)) },
        // The acknowledgements; then the change and the resume message, sent together, for which nothing
        // waits.
        half,
        half,
        { beside: others.map((node) => resumeSteps(datasets, node)) },
      ];
    },
  };
}
