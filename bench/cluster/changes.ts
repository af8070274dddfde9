// Windows of pushes, as the other nodes hear of them (store/replica): each is quiet from when it is asked
// to be, until it is told what there is. Until then it hands on reads of what is pushed, and all SQL.
import { loopOf, WAY_MS } from './cluster.ts';
import type { Step } from './network.ts';

interface Changes {
  /** It goes with the next window. */
  pushed(dataset: number): void;
  /** Whether the node is quiet now, of a dataset or of any. */
  isQuiet(node: number, dataset?: number): boolean;
  /** Of the window that goes now, from its commit on. */
  steps(): readonly Step[];
}

/** @param message what one and its answer take of a loop; one alone takes half of that */
export function makeChanges(nodes: number, message: number): Changes {
  const quiet = Array.from({ length: nodes }, () => new Set<ReadonlySet<number>>());
  let gathered: number[] = [];
  const others = Array.from({ length: nodes - 1 }, (_, at) => at + 1);
  const half = { at: loopOf(0), ms: (message / 2) * others.length };
  const asked = (datasets: ReadonlySet<number>, node: number): readonly Step[] => [
    { waitMs: WAY_MS },
    { at: loopOf(node), ms: message },
    { tell: () => void quiet[node]?.add(datasets) },
    { waitMs: WAY_MS },
  ];
  const told = (datasets: ReadonlySet<number>, node: number): readonly Step[] => [
    { waitMs: WAY_MS },
    { at: loopOf(node), ms: message / 2 },
    { tell: () => void quiet[node]?.delete(datasets) },
  ];
  return {
    pushed: (dataset) => void gathered.push(dataset),
    isQuiet: (node, dataset) => {
      const windows = quiet[node];
      if (windows === undefined || windows.size === 0) return false;
      return dataset === undefined || [...windows].some((datasets) => datasets.has(dataset));
    },
    steps: () => {
      const datasets = new Set(gathered);
      gathered = [];
      if (others.length === 0) return [];
      return [
        half,
        { all: others.map((node) => asked(datasets, node)) },
        // Their words; then what was pushed, and that they may go on, which nobody waits for.
        ...[half, half, half],
        { beside: others.map((node) => told(datasets, node)) },
      ];
    },
  };
}
