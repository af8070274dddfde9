// Three nodes on separate machines, PostgreSQL and the bucket on a fourth. In each round a link is cut,
// loses packets or is slow for some seconds, while writers and loads run; clocks may be five seconds off.
// Acknowledged data is stored afterwards, once; a node that reports ready answers; in the end all are ready.
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { clockOff, type Cut, type Host, startHosts } from '../../../base/servers/hosts.ts';
import { startPostgres } from '../../../base/servers/postgres.ts';
import { startSwift } from '../../../base/servers/swift.ts';
import { startWire } from '../../../base/servers/wire.ts';
import { lakeInBucket } from '../../../store/bucket/lakeInBucket.ts';
import { headers, served } from '../rounds/killable.ts';
import { type Node, type Nodes, nodesOver, withDataset } from './nodes.ts';
import { type Order, type Orders, type Report, type Seeded, seeded } from '../rounds/seeded.ts';

const NODES = 3;
const WRITERS = 4;
/** Between two pushes of a writer: `busy` when a link fails and recovers, `calm` in the seconds between. */
const PAUSE_MS = { busy: 5, calm: 50 } as const;
/** Request timeout of a client: it does not learn the outcome of a request that takes longer. */
const PATIENCE_MS = 5_000;
/** From docs/guides/nodes.md: a node that was replaced, or that lost PostgreSQL, has ended by then. */
const BOUND_MS = 60_000;

/** A host and its node; the node is restarted when it ends. */
interface Place {
  readonly host: Host;
  node: Node;
}

/** A record to which one writer pushes rising versions; the last version sent may be stored or not. */
interface Pushed {
  readonly symbol: string;
  acknowledged: number;
  sent: number;
}

interface Scene {
  readonly nodes: Nodes;
  readonly places: readonly Place[];
  random: Seeded;
  readonly doors: { readonly catalog: Cut; readonly bucket: Cut };
  pauseMs: number;
  statusCounts: Record<string, number>;
  readonly slowestMs: Map<string, number>;
}

/** A network fault of one node; clients still reach the node unless it is cut from all. */
interface Trouble {
  readonly whom: 'serving' | 'standby';
  readonly begin: (host: Host, scene: Scene) => Promise<void>;
  /** Duration of the fault, or until another node serves, or until the node ends. */
  readonly forMs: number | 'untilTaken' | 'untilEnded';
  readonly isAlone?: true;
}

const others = (host: Host, { places }: Scene): Cut => ({
  addresses: places.map((place) => place.host.address).filter((one) => one !== host.address),
});

const TROUBLES = {
  'the one that serves loses PostgreSQL': {
    whom: 'serving',
    forMs: 'untilTaken',
    begin: (host, { doors }) => host.cut(doors.catalog),
  },
  'the one that serves loses PostgreSQL for a while': {
    whom: 'serving',
    forMs: 4e3,
    begin: (host, { doors }) => host.cut(doors.catalog),
  },
  'the one that serves loses PostgreSQL for good': {
    whom: 'serving',
    forMs: 'untilEnded',
    begin: (host, { doors }) => host.cut(doors.catalog),
  },
  'the one that serves loses the others': {
    whom: 'serving',
    forMs: 5e3,
    begin: (host, scene) => host.cut(others(host, scene)),
  },
  'the one that serves loses the bucket': {
    whom: 'serving',
    forMs: 5e3,
    begin: (host, { doors }) => host.cut(doors.bucket),
  },
  'the one that serves loses all': {
    whom: 'serving',
    forMs: 'untilTaken',
    isAlone: true,
    begin: (host) => host.cut('all'),
  },
  'one that hands on loses PostgreSQL': {
    whom: 'standby',
    forMs: 7e3,
    begin: (host, { doors }) => host.cut(doors.catalog),
  },
  'the one that serves loses a quarter of its packets': {
    whom: 'serving',
    forMs: 5e3,
    begin: (host, { random }) => host.cut({ lost: random.between(20, 30) }),
  },
  'one that hands on loses a quarter of its packets': {
    whom: 'standby',
    forMs: 5e3,
    begin: (host, { random }) => host.cut({ lost: random.between(20, 30) }),
  },
  'the link of the one that serves is slow': {
    whom: 'serving',
    forMs: 5e3,
    begin: (host, { random }) => host.slow(random.between(40, 200)),
  },
} as const satisfies Readonly<Record<string, Trouble>>;

const NAMES = Object.keys(TROUBLES) as [keyof typeof TROUBLES, ...(keyof typeof TROUBLES)[]];
/** Share of faults that last until the node ends: each takes three quarters of a minute. */
const FOR_GOOD = 0.2;
const SKEWED = 0.3;

