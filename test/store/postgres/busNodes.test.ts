// Three services by three settings: PostgreSQL has the catalog, a bucket the files, NATS the stream messages.
// The node that serves ends during a load, pushes and streams; the next one goes on with all of it.
import assert from 'node:assert/strict';
import { afterAll, test } from 'vitest';
import { fetchText, DATED, headers, served, TOKENS } from '../../soak/crash/rounds/killable.ts';
import { endOf } from '../../soak/crash/nodes/nodeLoads.ts';
import { type Node, nodesOver, ready } from '../../soak/crash/nodes/nodes.ts';
import { type GoingReader, goingReader } from '../../soak/crash/rounds/streamReader.ts';
import { until } from '../../api/streams/listening.ts';
import { note } from '../../base/notes.ts';
import { startNats } from '../../base/servers/nats.ts';
import { startSwift } from '../../base/servers/swift.ts';
import { lakeInBucket } from '../bucket/lakeInBucket.ts';
import { postgresHere } from './postgresHere.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
const [postgres, swift, nats] = await Promise.all([postgresHere(), startSwift(), startNats()]);
for (const one of [postgres, swift, nats]) if (one !== undefined) stack.use(one);
const isHere = postgres !== undefined && swift !== undefined && nats !== undefined;
if (!isHere) assert.notEqual(process.env['CI'], 'true', 'a service is not here');

const STREAM = '/stream/WS/K?nosnapshot=true';
const dayOf = (n: number): string => new Date(n * 86_400_000).toISOString().slice(0, 10);

/** The pushes through one node until it ends, and their cost as its answers reported it. */
interface Pushed {
  readonly acknowledged: number[];
  messages: number;
}

async function pushing(
  { base }: Node,
  next: () => number,
  pushed: Pushed,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const n = next();
    const body = JSON.stringify([{ symbol: 'P', day: dayOf(n), v: n }]);
    const answer = await fetch(`${base}/v1/record/WS/K`, { method: 'POST', headers, body });
    pushed.messages += Number(answer.headers.get('svccloud-messages-used') ?? 0);
    await answer.arrayBuffer();
    if (answer.status === 200) pushed.acknowledged.push(n);
  }
}

const usage = async (base: string): Promise<number> => {
  const { messages } = JSON.parse(await fetchText(base, 'GET', '/account/usage')) as {
    readonly messages: { readonly keyUsage: Readonly<Record<string, number>> };
  };
  return messages.keyUsage['WS.K'] ?? 0;
};

const valuesOf = (messages: readonly string[]): readonly number[] =>
  messages.map((json) => (JSON.parse(json) as readonly { readonly v: number }[])[0]?.v ?? -1);

/** Read together with a push, more than 10,000 would be reported as `more`. */
const LOAD_LINES = 6_000;
/** Days before those of pushes: messages of the load are distinct from those of pushes. */
const loadOf = (from: number): string =>
  `symbol,day,v\n${Array.from({ length: LOAD_LINES }, (_, at) => `L${from + at},1960-01-01,0`).join('\n')}\n`;

interface Pair {
  readonly serving: Node;
  readonly other: Node;
}

const readersAt = ({ base }: Node): readonly GoingReader[] =>
  ['', '&keys=P'].map((keys) =>
    goingReader({ path: `${STREAM}${keys}`, token: TOKENS.publishable, base: () => base }),
  );

/** Pushes, a load and streams through the other node, while the one that serves ends. */
async function ending(
  { other, serving }: Pair,
  signal: NodeJS.Signals,
  next: () => number,
): Promise<{ readonly pushed: Pushed; readonly readers: readonly GoingReader[] }> {
  const readers = readersAt(other);
  for (const reader of readers) stack.defer(() => reader.end());
  await until(() => readers.every(({ isOpen }) => isOpen()));
  const pushed: Pushed = { acknowledged: [], messages: 0 };
  let isOver = false;
  const running = pushing(other, next, pushed, () => isOver);
  const many = async (count: number): Promise<void> => {
    const least = pushed.acknowledged.length + count;
    await until(() => pushed.acknowledged.length >= least);
  };
  await many(20);
  const jobText = await fetchText(other.base, 'POST', '/data/WS/K', loadOf(next() * LOAD_LINES));
  const { jobId } = JSON.parse(jobText) as { readonly jobId: string };
  await many(1);
  await serving.serving.kill(signal);
  await served(other.serving);
  await many(20);
  isOver = true;
  await running;
  assert.equal(await endOf(other.base, jobId), 'INGESTED');
  return { pushed, readers };
}

/** Each acknowledged push arrived, once, in its order. */
async function judge(reader: GoingReader, acknowledged: readonly number[]): Promise<void> {
  const last = acknowledged.at(-1) ?? 0;
  await until(() => valuesOf(reader.messages).includes(last));
  const streamValues = valuesOf(reader.messages).filter((v) => v > 0);
  const set = new Set(streamValues);
  const missing = acknowledged.filter((v) => !set.has(v));
  assert.deepEqual(missing, [], 'each acknowledged push is delivered');
  assert.deepEqual(
    streamValues,
    [...set].toSorted((one, two) => one - two),
    'once, in its order',
  );
  assert.deepEqual(reader.gaps, [], 'nothing is missing');
  await reader.end();
}

test.skipIf(!isHere)(
  'two nodes, one ends during a load and a stream: nothing is lost, and the bill is exact',
  async (context) => {
    assert.ok(postgres && swift && nats);
    const lake = stack.use(await lakeInBucket(swift));
    const own = { TAPEDECK_DATABASE: postgres.url('bus'), TAPEDECK_BUS: nats.url };
    const nodes = stack.use(nodesOver({ ...lake.settings, ...own }));
    let serving = await nodes.start();
    await served(serving.serving);
    await fetchText(serving.base, 'POST', '/workspaces', '{"name":"WS"}');
    await fetchText(serving.base, 'POST', '/datasets/WS', JSON.stringify({ dataset: DATED }));
    let n = 0;
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const other = await nodes.start();
      await ready(other);
      const before = await usage(other.base);
      const { pushed, readers } = await ending({ serving, other }, signal, () => (n += 1));
      for (const reader of readers) await judge(reader, pushed.acknowledged);
      const heard = readers.reduce((sum, { messages }) => sum + messages.length, 0);
      const begun = readers.map((reader) => reader.begun()).join(' and ');
      note(context, `${signal}: ${heard} messages, streams begun ${begun} times`);
      const bill = async (): Promise<number> => (await usage(other.base)) - before;
      const deliveredCount = pushed.messages + heard;
      // Messages that a killed server sent since its last settlement were free.
      if (signal === 'SIGTERM') await until(async () => (await bill()) === deliveredCount);
      else assert.ok((await bill()) <= deliveredCount);
      serving = other;
    }
  },
  180_000,
);
