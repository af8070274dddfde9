// A node that serves and one that answers reads beside it, over a real connection: a change waits until the
// other node has paused its reads, or its lease has ended.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, test } from 'vitest';
import { monotonicMs } from '../../../store/base/clock.ts';
import { encodeFrame, decodeFrames } from '../../../store/remote/frames.ts';
import { Followers } from '../../../store/replica/followers.ts';
import { ReplicaState } from '../../../store/replica/replicaState.ts';
import {
  type FromNode,
  type StateMessage,
  LEASE_MS,
  type ToNode,
} from '../../../store/replica/messages.ts';

const [K, L, LARGE] = [7, 8, 9];
/** 40 MB of them. */
const long = Array.from({ length: 40 }, (_, at) => ({
  sequence: at,
  index: '[]',
  replaces: false,
  timeMs: 0,
  document: { text: 'x'.repeat(1e6) },
}));
let server: Server;
let audience: Followers;
let isSure = true;
const open: (() => void)[] = [];

beforeEach(async () => {
  isSure = true;
  audience = new Followers({
    clockMs: monotonicMs,
    isSure: () => isSure,
    snapshot: () => 3,
    pending: (tableId) => ({ tableId, rows: tableId === LARGE ? long : [] }),
    lessor: {
      join: () => ({ take: () => undefined, left: () => undefined }),
      close: () => undefined,
    },
  });
  server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    audience.join('node', socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const close of open.splice(0)) close();
  server.close();
});

interface Node {
  readonly following: ReplicaState;
  readonly socket: Socket;
  readonly news: StateMessage['kind'][];
}

const portOf = (of: Server): number => (of.address() as AddressInfo).port;

async function join(port = portOf(server), watchedMax = 1_000): Promise<Node> {
  const socket = connect(port, '127.0.0.1');
  const news: StateMessage['kind'][] = [];
  const following = new ReplicaState({
    socket,
    clockMs: monotonicMs,
    lease: () => undefined,
    forgotten: () => undefined,
    watchedMax,
    apply: ({ kind }) => void news.push(kind),
  });
  open.push(() => following.close());
  assert.equal(await following.welcome, 3);
  return { following, socket, news };
}

async function until(isDone: () => boolean): Promise<void> {
  for (const endMs = Date.now() + 5_000; !isDone(); await sleep(2)) {
    assert.ok(Date.now() < endMs, 'the condition was not met');
  }
}

/** A proxy between the two: once it is cut, messages of the serving node are dropped. */
async function oneWay(): Promise<{ readonly port: number; readonly cut: () => void }> {
  const cuts: (() => void)[] = [];
  const between = createServer((from) => {
    const to = connect(portOf(server), '127.0.0.1');
    from.pipe(to).pipe(from);
    for (const socket of [from, to]) socket.on('error', () => undefined);
    cuts.push(() => void to.unpipe(from).resume());
  });
  open.push(() => void between.close());
  between.listen(0, '127.0.0.1');
  await once(between, 'listening');
  return { port: portOf(between), cut: () => cuts.forEach((cut) => cut()) };
}

/** A node that has received a table, and may answer. */
async function reader(tableId = K, port?: number): Promise<Node> {
  const node = await join(port);
  node.following.markReady();
  await until(() => node.following.isLiveFor(tableId));
  return node;
}

test('a pause without followers is a no-op', async () => {
  assert.equal(audience.pause(), undefined);
});

test('a node answers nothing before it has the current state, nor about an unknown table', async () => {
  const { following } = await join();
  await sleep(20);
  assert.equal(following.isLive(), false);
  following.markReady();
  assert.equal(following.isLive(), true);
  assert.equal(following.isLiveFor(K), false);
  await until(() => following.isLiveFor(K));
});

test('from the pause until it receives the change, a node does not answer about changed tables', async () => {
  const one = await reader();
  const other = await reader(L);
  const resume = await audience.pause([K]);
  assert.ok(resume !== undefined);
  assert.equal(one.following.isLiveFor(K), false);
  assert.equal(one.following.isLive(), true, 'about other tables it may');
  assert.equal(other.following.isLiveFor(L), true);
  audience.sendPushed([{ tableId: K, rows: [] }]);
  resume();
  await until(() => one.following.isLiveFor(K));
  assert.deepEqual(one.news, ['table', 'pushed']);
  assert.deepEqual(other.news, ['table']);
  const all = await audience.pause();
  assert.deepEqual([one.following.isLive(), other.following.isLive()], [false, false]);
  all?.();
  await until(() => one.following.isLive() && other.following.isLive());
});

test('of changes of tables that it does not read a node learns only that one happened', async () => {
  const socket = connect(portOf(server), '127.0.0.1');
  open.push(() => socket.destroy());
  const heard: string[] = [];
  void (async () => {
    for await (const message of decodeFrames(socket)) heard.push((message as ToNode).kind);
  })().catch(() => undefined);
  const say = (message: FromNode): void => void socket.write(encodeFrame(message));
  say({ kind: 'watch', tableId: L });
  await until(() => heard.includes('table'));
  for (const [tableId, expectedKinds] of [
    [K, []],
    [L, ['quiet', 'pushed', 'resume']],
  ] as const) {
    heard.length = 0;
    const resume = audience.pause([tableId]);
    say({ kind: 'confirm', id: tableId === K ? 1 : 2 });
    const goOn = await resume;
    audience.sendPushed([{ tableId, rows: [] }]);
    goOn?.();
    audience.sendAccountsChanged();
    await until(() => heard.includes('accounts'));
    assert.deepEqual(heard, [...expectedKinds, 'accounts']);
  }
});

