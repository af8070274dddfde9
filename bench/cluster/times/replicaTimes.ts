// Measures two real nodes over PostgreSQL and a bucket: the processor time of reads from memory at the
// replica, and meanwhile at the serving node, which receives a report of each.
import { served, TOKENS } from '../../../test/soak/crash/rounds/killable.ts';
import { type Node, nodesOver, ready } from '../../../test/soak/crash/nodes/nodes.ts';
import { lakeInBucket } from '../../../test/store/bucket/lakeInBucket.ts';
import { startPostgres } from '../../../test/base/servers/postgres.ts';
import { startSwift } from '../../../test/base/servers/swift.ts';
import { type Client, type DriveResult, openClient, type Side } from '../../http/clientProcess.ts';
import type { RequestSpec } from '../../http/order.ts';
import { fill, sideOf, requestsForKeys } from './remoteExecution.ts';
import { type ProcessorTimes, measureSpent } from './processorTimes.ts';

const CLIENTS = 12;
const SECONDS = 4;
/** Warm-up rounds, at least two, until an answer is not faster than in the round before. */
const WARM_SECONDS = 2;
const WARM_MOST = 10;
const STEADY = 0.9;
/** The warm-up also lasts until at most this share is forwarded. */
const HANDED_ON_MOST = 0.01;
const SETTINGS = { TAPEDECK_RATE_LIMIT: 'off' };

export const NOT_INSTALLED =
  'PostgreSQL or Swift is not installed: reads at replicas are not measured';

export interface TwoNodes extends AsyncDisposable {
  readonly client: Client;
  readonly serving: Side;
  readonly other: Side;
  readonly otherBase: string;
  readonly requests: readonly RequestSpec[];
}

/** Processor time per answer in milliseconds. */
export interface ReplicaTimes {
  /** The same reads at the serving node. */
  readonly serving: ProcessorTimes;
  /** At the other node. */
  readonly own: ProcessorTimes;
  /** Loop time of the serving node per read that the other node answered. */
  readonly report: number;
  /** Share of the reads that the other node forwarded nevertheless. */
  readonly forwarded: number;
}

/** Returns undefined if a service is not installed. @param rows rows of the dataset to read */
export async function openTwoNodes(rows: number): Promise<TwoNodes | undefined> {
  await using stack = new AsyncDisposableStack();
  const [postgres, swift] = await Promise.all([startPostgres('fsync = on\n'), startSwift()]);
  if (postgres !== undefined) stack.use(postgres);
  if (swift !== undefined) stack.use(swift);
  if (postgres === undefined || swift === undefined) return undefined;
  const lake = stack.use(await lakeInBucket(swift));
  const catalog = { TAPEDECK_DATABASE: postgres.url() };
  const nodes = stack.use(nodesOver({ ...lake.settings, ...catalog, ...SETTINGS }));
  const client = stack.use(openClient());
  const first: Node = await nodes.start();
  await served(first.serving);
  const second = await nodes.start();
  await ready(second);
  await fill(first, rows);
  const requests = requestsForKeys(
    (key) => `/v1/data/WS/K/K${key}?last=30&token=${TOKENS.publishable}`,
  );
  const resources = stack.move();
  return {
    client,
    requests,
    serving: sideOf(first),
    other: sideOf(second),
    otherBase: second.base,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Returns undefined if a service is not installed. */
export async function measureReplica(rows: number): Promise<ReplicaTimes | undefined> {
  const nodes = await openTwoNodes(rows);
  if (nodes === undefined) return undefined;
  await using _ending = nodes;
  const { spent: serving } = await measureServingReads(nodes);
  const { forwarded, meanwhile, own } = await measureReplicaReads(nodes);
  return { serving, own, report: meanwhile.loop, forwarded };
}

interface ReadCost {
  readonly driven: DriveResult;
  readonly spent: ProcessorTimes;
}

export async function measureServingReads({
  client,
  requests,
  serving,
}: TwoNodes): Promise<ReadCost> {
  const drive = buildDrive(client, serving, requests);
  await warmUp(async () => ({
    ...(await measureDrive(serving, () => drive(WARM_SECONDS))),
    forwarded: 0,
  }));
  return measureDrive(serving, () => drive(SECONDS));
}

interface ForwardedShare {
  readonly forwarded: number;
}

/** Repeats the reads until they are answered from memory. */
async function warmUp(drive: () => Promise<ReadCost & ForwardedShare>): Promise<void> {
  let before = Infinity;
  for (let round = 0; round < WARM_MOST; round += 1) {
    const { forwarded, spent } = await drive();
    if (spent.loop > STEADY * before && forwarded < HANDED_ON_MOST) return;
    before = spent.loop;
  }
}

interface ReplicaReadCost extends ForwardedShare {
  readonly driven: DriveResult;
  readonly own: ProcessorTimes;
  /** Processor time of the serving node per answer of the other. */
  readonly meanwhile: ProcessorTimes;
}

export async function measureReplicaReads(nodes: TwoNodes): Promise<ReplicaReadCost> {
  const { client, other, otherBase, requests, serving } = nodes;
  const drive = buildDrive(client, other, requests);
  const counted = async (work: () => Promise<ReadCost>): Promise<ReadCost & ForwardedShare> => {
    const before = await countHops(otherBase);
    const hot = await work();
    const hops = (await countHops(otherBase)) - before;
    return { ...hot, forwarded: hops / hot.driven.times.length };
  };
  await warmUp(() => counted(() => measureDrive(other, () => drive(WARM_SECONDS))));
  const { spent: meanwhile, result } = await measureSpent(
    serving.pids[0] ?? 0,
    undefined,
    () => counted(() => measureDrive(other, () => drive(SECONDS))),
    ({ driven }) => driven.times.length,
  );
  const { driven, forwarded, spent: own } = result;
  return { driven, own, meanwhile, forwarded };
}

const buildDrive =
  (client: Client, side: Side, requests: readonly RequestSpec[]) =>
  (seconds: number): Promise<DriveResult> =>
    client.drive(side, { requests, connections: CLIENTS, seconds });

async function measureDrive({ pids }: Side, drive: () => Promise<DriveResult>): Promise<ReadCost> {
  const { spent, result } = await measureSpent(
    ...([pids[0] ?? 0, undefined, drive] as const),
    ({ times }) => times.length,
  );
  return { driven: result, spent };
}

/** Returns the number of forwarded requests so far. */
async function countHops(base: string): Promise<number> {
  const text = await (await fetch(`${base}/metrics`)).text();
  const counts = [...text.matchAll(/^tapedeck_hops_total\{[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
