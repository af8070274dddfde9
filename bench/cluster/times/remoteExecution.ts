// Measures remote execution: two nodes on two cores against one node on one, for cold reads and queries whose
// statements run at both nodes. Real nodes over PostgreSQL and a bucket, each bound to its own core; the
// client, PostgreSQL and the bucket use the remaining processor time.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fetchText, DATED, served, TOKENS } from '../../../test/soak/crash/rounds/killable.ts';
import { type Node, type Nodes, nodesOver, ready } from '../../../test/soak/crash/nodes/nodes.ts';
import { lakeInBucket } from '../../../test/store/bucket/lakeInBucket.ts';
import { startPostgres } from '../../../test/base/servers/postgres.ts';
import { startSwift } from '../../../test/base/servers/swift.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { byPace, type Client, openClient, type Side } from '../../http/clientProcess.ts';
import { getRequests, type RequestSpec } from '../../http/order.ts';
import type { Ratio, Measurement } from '../../base/measure.ts';
import { measureRatio } from '../../base/measure.ts';

const execute = promisify(execFile);

const KEYS = 500;
const CLIENTS = 12;
const SECONDS = 4;
/** Step that scatters the order of the requested keys. */
const STEP = 7_919;

/** Default settings without the SQL cache, so that each query runs. */
const SETTINGS = { TAPEDECK_SQL_CACHE: '0' };

/** @param rows rows of the dataset to read */
export async function benchRemoteExecution(
  _place: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  await using stack = new AsyncDisposableStack();
  const [postgres, swift] = await Promise.all([startPostgres('fsync = on\n'), startSwift()]);
  if (postgres === undefined || swift === undefined)
    throw new Error('PostgreSQL or Swift is not installed');
  stack.use(postgres);
  stack.use(swift);
  const lake = stack.use(await lakeInBucket(swift));
  const catalog = { TAPEDECK_DATABASE: postgres.url() };
  const nodes = stack.use(nodesOver({ ...lake.settings, ...catalog, ...SETTINGS }));
  const client = stack.use(openClient());
  const first = await nodes.start();
  await served(first.serving);
  await bind(first, 0);
  await fill(first, rows);
  const ratios: Ratio[] = [];
  for (const [name, requests] of [
    ['cold reads', coldReads()],
    ['queries', queries()],
  ] as const) {
    const bench = { name: `remote: ${name}`, target: '>= 1.8', pairs };
    const side = sideOf(first);
    ratios.push(
      await measureRatio(
        bench,
        () => withSecond(nodes, first, () => measurePace(client, side, requests)),
        () => measurePace(client, side, requests),
      ),
    );
  }
  return ratios;
}

export const sideOf = ({ base, serving }: Node): Side => ({
  port: Number(new URL(base).port),
  pids: [serving.child.pid ?? 0],
});

/** Binds all threads and processes of a node to a core, and those that they start later. */
async function bind({ serving }: Node, core: number): Promise<void> {
  const own = String(serving.child.pid);
  const { stdout } = await execute('ps', ['-e', '-o', 'pid=,ppid=']);
  for (const line of stdout.split('\n')) {
    const [pid = '', parent] = line.trim().split(/ +/);
    if (pid === own || parent === own) await execute('taskset', ['-acp', String(core), pid]);
  }
}

export async function fill({ base }: Node, rows: number): Promise<void> {
  await fetchText(base, 'POST', '/workspaces', '{"name":"WS"}');
  await fetchText(base, 'POST', '/datasets/WS', JSON.stringify({ dataset: DATED }));
  const days = Math.ceil(rows / KEYS);
  const lines = ['symbol,day,v'];
  for (let key = 0; key < KEYS; key += 1) {
    for (let day = 0; day < days; day += 1) {
      lines.push(`K${key},${new Date(day * 86_400_000).toISOString().slice(0, 10)},${day}`);
    }
  }
  await fetchText(base, 'POST', '/data/WS/K?wait=true', lines.join('\n'));
}

/** Builds requests for all keys in scattered order. */
export const requestsForKeys = (make: (key: number) => string): readonly RequestSpec[] =>
  getRequests(Array.from({ length: KEYS }, (_, at) => make((at * STEP) % KEYS)));

const coldReads = (): readonly RequestSpec[] =>
  requestsForKeys((key) => `/v1/data/WS/K/K${key}?last=30&cache=false&token=${TOKENS.publishable}`);

const queries = (): readonly RequestSpec[] =>
  requestsForKeys((key) => {
    const query = `SELECT count(*) AS n, max(v) AS v FROM K WHERE symbol = 'K${key}'`;
    return `/v1/sql-query/WS?token=${TOKENS.publishable}&sqlQuery=${encodeURIComponent(query)}`;
  });

async function measurePace(
  client: Client,
  side: Side,
  requests: readonly RequestSpec[],
): Promise<Measurement> {
  const plan = { requests, connections: CLIENTS };
  await client.drive(side, { ...plan, seconds: 1 });
  return byPace(await client.drive(side, { ...plan, seconds: SECONDS }));
}

/** Runs the work while another node executes statements on the other core. */
async function withSecond<T>(nodes: Nodes, first: Node, work: () => Promise<T>): Promise<T> {
  const second = await nodes.start();
  await ready(second);
  await bind(second, 1);
  const authorization = 'Bearer ak_theSameOnAllNodes0123456789';
  for (let executors = 0; executors < 2; await sleep(50)) {
    const text = await (
      await fetch(`${first.base}/metrics`, { headers: { authorization } })
    ).text();
    executors = [...text.matchAll(/^tapedeck_(?:read|sql)_children_lent 2$/gm)].length;
  }
  try {
    return await work();
  } finally {
    await second.serving.kill('SIGKILL');
  }
}
