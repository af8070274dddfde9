// Simulates `TAPEDECK_NODE_READS=off`: the first node answers all calls; the others forward to it and execute
// statements for it.
import {
  answered,
  charges,
  handedOn,
  kindOf,
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

export function handingOn(times: ServiceTimes, shape: Shape): Network {
  const { callsPerSecond, demand, nodes } = shape;
  const drawKind = kindOf(demand.mix);
  return {
    stations: stationsOf(shape, NAMES),
    groups: [pushesOf(times, nodes, () => [])],
    regular: [charges(times, shape)],
    callsPerSecond,
    callOf: (random) => {
      const kind = drawKind(random);
      const node = random.between(0, nodes - 1);
      // All nodes are equally busy, so that the executing node is random.
      const lender = random.between(0, nodes - 1);
      if (node === 0) return { kind, steps: answered(times, kind, 0, 0, random, lender) };
      const steps = answered(times, kind, 0, times.hop.added, random, lender);
      return { kind, steps: handedOn(times, node, steps) };
    },
  };
}
