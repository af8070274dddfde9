// Two nodes, each with a core of its own, against one: reads that memory answers, where the second node
// answers its own. Client and nodes share two cores here, so that what two machines would carry is told by
// processor time: what an answer takes at its node, and what it takes at the one that serves meanwhile.
import { served, TOKENS } from '../../test/crash/rounds/killable.ts';
import { nodesOver, ready } from '../../test/crash/rounds/nodes.ts';
import { lakeInBucket } from '../../test/store/bucket/lakeInBucket.ts';
import { startPostgres } from '../../test/servers/postgres.ts';
import { startSwift } from '../../test/servers/swift.ts';
import {
  byMedian,
  type Client,
  type Driven,
  openClient,
  type Side,
} from '../http/clientProcess.ts';
import type { Wanted } from '../http/order.ts';
import { cpuMsOf } from '../http/cpuTime.ts';
import { type Ratio, ratioOf, type Taken } from '../measure.ts';
import { fill, sideOf, some } from './lent.ts';

const CLIENTS = 12;
const SECONDS = 4;
const SETTINGS = { TAPEDECK_RATE_LIMIT: 'off' };

/** @param rows of the dataset that is read */
export async function benchOwnReads(
  _place: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  await using stack = new AsyncDisposableStack();
  const [postgres, swift] = await Promise.all([startPostgres('fsync = on\n'), startSwift()]);
  if (postgres === undefined || swift === undefined) throw new Error('a service is not here');
  stack.use(postgres);
  stack.use(swift);
  const lake = stack.use(await lakeInBucket(swift));
  const catalog = { TAPEDECK_DATABASE: postgres.url() };
  const nodes = stack.use(nodesOver({ ...lake.settings, ...catalog, ...SETTINGS }));
  const client = stack.use(openClient());
  const first = await nodes.start();
  await served(first.serving);
  const second = await nodes.start();
  await ready(second);
  await fill(first, rows);
  const [serving, other] = [sideOf(first), sideOf(second)];
  const requests = some((key) => `/v1/data/WS/K/K${key}?last=30&token=${TOKENS.publishable}`);
  const bench = { name: 'own reads: hot, by processor time', target: '>= 1.8', pairs };
  return [
    await ratioOf(
      bench,
      () => ofTwo(client, serving, other, requests),
      async () => takenOf(await hot(client, serving, requests)),
    ),
  ];
}

async function hot(client: Client, side: Side, requests: readonly Wanted[]): Promise<Driven> {
  const asking = { requests, connections: CLIENTS };
  await client.drive(side, { ...asking, seconds: 1 });
  return client.drive(side, { ...asking, seconds: SECONDS });
}

const perAnswer = ({ serverCpuMs, times }: Driven): number => serverCpuMs / times.length;

/** Processor time of an answer. */
const takenOf = (driven: Driven): Taken => ({ ...byMedian(driven), ms: perAnswer(driven) });

/** How much of both nodes' processors an answer takes when both are full, as one node's. */
async function ofTwo(
  client: Client,
  serving: Side,
  other: Side,
  requests: readonly Wanted[],
): Promise<Taken> {
  const alone = perAnswer(await hot(client, serving, requests));
  const before = await cpuMsOf(serving.pids);
  const driven = await hot(client, other, requests);
  const meanwhile = (await cpuMsOf(serving.pids)) - before;
  const own = perAnswer(driven);
  // Of a second that it is warmed up for, too.
  const beside = meanwhile / (driven.times.length * (1 + 1 / SECONDS));
  const answersAMs = (1 - beside / own) / alone + 1 / own;
  return { ...byMedian(driven), ms: 1 / answersAMs };
}
