// Two real nodes over PostgreSQL and a bucket: what reads that memory answers take of the node that does not
// serve, and of the one that serves meanwhile, which is told of each.
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
/** Of one time that warms up, at least twice, until an answer takes no less than the time before. */
const WARM_SECONDS = 2;
const WARM_MOST = 10;
const STEADY = 0.9;
/** And until no more than so many are handed on. */
const HANDED_ON_MOST = 0.01;
const SETTINGS = { TAPEDECK_RATE_LIMIT: 'off' };

export const NOT_HERE =
  'PostgreSQL or Swift is not here: what nodes answer themselves is not measured';

export interface TwoNodes extends AsyncDisposable {
  readonly client: Client;
  readonly serving: Side;
  readonly other: Side;
  readonly otherBase: string;
  readonly requests: readonly Wanted[];
}

/** Processor time of one answer, in milliseconds. */
export interface Elsewhere {
  /** The same reads at the node that serves. */
  readonly serving: Spent;
  /** At the other node. */
  readonly own: Spent;
  /** Of the loop of the node that serves, for one that the other answered. */
  readonly report: number;
  /** Of those that were asked of the other node, the share that it handed on all the same. */
  readonly handedOn: number;
}

/** @param rows of the dataset that is read; undefined where a service is not here */
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

/** Undefined where a service is not here. */
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

/** Until memory answers. */
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
  /** Of the node that serves, by answers of the other. */
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

/** Requests that it handed on so far. */
async function hopsOf(base: string): Promise<number> {
  const text = await (await fetch(`${base}/metrics`)).text();
  const counts = [...text.matchAll(/^tapedeck_hops_total\{[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
