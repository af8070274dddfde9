// Nodes over one catalog: writers push rising versions of their own record through any node, loads are
// submitted, records purged, and in each round a node is killed, stopped or suspended, or all nodes lose
// PostgreSQL or the bucket. Data acknowledged by any node is stored afterwards, once; no node returns older
// data.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Postgres } from '../../../base/servers/postgres.ts';
import { fetchText, headers } from '../rounds/killable.ts';
import { type Node, type Nodes, ready, startNodes } from './nodes.ts';
import { nodeRules, type NodeRules } from './nodeRules.ts';
import { LOOPBACK } from '../rounds/ruleRounds.ts';
import { type NodeOnce, nodeOnce } from './nodeOnce.ts';
import { type NodeLoads, nodeLoads } from './nodeLoads.ts';
import { type NodeReads, nodeReads } from './nodeReads.ts';
import { nodeStreams, type NodeStreams } from './nodeStreams.ts';
import { startNats } from '../../../base/servers/nats.ts';
import type { Wire } from '../../../base/servers/wire.ts';
import { type Order, type Orders, type Report, type Seeded, seeded } from '../rounds/seeded.ts';

const WRITERS = 4;
/** Three nodes are enough for few rounds. */
const nodesFor = (count: number): number => (count > 10 ? 4 : 3);

/** One writer's record; the last version sent may be stored or not. */
interface Writer {
  readonly symbol: string;
  acknowledged: number;
  sent: number;
}

interface Scene {
  readonly nodes: Nodes;
  readonly postgres: Postgres;
  random: Seeded;
  readonly living: Node[];
  readonly writers: readonly Writer[];
  readonly streams: NodeStreams;
  readonly reads: NodeReads;
  readonly rules: NodeRules;
  readonly loads: NodeLoads;
  readonly once: NodeOnce;
  readonly wire: Wire;
  statusCounts: Record<string, number>;
}

type End = (serving: Node, scene: Scene) => Promise<void>;

const ENDS: Readonly<Record<string, End>> = {
  'it is killed': async (serving, scene) => {
    await serving.serving.kill('SIGKILL');
    await replace(serving, scene);
  },
  'it is stopped': async (serving, scene) => {
    await serving.serving.kill('SIGTERM');
    await replace(serving, scene);
  },
  'it sleeps': async (serving, scene) => {
    const { child } = serving.serving;
    const ended = once(child, 'exit');
    child.kill('SIGSTOP');
    scene.living.splice(scene.living.indexOf(serving), 1);
    await Promise.any(scene.living.map((node) => servesItself(node)));
    child.kill('SIGCONT');
    await ended;
    scene.living.push(await scene.nodes.start());
  },
  'another one is killed': async (serving, scene) => {
    const other = anotherThan(serving, scene);
    await other.serving.kill('SIGKILL');
    await replace(other, scene);
  },
  'another one sleeps for a while': async (serving, scene) => {
    const { child } = anotherThan(serving, scene).serving;
    child.kill('SIGSTOP');
    await sleep(scene.random.between(100, 7_000));
    child.kill('SIGCONT');
  },
  'the bucket breaks off': async (_serving, { random, wire }) => {
    wire.breakAfter(random.between(0, 2_000), random.pick(['close', 'stall'] as const));
    await sleep(random.between(100, 1_500));
    wire.mend();
    wire.cut();
  },
  'PostgreSQL loses its power': async (_serving, { postgres, random }) => {
    const { up } = await postgres.down();
    await sleep(random.between(0, 800));
    await up();
  },
};

/** Share of rounds in which the serving node is suspended: each of them takes ten seconds. */
const SLEEPS = 0.1;
const FAST = [
  ...(['it is killed', 'it is stopped', 'PostgreSQL loses its power'] as const),
  ...(['it is killed', 'another one is killed', 'the bucket breaks off'] as const),
] as const;
/** Share of rounds in which another node is suspended for some seconds. */
const NAPS = 0.1;
const PURGES = 0.4;

const anotherThan = (serving: Node, { living, random }: Scene): Node =>
  random.pick(living.filter((node) => node !== serving) as [Node, ...Node[]]);

/** Starts another standby node instead of the ended one. */
async function replace(ended: Node, { living, nodes }: Scene): Promise<void> {
  living.splice(living.indexOf(ended), 1);
  living.push(await nodes.start());
}

/** A node that forwards requests answers `ready: NAME serves`. */
const isServing = (text: string): boolean => /^ready(,|$)/m.test(text);

async function servesItself(node: Node): Promise<void> {
  while (!isServing(await ready(node))) await sleep(50);
}

async function servingOf({ living }: Scene): Promise<Node> {
  for (;;) {
    for (const node of living) {
      const text = await Promise.race([
        ready(node).catch(() => ''),
        sleep(500, '', { ref: false }),
      ]);
      if (isServing(text)) return node;
    }
    await sleep(50);
  }
}

/** Pushes through any node, also one that ends meanwhile: only a 200 is an acknowledgement. */
async function pushing(writer: Writer, scene: Scene, isOver: () => boolean): Promise<void> {
  const random = scene.random.fork();
  while (!isOver()) {
    const [first, ...rest] = scene.living;
    if (first === undefined) continue;
    const node = random.pick([first, ...rest]);
    writer.sent += 1;
    const body = JSON.stringify([{ symbol: writer.symbol, day: '2024-01-01', v: writer.sent }]);
    const url = `${node.base}/v1/record/WS/K?duplicateKeyHandling=replace`;
    const status = await fetch(url, { method: 'POST', headers, body })
      .then(async (answer) => {
        const text = await answer.text();
        return answer.status === 500 ? `500 ${text}` : String(answer.status);
      })
      // The node may also end in the middle of its answer.
      .catch(() => 'cut');
    scene.statusCounts[status] = (scene.statusCounts[status] ?? 0) + 1;
    if (status === '200') writer.acknowledged = writer.sent;
    else await sleep(20);
  }
}

