// Simulates `TAPEDECK_NODE_READS=off`: the first node answers all calls; the others forward to it and execute
// statements for it.
import {
  answerSteps,
  charges,
  forwardSteps,
  kindSampler,
  type Names,
  pushesOf,
  type Shape,
  stationsOf,
} from './cluster.ts';
import type { Network } from './network.ts';
import type { ServiceTimes } from './times/serviceTimes.ts';

const NAMES: Names = {
  loop: (node) => (node === 0 ? 'loop of the serving node' : 'loops of fronts'),
  duckdb: () => 'DuckDB of all nodes',
};

export function forwardAll(times: ServiceTimes, shape: Shape): Network {
  const { callsPerSecond, demand, nodes } = shape;
  const drawKind = kindSampler(demand.mix);
  return {
    stations: stationsOf(shape, NAMES),
    groups: [pushesOf(times, nodes, () => [])],
    regular: [charges(times, shape)],
    callsPerSecond,
    nextCall: (random) => {
      const kind = drawKind(random);
      const node = random.between(0, nodes - 1);
      // All nodes are equally busy, so that the executing node is random.
      const executor = random.between(0, nodes - 1);
      if (node === 0) return { kind, steps: answerSteps(times, kind, 0, 0, random, executor) };
      const steps = answerSteps(times, kind, 0, times.hop.added, random, executor);
      return { kind, steps: forwardSteps(times, node, steps) };
    },
  };
}
