// Simulates the cluster as built: each node answers reads and SQL from its replica. The first node writes, pauses
// reads at the others before a push becomes visible, leases them quota in blocks, and receives a report of each
// call that they answered. Reads of a changing dataset, or without quota, wait at their node.
import type { Seeded } from '../../test/soak/crash/rounds/seeded.ts';
import { WATCHED_MAX } from '../../store/replica/following.ts';
import { makeChanges } from './changes.ts';
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
import { endsOf, heldShares, type Kind, mixOf, partOf, zipfShares } from './demand.ts';
import type { Elsewhere } from './times/elsewhere.ts';
import { type LeasedQuotas, leasedQuotas, type Question } from './leasedQuotas.ts';
import type { Network, Regular, Step } from './network.ts';
import type { ServiceTimes } from './times/serviceTimes.ts';

const NAMES: Names = {
  loop: (node) => (node === 0 ? 'loop of the serving node' : 'loops of the other nodes'),
  duckdb: () => 'DuckDB of each node',
};

/** Messages per call. */
const NEEDS: Readonly<Record<Kind, number>> = { hot: 30, cold: 30, sql: 100, push: 1 };

/** From this number of nodes, the balancer sends the serving node only forwarded calls. */
const BESIDE_WRITES = 8;
/** Report interval of delivered calls, as in store/ledger/leases. */
const REPORT_MS = 5;

interface Counts {
  all: number;
  /** Calls answered by the replica; */
  own: number;
  /** of them, calls that waited for a change to become visible, */
  waitedQuiet: number;
  /** or for quota. */
  waitedQuota: number;
  /** Calls forwarded because the node does not follow the dataset. */
  untold: number;
  /** Calls forwarded because the dataset was changing for too long. */
  quiet: number;
  /** Calls forwarded because the node got no quota in time. */
  quota: number;
}

export interface Answering {
  readonly network: Network;
  readonly quotas: LeasedQuotas;
  /** Counts of reads and SQL so far, and of those that nodes forwarded. */
  readonly counts: Readonly<Counts>;
}

export function answering(
  times: ServiceTimes,
  elsewhere: Elsewhere,
  shape: Shape,
  seed: number,
): Answering {
  const { callsPerSecond, demand, nodes } = shape;
  const draws = drawn.get(demand) ?? drawsOf(demand);
  drawn.set(demand, draws);
  const drawKind = draws.kinds.get(nodes) ?? kindOf(mixOf(demand, nodes));
  draws.kinds.set(nodes, drawKind);
  const least = nodes < BESIDE_WRITES ? 0 : 1;
  const quotas = leasedQuotas({
    nodes,
    seed,
    need: NEEDS.hot,
    rates: draws.accounts.map((share) => (share * callsPerSecond) / (nodes - least) / 1e3),
  });
  const changes = makeChanges(nodes, times.message);
  const counts = { all: 0, own: 0, waitedQuiet: 0, waitedQuota: 0, untold: 0, quiet: 0, quota: 0 };
  const delivered = Array.from({ length: nodes }, () => 0);
  const readOf = readsElsewhere({ times, elsewhere, changes, quotas, counts, delivered });
  const callOf = (random: Seeded): ReturnType<Network['callOf']> => {
    const kind = drawKind(random);
    const node = random.between(least, nodes - 1);
    const [dataset, account] = [draws.dataset(random), draws.account(random)];
    const here = (added: number): readonly Step[] =>
      answered(times, kind, 0, added, random, random.between(0, nodes - 1));
    if (kind === 'push') {
      changes.pushed(dataset);
      const steps = node === 0 ? here(0) : handedOn(times, node, here(times.hop.added));
      return { kind, steps };
    }
    counts.all += 1;
    if (node === 0) return { kind, steps: here(0) };
    const isTold = random.chance(draws.told[dataset] ?? 0);
    const steps = [readOf({ account, dataset, here, isTold, kind, node }, random)];
    return { kind, steps };
  };
  const network = {
    stations: stationsOf(shape, NAMES),
    groups: [pushesOf(times, nodes, changes.steps)],
    regular: [charges(times, shape), ...reportsOf(delivered, elsewhere.report)],
    callsPerSecond,
    callOf,
  };
  return { network, quotas, counts };
}

interface ReadsParts {
  readonly times: ServiceTimes;
  readonly elsewhere: Elsewhere;
  readonly changes: ReturnType<typeof makeChanges>;
  readonly quotas: LeasedQuotas;
  readonly counts: Counts;
  /** Delivered calls by node since its last report. */
  readonly delivered: number[];
}