test('a wait for a change ends with it; the state at a moment is reported by table', async () => {
  const { following } = await reader(K);
  following.isLiveFor(L);
  await until(() => following.isLiveFor(L));
  const before = following.captureMoment();
  assert.ok(before !== undefined);
  const resume = await audience.pause([K]);
  assert.equal(following.isChanging(), true);
  const during = following.captureMoment();
  assert.ok(during !== undefined);
  assert.deepEqual([following.stateAt(K, before), following.stateAt(L, before)], ['all', 'all']);
  assert.deepEqual(
    [following.stateAt(K, during), following.stateAt(L, during)],
    ['changing', 'all'],
  );
  assert.equal(following.stateAt(LARGE + 1, during), 'nothing', 'and requested');
  await until(() => following.stateAt(LARGE + 1, following.captureMoment() ?? during) === 'all');
  assert.equal(following.stateAt(LARGE + 1, during), 'nothing', 'it received the table later');
  let isOver = false;
  const waiting = following.waitForChange(5_000).then(() => (isOver = true));
  await sleep(20);
  assert.equal(isOver, false);
  resume?.();
  await waiting;
  assert.equal(following.isChanging(), false);
  const all = await audience.pause();
  assert.equal(following.captureMoment(), undefined);
  all?.();
});

test('a node that joins during a change is paused until the change ends', async () => {
  await reader();
  const [whole, some] = await Promise.all([audience.pause(), audience.pause([L])]);
  const late = await join();
  late.following.markReady();
  await sleep(50);
  assert.equal(late.following.isLive(), false);
  whole?.();
  await until(() => late.following.isLive());
  late.following.isLiveFor(L);
  await until(() => late.news.length === 1);
  assert.equal(late.following.isLiveFor(L), false);
  some?.();
  await until(() => late.following.isLiveFor(L));
});

test('a change waits for a node that does not confirm as long as that node may answer', async () => {
  const { cut, port } = await oneWay();
  const { following } = await reader(K, port);
  // It receives nothing any more, but still sends: its own clock ends its lease.
  cut();
  const beganMs = monotonicMs();
  const resume = await audience.pause([K]);
  assert.equal(following.isLive(), false);
  const tookMs = monotonicMs() - beganMs;
  assert.ok(tookMs > LEASE_MS / 4 && tookMs < 3 * LEASE_MS, `${tookMs} ms`);
  resume?.();
  await until(() => audience.size === 0);
});

test('a change does not wait for a disconnected node', async () => {
  const { socket } = await reader();
  const quieting = audience.pause([K]);
  socket.destroy();
  const beganMs = monotonicMs();
  (await quieting)?.();
  assert.ok(monotonicMs() - beganMs < LEASE_MS / 4);
  await until(() => audience.size === 0);
  assert.equal(audience.pause([K]), undefined);
});

test('a node without the confirmation that the other one still serves stops answering', async () => {
  const { following } = await reader();
  isSure = false;
  await until(() => !following.isLive());
  isSure = true;
  await until(() => following.isLive());
});

test('above the limit of tables of a node the least recently read are evicted', async () => {
  const { following } = await join(undefined, 50);
  following.markReady();
  for (let tableId = 101; tableId <= 150; tableId += 1) following.isLiveFor(tableId);
  await until(() => following.isLiveFor(150));
  assert.equal(following.isLiveFor(101), true, 'read again, it is the most recent');
  following.isLiveFor(151);
  await until(() => following.isLiveFor(151));
  assert.equal(following.isLiveFor(101), true);
  assert.equal(following.isLiveFor(102), false, 'and requested again');
  await until(() => following.isLiveFor(102));
});

test('a node does not receive a table with too much data, and goes on with the others', async () => {
  const { following, news } = await reader();
  following.isLiveFor(LARGE);
  await until(() => news.includes('forgotten'));
  assert.equal(following.isLiveFor(LARGE), false);
  assert.equal(following.isLiveFor(K), true);
  audience.sendPushed([{ tableId: K, rows: long }]);
  await until(() => !following.isLiveFor(K));
  const change = { snapshot: 4, timeMs: 0, tableIds: [L], touches: undefined, endsHistory: false };
  await reader(L);
  audience.sendChange({ ...change, touched: { datasets: new Set(), workspaces: new Set() } });
  await until(() => news.includes('changed'));
  assert.deepEqual(
    news.filter((kind) => kind === 'pushed'),
    [],
  );
});

test('nodes beyond the limit of 64 are refused', async () => {
  await Promise.all(Array.from({ length: 64 }, () => join()));
  const socket = connect(portOf(server), '127.0.0.1');
  await once(socket.resume(), 'close');
  assert.equal(audience.size, 64);
});

test('a closing server disconnects all nodes, and waits for none', async () => {
  const { following } = await reader();
  audience.close();
  await following.ended;
  assert.equal(following.isLive(), false);
  await until(() => audience.size === 0);
});
