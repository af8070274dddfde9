// Simulates the cluster as built: each node answers reads and SQL from its replica. The first node writes,
// pauses reads at the others before a push becomes visible, leases them quota in blocks, and receives a
// report of each call that they answered. Reads of a changing dataset, or without quota, wait at their node.
import type { Seeded } from '../../test/soak/crash/rounds/seeded.ts';
import { WATCHED_MAX } from '../../store/replica/replicaState.ts';
import { makeChanges } from './changes.ts';
import {
  answerSteps,
  charges,
  forwardSteps,
  kindSampler,
  loopOf,
  type Names,
  pushesOf,
  type Shape,
  stationsOf,
  WAY_MS,
} from './cluster.ts';
import { cumulate, cachedShares, type Kind, mixOf, findPart, zipfShares } from './demand.ts';
import type { ReplicaTimes } from './times/replicaTimes.ts';
import { type LeasedQuotas, leasedQuotas, type QuotaRequest } from './leasedQuotas.ts';
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
  waitedPause: number;
  /** or for quota. */
  waitedQuota: number;
  /** Calls forwarded because the node does not follow the dataset. */
  unfollowed: number;
  /** Calls forwarded because the dataset was changing for too long. */
  paused: number;
  /** Calls forwarded because the node got no quota in time. */
  quota: number;
}

export interface ReplicaReads {
  readonly network: Network;
  readonly quotas: LeasedQuotas;
  /** Counts of reads and SQL so far, and of those that nodes forwarded. */
  readonly counts: Readonly<Counts>;
}

export function replicaReads(
  times: ServiceTimes,
  replica: ReplicaTimes,
  shape: Shape,
  seed: number,
): ReplicaReads {
  const { callsPerSecond, demand, nodes } = shape;
  const draws = drawCache.get(demand) ?? buildDraws(demand);
  drawCache.set(demand, draws);
  const drawKind = draws.kinds.get(nodes) ?? kindSampler(mixOf(demand, nodes));
  draws.kinds.set(nodes, drawKind);
  const least = nodes < BESIDE_WRITES ? 0 : 1;
  const quotas = leasedQuotas({
    nodes,
    seed,
    need: NEEDS.hot,
    rates: draws.accounts.map((share) => (share * callsPerSecond) / (nodes - least) / 1e3),
  });
  const changes = makeChanges(nodes, times.message);
  const counts = {
    all: 0,
    own: 0,
    waitedPause: 0,
    waitedQuota: 0,
    unfollowed: 0,
    paused: 0,
    quota: 0,
  };
  const delivered = Array.from({ length: nodes }, () => 0);
  const replicaRead = buildReplicaRead({ times, replica, changes, quotas, counts, delivered });
  const nextCall = (random: Seeded): ReturnType<Network['nextCall']> => {
    const kind = drawKind(random);
    const node = random.between(least, nodes - 1);
    const [dataset, account] = [draws.dataset(random), draws.account(random)];
    const here = (added: number): readonly Step[] =>
      answerSteps(times, kind, 0, added, random, random.between(0, nodes - 1));
    if (kind === 'push') {
      changes.addPush(dataset);
      const steps = node === 0 ? here(0) : forwardSteps(times, node, here(times.hop.added));
      return { kind, steps };
    }
    counts.all += 1;
    if (node === 0) return { kind, steps: here(0) };
    const isFollowed = random.chance(draws.followed[dataset] ?? 0);
    const steps = [replicaRead({ account, dataset, here, isFollowed, kind, node }, random)];
    return { kind, steps };
  };
  const network = {
    stations: stationsOf(shape, NAMES),
    groups: [pushesOf(times, nodes, changes.steps)],
    regular: [charges(times, shape), ...reports(delivered, replica.report)],
    callsPerSecond,
    nextCall,
  };
  return { network, quotas, counts };
}

interface ReadsParts {
  readonly times: ServiceTimes;
  readonly replica: ReplicaTimes;
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
  readonly isFollowed: boolean;
  readonly kind: Kind;
  readonly node: number;
}

