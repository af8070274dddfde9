// The next design, which is not built: each node answers reads and SQL by itself. The first one still
// writes, and tells each of the others before it acknowledges; quota is leased to nodes in blocks.
import type { Seeded } from '../../test/crash/rounds/seeded.ts';
import type { Policy } from './blocks.ts';
import {
  answered,
  charges,
  handedOn,
  kindOf,
  loopOf,
  type Names,
  pushesOf,
  type Shape,
  stationsOf,
  WAY_MS,
} from './cluster.ts';
import { endsOf, type Kind, mixOf, partOf, zipfShares } from './demand.ts';
import { type LeasedQuotas, leasedQuotas } from './leasedQuotas.ts';
import type { Network, Step } from './network.ts';
import type { ServiceTimes } from './serviceTimes.ts';

const NAMES: Names = {
  loop: (node) => (node === 0 ? 'loop of the writing node' : 'loops of the other nodes'),
  duckdb: () => 'DuckDB of each node',
};

const POLICY: Omit<Policy, 'nodes'> = {
  blockMost: 100_000,
  leaseMs: 5_000,
  marginMs: 100,
};

/** Messages of a call. */
const NEEDS: Readonly<Record<Kind, number>> = { hot: 30, cold: 30, sql: 100, push: 1 };

/** From so many nodes on the balancer leaves the one that writes to its writes. */
const BESIDE_WRITES = 8;

export interface OwnMemory {
  readonly network: Network;
  readonly quotas: LeasedQuotas;
}

export function ownMemory(times: ServiceTimes, shape: Shape, seed: number): OwnMemory {
  const { callsPerSecond, demand, nodes } = shape;
  const drawKind = kindOf(mixOf(demand, nodes));
  const shares = zipfShares(demand.accounts);
  const ends = endsOf(shares);
  const quotas = leasedQuotas({
    ...{ policy: { ...POLICY, nodes }, seed, need: NEEDS.hot },
    rates: shares.map((share) => (share * callsPerSecond) / nodes / 1_000),
  });
  const others = Array.from({ length: nodes - 1 }, (_, at) => told(times, at + 1));
  const spread: Step[] = [{ at: loopOf(0), ms: times.message * (nodes - 1) }, { all: others }];
  const callOf = (random: Seeded, nowMs: number): ReturnType<Network['callOf']> => {
    const kind = drawKind(random);
    const node = random.between(nodes < BESIDE_WRITES ? 0 : 1, nodes - 1);
    const account = partOf(ends, random.next());
    const asks = quotas.spend({ account, node, need: NEEDS[kind] }, nowMs);
    const quota = asks && node > 0 ? askFirst(times, node) : [];
    const writes = kind === 'push' ? 0 : node;
    const more = writes === node ? 0 : times.hop.added;
    const steps = answered(times, kind, writes, more, random);
    const whole = writes === node ? steps : handedOn(times, node, steps);
    return { kind, steps: [...quota, ...whole] };
  };
  const network = {
    stations: stationsOf(shape, NAMES, nodes),
    groups: [pushesOf(times, nodes, nodes === 1 ? [] : spread)],
    regular: charges(times, shape, nodes),
    ...{ callsPerSecond, callOf },
  };
  return { network, quotas };
}

/** A node hears of a change, and says so. */
const told = ({ message: ms }: ServiceTimes, node: number): readonly Step[] => [
  { waitMs: WAY_MS },
  { at: loopOf(node), ms },
  { waitMs: WAY_MS },
];

const askFirst = ({ message: ms }: ServiceTimes, node: number): readonly Step[] => [
  { at: loopOf(node), ms },
  { waitMs: WAY_MS },
  { at: loopOf(0), ms },
  { waitMs: WAY_MS },
];