interface Read {
  readonly account: number;
  readonly dataset: number;
  /** Steps at the serving node if the call is forwarded. */
  readonly here: (added: number) => readonly Step[];
  readonly isTold: boolean;
  readonly kind: Kind;
  readonly node: number;
}

/** Reads and SQL at a replica: waits for missing data or quota, then forwards. */
function readsElsewhere(parts: ReadsParts): (read: Read, random: Seeded) => Step {
  const { changes, counts, delivered, elsewhere, quotas, times } = parts;
  // The replica does the same work plus remote execution; a smaller value is a measurement error.
  const more = Math.max(0, elsewhere.own.loop - elsewhere.serving.loop);
  return (read, random) => {
    const { account, dataset, here, isTold, kind, node } = read;
    const spending = { account, node, need: NEEDS[kind] };
    const run = (): void => void (delivered[node] = (delivered[node] ?? 0) + 1);
    const own = (): readonly Step[] => {
      counts.own += 1;
      return [...answered(times, kind, node, more, random), { run }];
    };
    const away = (why: 'quiet' | 'quota' | 'untold'): readonly Step[] => {
      counts[why] += 1;
      // The attempt costs at most as much as an answer from memory.
      const tried = { at: loopOf(node), ms: elsewhere.own.loop };
      return [tried, ...handedOn(times, node, here(times.hop.added))];
    };
    const paid = (nowMs: number, waits: boolean): readonly Step[] => {
      const { isComing, isHere, question } = quotas.spend(spending, nowMs);
      const asked = question === undefined ? [] : [asking(times, node, question, nowMs)];
      if (isHere) return [...asked, ...own()];
      if (!isComing || !waits) return [...asked, ...away('quota')];
      counts.waitedQuota += 1;
      return [...asked, quotas.coming(spending), { decide: (ms) => paid(ms, false) }];
    };
    const shown = (nowMs: number): readonly Step[] =>
      changes.isQuiet(node, dataset) ? away('quiet') : paid(nowMs, true);
    const tried = (nowMs: number): readonly Step[] => {
      if (!isTold) return away('untold');
      // A query reads one dataset, as reads do, so that changes of others do not matter.
      if (!changes.isQuiet(node, dataset)) return paid(nowMs, true);
      counts.waitedQuiet += 1;
      return [changes.shown(node, dataset), { decide: shown }];
    };
    return { decide: tried };
  };
}

interface Draws {
  /** Share of calls by account. */
  readonly accounts: readonly number[];
  readonly account: (random: Seeded) => number;
  /** Samplers by number of nodes. */
  readonly kinds: Map<number, (random: Seeded) => Kind>;
  readonly dataset: (random: Seeded) => number;
  /** Probability that a node follows each dataset. */
  readonly told: readonly number[];
}

/** Cached, because they take longer to compute than a short run. */
const drawn = new WeakMap<Shape['demand'], Draws>();

function drawsOf(demand: Shape['demand']): Draws {
  const [accounts, datasets] = [zipfShares(demand.accounts), zipfShares(demand.datasets)];
  const [accountEnds, datasetEnds] = [endsOf(accounts), endsOf(datasets)];
  return {
    accounts,
    kinds: new Map(),
    account: (random) => partOf(accountEnds, random.next()),
    dataset: (random) => partOf(datasetEnds, random.next()),
    told: heldShares(datasets, WATCHED_MAX),
  };
}

/** Steps of a quota request and its answer, beside the call. It costs a message unless one is sent then anyway. */
function asking(
  { message, question }: ServiceTimes,
  node: number,
  { received, atMs, reached, isBeside }: Question,
  nowMs: number,
): Step {
  const sent = isBeside ? 0 : message;
  const steps: readonly Step[] = [
    { waitMs: atMs - nowMs },
    { at: loopOf(node), ms: (sent + question.asked) / 2 },
    { waitMs: WAY_MS },
    { at: loopOf(0), ms: sent + question.answered },
    { run: reached },
    { waitMs: WAY_MS },
    { at: loopOf(node), ms: (sent + question.asked) / 2 },
    { run: received },
  ];
  return { beside: [steps] };
}

/** Reports of the calls that each node answered. @param delivered by node; the first node sends no reports */
const reportsOf = (delivered: number[], report: number): readonly Regular[] =>
  delivered.slice(1).map((_, at) => ({
    everyMs: REPORT_MS,
    steps: () => {
      const calls = delivered[at + 1] ?? 0;
      delivered[at + 1] = 0;
      return calls === 0 ? [] : [{ waitMs: WAY_MS }, { at: loopOf(0), ms: report * calls }];
    },
  }));