/** True if this machine can run these rounds. */
export async function hasHosts(): Promise<boolean> {
  await using hosts = await startHosts(1);
  return hosts !== undefined;
}

/** Runs `count` faults for each seed, one after the other. */
export async function cutRounds({ count, log, seeds }: Orders): Promise<readonly Report[]> {
  await using stack = new AsyncDisposableStack();
  // The last seed is the fresh one: it decides the clocks.
  const scene = await startScene(stack, seeded(seeds.at(-1) ?? 0));
  const reports: Report[] = [];
  for (const seed of seeds) reports.push(await roundsOf(scene, { count, log, seed }));
  return reports;
}

async function roundsOf(scene: Scene, { count, log, seed }: Order): Promise<Report> {
  const random = seeded(seed);
  scene.random = random;
  scene.statusCounts = {};
  scene.slowestMs.clear();
  const failures: string[] = [];
  for (let round = 0; round < count; round += 1) {
    const [picked, isLong] = [random.pick(NAMES), random.chance(FOR_GOOD)];
    const isShorter = TROUBLES[picked].forMs === 'untilEnded' && !isLong;
    const name = isShorter ? 'the one that serves loses all' : picked;
    const faults = await oneRound(scene, `L${seed}_${round}`, name);
    failures.push(...faults.map((fault) => `seed ${seed}, round ${round}, ${name}: ${fault}`));
    log(`${round}: ${name}${faults.map((fault) => `\n  ✖ ${fault}`).join('')}`);
  }
  const statuses = Object.entries(scene.statusCounts).map(
    ([status, times]) => `${status}: ${times}`,
  );
  const slowest = [...scene.slowestMs].map(([name, ms]) => `${name}: ${(ms / 1_000).toFixed(1)} s`);
  return { seed, count, failures, notes: [`pushes ${statuses.join(', ')}`, ...slowest] };
}

async function startScene(stack: AsyncDisposableStack, random: Seeded): Promise<Scene> {
  const hosts = await startHosts(NODES);
  assert.ok(hosts, 'hosts need Linux, root, iproute2 and nftables');
  stack.use(hosts);
  const { address } = hosts;
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-cuts-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const rules = join(folder, 'hba.conf');
  await writeFile(rules, 'host all all all scram-sha-256\n', { mode: 0o644 });
  const listens = `listen_addresses = '127.0.0.1,${address}'\nhba_file = '${rules}'\n`;
  const more = 'max_connections = 60\n';
  const [postgres, swift] = await Promise.all([startPostgres(listens + more), startSwift()]);
  assert.ok(postgres !== undefined && swift !== undefined, 'PostgreSQL or Swift is not here');
  stack.use(postgres);
  stack.use(swift);
  const lake = stack.use(await lakeInBucket(swift));
  const wire = stack.use(await startWire(swift.port, address));
  const catalog = `${postgres.url().replace('127.0.0.1', address)}?schema=cuts&sslmode=disable`;
  const nodes = stack.use(
    nodesOver({
      ...lake.settings,
      TAPEDECK_S3_ENDPOINT: `http://${address}:${wire.port}`,
      TAPEDECK_DATABASE: catalog,
    }),
  );
  const scene: Scene = {
    nodes,
    random,
    places: [],
    pauseMs: PAUSE_MS.busy,
    statusCounts: {},
    slowestMs: new Map(),
    doors: {
      catalog: { port: postgres.port },
      bucket: { port: wire.port },
    },
  };
  const places: Place[] = [];
  for (const host of hosts.hosts) {
    const place = { host, node: await start(host, scene) };
    places.push(place);
    if (places.length === 1) await withDataset((await served(place.node.serving)).base);
  }
  return { ...scene, places };
}

/** Starts a node whose clock may differ from the others' by five seconds. */
function start(host: Host, { nodes, random }: Pick<Scene, 'nodes' | 'random'>): Promise<Node> {
  const off = random.chance(SKEWED) ? clockOff(random.pick([-5, 5])) : undefined;
  return nodes.start(host, off);
}

const hasEnded = ({ child }: Node['serving']): boolean =>
  (child.exitCode ?? child.signalCode) !== null;

/** Restarts ended nodes as an operator's supervisor would. */
async function supervising(scene: Scene, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    for (const place of scene.places) {
      if (hasEnded(place.node.serving)) place.node = await start(place.host, scene);
    }
    await sleep(100);
  }
}

interface Answer {
  readonly status: number | 'none';
  readonly text: string;
}