/** Reads and SQL at a replica: waits for missing data or quota, then forwards. */
function buildReplicaRead(parts: ReadsParts): (read: Read, random: Seeded) => Step {
  const { changes, counts, delivered, replica, quotas, times } = parts;
  // The replica does the same work plus remote execution; a smaller value is a measurement error.
  const more = Math.max(0, replica.own.loop - replica.serving.loop);
  return (read, random) => {
    const { account, dataset, here, isFollowed, kind, node } = read;
    const spendRequest = { account, node, need: NEEDS[kind] };
    const run = (): void => void (delivered[node] = (delivered[node] ?? 0) + 1);
    const own = (): readonly Step[] => {
      counts.own += 1;
      return [...answerSteps(times, kind, node, more, random), { run }];
    };
    const forward = (reason: 'paused' | 'quota' | 'unfollowed'): readonly Step[] => {
      counts[reason] += 1;
      // The attempt costs at most as much as an answer from memory.
      const attempt = { at: loopOf(node), ms: replica.own.loop };
      return [attempt, ...forwardSteps(times, node, here(times.hop.added))];
    };
    const charge = (nowMs: number, waits: boolean): readonly Step[] => {
      const { isPending, isEnough, quotaRequest } = quotas.spend(spendRequest, nowMs);
      const requests =
        quotaRequest === undefined ? [] : [quotaRequestSteps(times, node, quotaRequest, nowMs)];
      if (isEnough) return [...requests, ...own()];
      if (!isPending || !waits) return [...requests, ...forward('quota')];
      counts.waitedQuota += 1;
      return [
        ...requests,
        quotas.waitForQuota(spendRequest),
        { decide: (ms) => charge(ms, false) },
      ];
    };
    const afterWait = (nowMs: number): readonly Step[] =>
      changes.isPaused(node, dataset) ? forward('paused') : charge(nowMs, true);
    const attempt = (nowMs: number): readonly Step[] => {
      if (!isFollowed) return forward('unfollowed');
      // A query reads one dataset, as reads do, so that changes of others do not matter.
      if (!changes.isPaused(node, dataset)) return charge(nowMs, true);
      counts.waitedPause += 1;
      return [changes.waitVisible(node, dataset), { decide: afterWait }];
    };
    return { decide: attempt };
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
  readonly followed: readonly number[];
}

/** Cached, because they take longer to compute than a short run. */
const drawCache = new WeakMap<Shape['demand'], Draws>();

function buildDraws(demand: Shape['demand']): Draws {
  const [accounts, datasets] = [zipfShares(demand.accounts), zipfShares(demand.datasets)];
  const [accountEnds, datasetEnds] = [cumulate(accounts), cumulate(datasets)];
  return {
    accounts,
    kinds: new Map(),
    account: (random) => findPart(accountEnds, random.next()),
    dataset: (random) => findPart(datasetEnds, random.next()),
    followed: cachedShares(datasets, WATCHED_MAX),
  };
}

/**
 * Steps of a quota request and its answer, beside the call. It costs a message unless one is sent then
 * anyway.
 */
function quotaRequestSteps(
  { message, quotaRequest }: ServiceTimes,
  node: number,
  { received, atMs, reached, isBeside }: QuotaRequest,
  nowMs: number,
): Step {
  const sent = isBeside ? 0 : message;
  const steps: readonly Step[] = [
    { waitMs: atMs - nowMs },
    { at: loopOf(node), ms: (sent + quotaRequest.senderMs) / 2 },
    { waitMs: WAY_MS },
    { at: loopOf(0), ms: sent + quotaRequest.lessorMs },
    { run: reached },
    { waitMs: WAY_MS },
    { at: loopOf(node), ms: (sent + quotaRequest.senderMs) / 2 },
    { run: received },
  ];
  return { beside: [steps] };
}

/** Reports of the calls that each node answered. @param delivered by node; the first node sends no reports */
const reports = (delivered: number[], report: number): readonly Regular[] =>
  delivered.slice(1).map((_, at) => ({
    everyMs: REPORT_MS,
    steps: () => {
      const calls = delivered[at + 1] ?? 0;
      delivered[at + 1] = 0;
      return calls === 0 ? [] : [{ waitMs: WAY_MS }, { at: loopOf(0), ms: report * calls }];
    },
  }));
