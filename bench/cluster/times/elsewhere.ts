// Measures two real nodes over PostgreSQL and a bucket: the processor time of reads from memory at the replica,
// and meanwhile at the serving node, which receives a report of each.
import { served, TOKENS } from '../../../test/soak/crash/rounds/killable.ts';
import { type Node, nodesOver, ready } from '../../../test/soak/crash/nodes/nodes.ts';
import { lakeInBucket } from '../../../test/store/bucket/lakeInBucket.ts';
import { startPostgres } from '../../../test/base/servers/postgres.ts';
import { startSwift } from '../../../test/base/servers/swift.ts';
import { type Client, type Driven, openClient, type Side } from '../../http/clientProcess.ts';
import type { Wanted } from '../../http/order.ts';
import { fill, sideOf, some } from './lent.ts';
import { type Spent, spentOf } from './processorTimes.ts';

const CLIENTS = 12;
const SECONDS = 4;
/** Warm-up rounds, at least two, until an answer is not faster than in the round before. */
const WARM_SECONDS = 2;
const WARM_MOST = 10;
const STEADY = 0.9;
/** The warm-up also lasts until at most this share is forwarded. */
const HANDED_ON_MOST = 0.01;
const SETTINGS = { TAPEDECK_RATE_LIMIT: 'off' };

export const NOT_HERE =
  'PostgreSQL or Swift is not installed: reads at replicas are not measured';

export interface TwoNodes extends AsyncDisposable {
  readonly client: Client;
  readonly serving: Side;
  readonly other: Side;
  readonly otherBase: string;
  readonly requests: readonly Wanted[];
}

/** Processor time per answer in milliseconds. */
export interface Elsewhere {
  /** The same reads at the serving node. */
  readonly serving: Spent;
  /** At the other node. */
  readonly own: Spent;
  /** Loop time of the serving node per read that the other node answered. */
  readonly report: number;
  /** Share of the reads that the other node forwarded nevertheless. */
  readonly handedOn: number;
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
  const requests = some((key) => `/v1/data/WS/K/K${key}?last=30&token=${TOKENS.publishable}`);
  const owned = stack.move();
  return {
    client,
    requests,
    serving: sideOf(first),
    other: sideOf(second),
    otherBase: second.base,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Returns undefined if a service is not installed. */
export async function measureElsewhere(rows: number): Promise<Elsewhere | undefined> {
  const nodes = await openTwoNodes(rows);
  if (nodes === undefined) return undefined;
  await using _ending = nodes;
  const { spent: serving } = await hotAtServing(nodes);
  const { handedOn, meanwhile, own } = await hotElsewhere(nodes);
  return { serving, own, report: meanwhile.loop, handedOn };
}

interface Hot {
  readonly driven: Driven;
  readonly spent: Spent;
}

export async function hotAtServing({ client, requests, serving }: TwoNodes): Promise<Hot> {
  const drive = driving(client, serving, requests);
  await warmUp(async () => ({
    ...(await spentDriving(serving, () => drive(WARM_SECONDS))),
    handedOn: 0,
  }));
  return spentDriving(serving, () => drive(SECONDS));
}

interface HandedOn {
  readonly handedOn: number;
}

/** Repeats the reads until they are answered from memory. */
async function warmUp(drive: () => Promise<Hot & HandedOn>): Promise<void> {
  let before = Infinity;
  for (let round = 0; round < WARM_MOST; round += 1) {
    const { handedOn, spent } = await drive();
    if (spent.loop > STEADY * before && handedOn < HANDED_ON_MOST) return;
    before = spent.loop;
  }
}

interface HotElsewhere extends HandedOn {
  readonly driven: Driven;
  readonly own: Spent;
  /** Processor time of the serving node per answer of the other. */
  readonly meanwhile: Spent;
}

export async function hotElsewhere(nodes: TwoNodes): Promise<HotElsewhere> {
  const { client, other, otherBase, requests, serving } = nodes;
  const drive = driving(client, other, requests);
  const counted = async (work: () => Promise<Hot>): Promise<Hot & HandedOn> => {
    const before = await hopsOf(otherBase);
    const hot = await work();
    const hops = (await hopsOf(otherBase)) - before;
    return { ...hot, handedOn: hops / hot.driven.times.length };
  };
  await warmUp(() => counted(() => spentDriving(other, () => drive(WARM_SECONDS))));
  const { spent: meanwhile, told } = await spentOf(
    serving.pids[0] ?? 0,
    undefined,
    () => counted(() => spentDriving(other, () => drive(SECONDS))),
    ({ driven }) => driven.times.length,
  );
  const { driven, handedOn, spent: own } = told;
  return { driven, own, meanwhile, handedOn };
}

const driving =
  (client: Client, side: Side, requests: readonly Wanted[]) =>
  (seconds: number): Promise<Driven> =>
    client.drive(side, { requests, connections: CLIENTS, seconds });

async function spentDriving({ pids }: Side, drive: () => Promise<Driven>): Promise<Hot> {
  const { spent, told } = await spentOf(
    ...([pids[0] ?? 0, undefined, drive] as const),
    ({ times }) => times.length,
  );
  return { driven: told, spent };
}

/** Returns the number of forwarded requests so far. */
async function hopsOf(base: string): Promise<number> {
  const text = await (await fetch(`${base}/metrics`)).text();
  const counts = [...text.matchAll(/^tapedeck_hops_total\{[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
