// Windows of pushes, as the other nodes hear of them (store/replica): each is quiet from when it is asked
// to be, until it is told what there is. Until then reads of what is pushed wait there.
import { loopOf, WAY_MS } from './cluster.ts';
import type { GoOn, Step } from './network.ts';

interface Changes {
  /** It goes with the next window. */
  pushed(dataset: number): void;
  /** Whether the node is quiet now, of a dataset. */
  isQuiet(node: number, dataset: number): boolean;
  /** Until it is not, or it took too long. */
  shown(node: number, dataset: number): Step;
  /** Of the window that goes now, from its commit on. */
  steps(): readonly Step[];
}

/** As long as a read waits at its node. */
const SHOWN_MOST_MS = 100;

/** By dataset that is quiet at one node: of how many windows, and what waits. */
type Quiet = Map<number, { windows: number; readonly waiting: GoOn[] }>;

/** @param message what one and its answer take of a loop; one alone takes half of that */
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
      if (known === undefined) throw new Error(`dataset ${dataset} is not quiet`);
      known.windows -= 1;
      if (known.windows > 0) continue;
      own.delete(dataset);
      for (const goOn of known.waiting) goOn(nowMs);
    }
  };
  const asked = (datasets: ReadonlySet<number>, node: number): readonly Step[] => [
    { waitMs: WAY_MS },
    { at: loopOf(node), ms: message },
    { tell: () => pause(datasets, node) },
    { waitMs: WAY_MS },
  ];
  const told = (datasets: ReadonlySet<number>, node: number): readonly Step[] => [
    { waitMs: WAY_MS },
    { at: loopOf(node), ms: message / 2 },
    { tell: (nowMs) => resume(datasets, node, nowMs) },
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
        // Their words; then what was pushed and that they may go on, at once, which nobody waits for.
        half,
        half,
        { beside: others.map((node) => told(datasets, node)) },
      ];
    },
  };
}