async function ask({ node }: Place, path: string, body?: string): Promise<Answer> {
  const bodyInit = body === undefined ? {} : { body };
  const method = body === undefined ? 'GET' : 'POST';
  const signal = AbortSignal.timeout(PATIENCE_MS);
  return fetch(node.base + path, { method, headers, signal, ...bodyInit }).then(
    async (answer) => ({ status: answer.status, text: await answer.text() }),
    () => ({ status: 'none', text: '' }),
  );
}

const anyOf = (places: readonly Place[], random: Seeded): Place =>
  random.pick(places as [Place, ...Place[]]);

/** A node that forwards requests answers `ready: NAME serves`. */
const isServing = ({ text }: Answer): boolean => /^ready(,|$)/m.test(text);

/** Retries as clients do; throws a fault if that takes too long. */
async function within<T>(what: string, work: () => Promise<T | undefined>): Promise<T> {
  const untilMs = performance.now() + BOUND_MS;
  for (;;) {
    const result = await work();
    if (result !== undefined) return result;
    if (performance.now() > untilMs) throw new Fault(`${what}: not within ${BOUND_MS / 1_000} s`);
    await sleep(100);
  }
}

class Fault extends Error {}

const served200 = async (place: Place, path: string): Promise<string | undefined> => {
  const { status, text } = await ask(place, path);
  return status === 200 ? text : undefined;
};

async function pushing(
  at: number,
  all: Pushed[],
  scene: Scene,
  isOver: () => boolean,
): Promise<void> {
  const random = scene.random.fork();
  const fresh = (): Pushed => {
    const one = { symbol: `W${at}_${random.between(0, 1e9)}`, acknowledged: 0, sent: 0 };
    all.push(one);
    return one;
  };
  let own = fresh();
  while (!isOver()) {
    own.sent += 1;
    const body = JSON.stringify([{ symbol: own.symbol, day: '2024-01-01', v: own.sent }]);
    const path = '/v1/record/WS/K?duplicateKeyHandling=replace';
    const { status, text } = await ask(anyOf(scene.places, random), path, body);
    const outcome = status === 500 ? `500 ${text}` : String(status);
    scene.statusCounts[outcome] = (scene.statusCounts[outcome] ?? 0) + 1;
    if (status === 200) own.acknowledged = own.sent;
    // The write may still arrive, after the one that is sent now.
    if (status === 'none') own = fresh();
    await sleep(status === 200 ? scene.pauseMs : 50);
  }
}

interface Load {
  readonly symbol: string;
  /** Undefined: it was not acknowledged. */
  readonly jobId: string | undefined;
}

async function handedIn(symbol: string, { places, random, statusCounts }: Scene): Promise<Load> {
  const body = `symbol,day,v\n${symbol},2024-02-02,1\n`;
  const { status, text } = await ask(anyOf(places, random), '/v1/data/WS/K', body);
  const line = status === 500 ? `load 500 ${text}` : `load ${status}`;
  statusCounts[line] = (statusCounts[line] ?? 0) + 1;
  if (status !== 200) return { symbol, jobId: undefined };
  return { symbol, jobId: (JSON.parse(text) as { readonly jobId: string }).jobId };
}

async function oneRound(
  scene: Scene,
  symbol: string,
  name: keyof typeof TROUBLES,
): Promise<readonly string[]> {
  let isOver = false;
  const pushed: Pushed[] = [];
  const running = Array.from({ length: WRITERS }, (_, at) =>
    pushing(at, pushed, scene, () => isOver),
  );
  running.push(supervising(scene, () => isOver));
  const faults: string[] = [];
  const loads: Load[] = [];
  try {
    await troubled(scene, name, async (part) => {
      loads.push(await handedIn(`${symbol}_${part}`, scene));
    });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    faults.push(error.message);
  } finally {
    isOver = true;
    await Promise.all(running);
  }
  faults.push(...(await faultsOf(scene, pushed, loads).catch(toFaults)));
  for (const outcome of Object.keys(scene.statusCounts).filter((line) => line.includes('500 '))) {
    faults.push(`${scene.statusCounts[outcome]} answers were ${outcome}`);
    delete scene.statusCounts[outcome];
  }
  return faults;
}

function toFaults(error: unknown): readonly string[] {
  if (error instanceof Fault) return [error.message];
  throw error;
}