/** Runs `count` rounds for each seed. */
export async function nodeRounds({ count, seeds, log }: Orders): Promise<readonly Report[]> {
  await using nats = await startNats();
  assert.ok(nats, 'NATS is not here');
  await using here = await startNodes(nodesFor(count), { ...LOOPBACK, TAPEDECK_BUS: nats.url });
  const { living, nodes, postgres, wire } = here;
  const writers = Array.from({ length: WRITERS }, (_, at) => ({
    symbol: `W${at}`,
    acknowledged: 0,
    sent: 0,
  }));
  const random = seeded(seeds[0] ?? 0);
  const anyNode = (): Node => random.pick([living[0] as Node, ...living.slice(1)]);
  await using rules = await nodeRules(anyNode().base, ['W0', 'W1']);
  await using streams = await nodeStreams(anyNode);
  await using reads = nodeReads(anyNode, writers, random.fork());
  const loads = nodeLoads(living);
  const once = nodeOnce(anyNode);
  const parts = { nodes, postgres, wire, living, writers, streams, reads, rules, loads, once };
  const scene: Scene = { ...parts, random, statusCounts: {} };
  await heardOnce(scene);
  const reports: Report[] = [];
  for (const seed of seeds) reports.push(await roundsOf(scene, { count, seed, log }));
  return reports;
}

/** Readers resume after their last message: each must have received one before the first round. */
async function heardOnce({ living, streams, writers: [writer] }: Scene): Promise<void> {
  assert.ok(living[0] && writer);
  writer.sent += 1;
  const body = JSON.stringify([{ symbol: writer.symbol, day: '2024-01-01', v: writer.sent }]);
  await fetchText(living[0].base, 'POST', '/record/WS/K?duplicateKeyHandling=replace', body);
  writer.acknowledged = writer.sent;
  while (streams.leastHeard() === 0) await sleep(20);
}

async function roundsOf(scene: Scene, { count, seed, log }: Order): Promise<Report> {
  const { loads, reads, rules, streams } = scene;
  const random = seeded(seed);
  scene.random = random;
  scene.statusCounts = {};
  const failures: string[] = [];
  for (let round = 0; round < count; round += 1) {
    const isShort = !random.chance(SLEEPS);
    const naps = random.chance(NAPS);
    const fast = naps ? 'another one sleeps for a while' : random.pick(FAST);
    const name = isShort ? fast : 'it sleeps';
    const faults = await oneRound(scene, `L${seed}_${round}`, name);
    failures.push(...faults.map((fault) => `seed ${seed}, round ${round}, ${name}: ${fault}`));
    log(`${round}: ${name}`);
  }
  const statuses = Object.entries(scene.statusCounts).map(
    ([status, times]) => `${status}: ${times}`,
  );
  const { base } = await servingOf(scene);
  for (const fault of await rules.faults(base)) failures.push(`seed ${seed}: ${fault}`);
  failures.push(
    ...statuses.filter((line) => line.startsWith('500')).map((line) => `seed ${seed}: ${line}`),
  );
  const heard = `${streams.heard()} heard, ${rules.heard()} alerts`;
  const written = `pushes ${statuses.join(', ')}; ${scene.once.summary()}`;
  const note = `${written}; ${reads.answered()} reads, ${loads.summary()}, ${heard} so far`;
  return { seed, count, failures, notes: [note] };
}

async function oneRound(scene: Scene, symbol: string, name: string): Promise<readonly string[]> {
  let isOver = false;
  const running = scene.writers.map((writer) => pushing(writer, scene, () => isOver));
  running.push(scene.once.run(() => isOver, scene.random.fork()));
  const serving = await servingOf(scene);
  await sleep(scene.random.between(20, 300));
  await scene.loads.handIn(symbol, scene.random);
  const purging = scene.random.chance(PURGES) ? scene.loads.purge(scene.random.fork()) : undefined;
  await sleep(scene.random.pick([0, 0, 50, 300] as const));
  await ENDS[name]?.(serving, scene);
  const next = await servingOf(scene);
  await sleep(scene.random.between(20, 200));
  isOver = true;
  await Promise.all([...running, purging]);
  return faultsOf(scene, next);
}

async function faultsOf(
  { loads, once: { faults: onceFaults }, reads, streams, writers }: Scene,
  { base }: Node,
): Promise<readonly string[]> {
  const faults: string[] = [];
  const stored = new Map<string, number>();
  for (const { acknowledged, sent, symbol: own } of writers) {
    const versions = await versionsOf(base, own);
    const [version = 0] = versions;
    if (versions.length > 0) stored.set(own, version);
    const isRight = versions.length <= 1 && version >= acknowledged && version <= sent;
    if (!isRight)
      faults.push(`${own}: [${versions.join(', ')}], acknowledged ${acknowledged} of ${sent}`);
  }
  faults.push(...(await loads.faults(base, stored)), ...(await onceFaults(base)));
  return [...faults, ...reads.faults(), ...(await streams.faults(stored))];
}

async function versionsOf(base: string, symbol: string): Promise<readonly number[]> {
  const text = await fetchText(base, 'GET', `/data/WS/K/${symbol}?range=max`);
  return (JSON.parse(text) as readonly { readonly v: number }[]).map(({ v }) => v);
}
