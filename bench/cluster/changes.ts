// Windows of pushes as the replicas receive them (store/replica): a replica pauses reads of the pushed datasets
// from the request to pause until it receives the change.
import { loopOf, WAY_MS } from './cluster.ts';
import type { GoOn, Step } from './network.ts';

interface Changes {
  /** Adds a dataset to the next window. */
  pushed(dataset: number): void;
  /** Returns whether the node pauses reads of the dataset. */
  isQuiet(node: number, dataset: number): boolean;
  /** Waits until the change is visible or the wait times out. */
  shown(node: number, dataset: number): Step;
  /** Steps of the current window after its commit. */
  steps(): readonly Step[];
}

/** Maximum wait of a read at its node. */
const SHOWN_MOST_MS = 100;

/** Paused datasets of one node: number of windows and waiting calls. */
type Quiet = Map<number, { windows: number; readonly waiting: GoOn[] }>;

/** @param message loop time of a message and its answer; a message alone takes half */
export function makeChanges(nodes: number, message: number): Changes {
  const quiet = Array.from({ length: nodes }, (): Quiet => new Map());
  let gathered: number[] = [];
  const others = quiet.slice(1).map((_, at) => at + 1);
  const half = { at: loopOf(0), ms: (message / 2) * others.length };
  const quietOf = (node: number): Quiet => quiet[node] ?? new Map();
  const pause = (datasets: ReadonlySet<number>, node: number): void => {
    const own = quietOf(node);
    for (const dataset of datasets) {
      const known = own.get(dataset);
      if (known === undefined) own.set(dataset, { windows: 1, waiting: [] });
      else known.windows += 1;
    }
  };
  const resume = (datasets: ReadonlySet<number>, node: number, nowMs: number): void => {
    const own = quietOf(node);
    for (const dataset of datasets) {
      const known = own.get(dataset);
      if (known === undefined) throw new Error(`dataset ${dataset} is not paused`);
      known.windows -= 1;
      if (known.windows > 0) continue;
      own.delete(dataset);
      for (const goOn of known.waiting) goOn(nowMs);
    }
  };
  const asked = (datasets: ReadonlySet<number>, node: number): readonly Step[] => [
    { waitMs: WAY_MS },
    { at: loopOf(node), ms: message },
    { run: () => pause(datasets, node) },
    { waitMs: WAY_MS },
  ];
  const told = (datasets: ReadonlySet<number>, node: number): readonly Step[] => [
    { waitMs: WAY_MS },
    { at: loopOf(node), ms: message / 2 },
    { run: (nowMs) => resume(datasets, node, nowMs) },
  ];
  return {
    pushed: (dataset) => void gathered.push(dataset),
    isQuiet: (node, dataset) => quietOf(node).has(dataset),
    shown: (node, dataset) => ({
      until: (goOn) => void quietOf(node).get(dataset)?.waiting.push(goOn),
      mostMs: SHOWN_MOST_MS,
    }),
    steps: () => {
      const datasets = new Set(gathered);
      gathered = [];
      if (others.length === 0) return [];
      return [
        half,
        { all: others.map((node) => asked(datasets, node)) },
        // The acknowledgements; then the change and the resume message, sent together, for which nothing waits.
        half,
        half,
        { beside: others.map((node) => told(datasets, node)) },
      ];
    },
  };
}