async function troubled(
  scene: Scene,
  name: keyof typeof TROUBLES,
  load: (part: string) => Promise<void>,
): Promise<void> {
  const { places, random } = scene;
  const { whom, begin, forMs, isAlone }: Trouble = TROUBLES[name];
  const serving = await within('before: one serves', () => servingOf(places));
  const rest = places.filter((place) => place !== serving);
  const place = whom === 'serving' ? serving : anyOf(rest, random);
  await sleep(random.between(50, 500));
  await load('before');
  const { serving: process } = place.node;
  const reachable = isAlone === true ? rest : places;
  await begin(place.host, scene);
  const beganMs = performance.now();
  const answered = answering(reachable, beganMs);
  answered.catch(() => undefined);
  try {
    await load('during');
    scene.pauseMs = PAUSE_MS.calm;
    if (forMs === 'untilTaken') await within('another one serves', () => servingOf(rest));
    else if (forMs === 'untilEnded')
      await within('it ends', async () => hasEnded(process) || undefined);
    else await sleep(Math.max(0, forMs - (performance.now() - beganMs)));
    await Promise.all(reachable.map(keepsItsWord));
    await sleep(random.between(0, 1_000));
    scene.pauseMs = PAUSE_MS.busy;
    await sleep(PAUSE_MS.calm);
  } finally {
    scene.pauseMs = PAUSE_MS.busy;
    await place.host.heal();
  }
  const answeredMs = await answered;
  scene.slowestMs.set(name, Math.max(scene.slowestMs.get(name) ?? 0, answeredMs));
  await within('after: all are ready', () => allReady(places));
}

/** Waits until any node accepts a write; returns the time since `beganMs`. */
async function answering(places: readonly Place[], beganMs: number): Promise<number> {
  const body = '[{"symbol":"ANY","day":"2024-01-01","v":1}]';
  const path = '/v1/record/WS/K?duplicateKeyHandling=replace';
  await within('some node accepts writes', async () => {
    const attempts = places.map(async (place) => {
      const { status } = await ask(place, path, body);
      return status === 200 ? true : Promise.reject(new Fault(String(status)));
    });
    return Promise.any(attempts).catch(() => undefined);
  });
  return performance.now() - beganMs;
}

/** A load balancer sends requests to every node that reports ready. */
async function keepsItsWord(place: Place): Promise<void> {
  await within(`${place.node.base} reports ready, and answers`, async () => {
    const { status } = await ask(place, '/readyz');
    if (status !== 200) return true;
    return (await ask(place, '/v1/datasets/WS')).status === 200 || undefined;
  });
}

async function servingOf(places: readonly Place[]): Promise<Place | undefined> {
  const answers = await Promise.all(places.map((place) => ask(place, '/readyz')));
  return places.find((_, at) => isServing(answers[at] ?? { status: 'none', text: '' }));
}

async function allReady(places: readonly Place[]): Promise<true | undefined> {
  const answers = await Promise.all(places.map((place) => ask(place, '/readyz')));
  const isRight =
    answers.every(({ status }) => status === 200) && answers.filter(isServing).length === 1;
  const read = await Promise.all(places.map((place) => served200(place, '/v1/datasets/WS')));
  return (isRight && read.every((text) => text !== undefined)) || undefined;
}

async function faultsOf(
  { places, random }: Scene,
  pushed: readonly Pushed[],
  loads: readonly Load[],
): Promise<readonly string[]> {
  const faults: string[] = [];
  const place = anyOf(places, random);
  for (const { acknowledged, sent, symbol } of pushed) {
    const versions = await versionsOf(place, symbol);
    const [version = 0] = versions;
    if (versions.length > 1 || version < acknowledged || version > sent)
      faults.push(`${symbol}: [${versions.join(', ')}], acknowledged ${acknowledged} of ${sent}`);
  }
  for (const { jobId, symbol } of loads) {
    if (jobId === undefined) continue;
    const status = await within(`the end of load ${symbol}`, () => endOf(place, jobId));
    const versions = await versionsOf(place, symbol);
    if (versions.length !== 1) faults.push(`load ${symbol}: ${status}, ${versions.length} records`);
  }
  return faults;
}

async function versionsOf(place: Place, symbol: string): Promise<readonly number[]> {
  const path = `/v1/data/WS/K/${symbol}?range=max`;
  const text = await within(`a read of ${symbol}`, () => served200(place, path));
  return (JSON.parse(text) as readonly { readonly v: number }[]).map(({ v }) => v);
}

async function endOf(place: Place, jobId: string): Promise<string | undefined> {
  const text = await served200(place, `/v1/jobs/WS/ingest/${jobId}`);
  if (text === undefined) return undefined;
  const job = JSON.parse(text) as { readonly status: string; readonly finished?: number | null };
  return job.finished === undefined || job.finished === null ? undefined : job.status;
}
