// Loads that are dispatched to another node, which is simulated here (real nodes:
// store/postgres/loads.test.ts).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, test } from 'vitest';
import { LoadDispatcher } from '../../jobs/remote/dispatcher.ts';
import type { FromWorker, ToWorker } from '../../jobs/remote/loadMessages.ts';
import { type LoadWork, type PublishedLoad, silentEvents } from '../../pipeline/conform/load.ts';
import { RejectedFailure } from '../../pipeline/merge/ingest.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import { encodeFrame, decodeFrames } from '../../store/remote/frames.ts';
import { until } from '../api/streams/listening.ts';

const BYTES = 600_000;
const stack = new AsyncDisposableStack();
let path: string;
let giver: LoadDispatcher;
const faults: unknown[] = [];
/** Notifications about more free slots. */
let more = 0;
const server = createServer((socket) => giver.join(socket));

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-elsewhere-'));
  stack.defer(() => rm(folder, { recursive: true }));
  path = join(folder, 'body');
  await writeFile(path, Buffer.alloc(BYTES, 'x'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => void server.close());
});
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  giver?.close();
  faults.length = 0;
  more = 0;
  giver = new LoadDispatcher({
    onFault: (reason) => faults.push(reason),
    onMore: () => (more += 1),
    nowMs: monotonicMs,
    silentMs: 400,
  });
});

interface Player {
  readonly socket: Socket;
  readonly heard: ToWorker[];
  say(message: FromWorker): void;
}

function heardOf(socket: Socket): ToWorker[] {
  const heard: ToWorker[] = [];
  void (async () => {
    for await (const message of decodeFrames(socket)) heard.push(message as ToWorker);
  })().catch(() => undefined);
  return heard;
}

/** A simulated node that sends the given messages. */
async function player(): Promise<Player> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  const heard = heardOf(socket);
  const say = (message: FromWorker): void => void socket.write(encodeFrame(message));
  say({ kind: 'hello', node: 'n' });
  await until(() => giver.slotCount > 0);
  return { socket, heard, say };
}

const OUTCOME = {
  validated: 1,
  ingested: 1,
  invalid: 0,
  quarantined: 0,
  duplicates: 0,
  rejects: [],
  notes: [],
};

interface LoadFixture {
  readonly work: LoadWork;
  readonly abort: (reason: unknown) => void;
  /** Resolves the commit of the load, which begins with `begun`. */
  readonly keeping: PromiseWithResolvers<void>;
  readonly begun: Promise<void>;
}

function createLoad(): LoadFixture {
  const ending = new AbortController();
  const [keeping, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const keep = (): Promise<void> => {
    begun.resolve();
    return keeping.promise;
  };
  const lake = { directory: { dataset: () => undefined } };
  const services = { lake, clock: () => 7, deadlineMs: 1_000, signal: ending.signal };
  const load = {
    path,
    workspace: 'WS',
    dataset: 'D',
    duplicates: 'ignore',
    rejectsMax: 0,
  } as const;
  const store = { create: () => assert.fail('nothing is created'), commit: keep };
  const work = { load, services, events: silentEvents, store } as unknown as LoadWork;
  return { work, keeping, begun: begun.promise, abort: (reason) => ending.abort(reason) };
}

/** Dispatches the load to the node once the node is free. */
async function dispatchLoad(
  { work }: LoadFixture,
  { heard }: Player,
): Promise<{ outcome: Promise<unknown> }> {
  let outcome: Promise<unknown> = Promise.resolve();
  await until(async () => {
    outcome = giver.work(work);
    outcome.catch(() => undefined);
    return (await Promise.race([outcome, sleep(20, 'given')])) === 'given';
  });
  await until(() => heard.some(({ kind }) => kind === 'whole'));
  return { outcome };
}

const LOAD = { edits: [], outcome: OUTCOME } as unknown as PublishedLoad;

test('a node that has not announced itself receives no loads', async () => {
  const joined = once(server, 'connection');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await joined;
  assert.deepEqual([giver.slotCount, more], [0, 0]);
  socket.write(encodeFrame({ kind: 'hello', node: 'n' } satisfies FromWorker));
  await until(() => giver.slotCount === 1);
  assert.equal(more, 1);
  await dispatchLoad(createLoad(), { socket, heard: heardOf(socket), say: () => undefined });
});

test('a node receives one load at a time, with its file, and the next one once it is free', async () => {
  const node = await player();
  const first = createLoad();
  const { outcome } = await dispatchLoad(first, node);
  assert.equal(await giver.work(createLoad().work), undefined, 'the next load runs locally');
  const bytes = node.heard.map((message) => (message.kind === 'piece' ? message.bytes.length : 0));
  assert.equal(
    bytes.reduce((sum, length) => sum + length, 0),
    BYTES,
  );
  node.say({ kind: 'ask', ask: 1, question: { of: 'keep', made: LOAD } });
  first.keeping.resolve();
  assert.deepEqual(await outcome, OUTCOME);
  assert.equal(await giver.work(createLoad().work), undefined, 'it is not free yet');
  node.say({ kind: 'free' });
  const second = await dispatchLoad(createLoad(), node);
  node.socket.destroy();
  assert.equal(await second.outcome, undefined, 'lost: it runs locally');
  assert.deepEqual([giver.finishedCount, faults], [1, []]);
});

test('an error of the file ends the load, and an error of the node does not', async () => {
  const node = await player();
  const rejected = { rejects: [{ line: 2, error: 'no day' }], invalid: 1 };
  const failure = { type: 'InvalidBody', detail: 'no record is valid', rejected } as const;
  const first = await dispatchLoad(createLoad(), node);
  node.say({ kind: 'failed', failure: failure });
  node.say({ kind: 'free' });
  await assert.rejects(first.outcome, (error) => {
    assert.ok(error instanceof RejectedFailure);
    assert.deepEqual(
      [error.detail, error.rejects, error.invalid],
      [failure.detail, rejected.rejects, 1],
    );
    return true;
  });
  assert.deepEqual(faults, []);
  node.heard.length = 0;
  const second = await dispatchLoad(createLoad(), node);
  node.say({ kind: 'failed', failure: { type: 'DiskFull', detail: 'the disk is full' } });
  assert.equal(await second.outcome, undefined);
  assert.match(String(faults[0]), /n: the disk is full/);
});

test('a cancelled load stops, unless it is being committed', async () => {
  const node = await player();
  const reason = new Failure('Conflict', 'the job was cancelled');
  const cancelled = createLoad();
  const { outcome } = await dispatchLoad(cancelled, node);
  cancelled.abort(reason);
  await assert.rejects(outcome, reason);
  await until(() => node.heard.at(-1)?.kind === 'stop');
  // Later messages about the cancelled load are ignored.
  node.say({ kind: 'ask', ask: 1, question: { of: 'keep', made: LOAD } });
  node.say({ kind: 'free' });
  node.heard.length = 0;
  const committingLoad = createLoad();
  const keeping = await dispatchLoad(committingLoad, node);
  node.say({ kind: 'ask', ask: 1, question: { of: 'keep', made: LOAD } });
  await committingLoad.begun;
  committingLoad.abort(reason);
  node.socket.destroy();
  committingLoad.keeping.resolve();
  assert.deepEqual(await keeping.outcome, OUTCOME);
});

test('a commit that fails fails the load', async () => {
  const node = await player();
  const first = createLoad();
  const { outcome } = await dispatchLoad(first, node);
  node.say({ kind: 'ask', ask: 1, question: { of: 'keep', made: LOAD } });
  await first.begun;
  first.keeping.reject(new Failure('Conflict', 'another one was faster'));
  await assert.rejects(outcome, /another one was faster/);
});

test('a node that is silent, or does not receive messages, is lost', async () => {
  const silent = await player();
  assert.equal(await (await dispatchLoad(createLoad(), silent)).outcome, undefined);
  assert.ok(silent.socket.closed || (await once(silent.socket, 'close')));
  const deaf = await player();
  const { outcome } = await dispatchLoad(createLoad(), deaf);
  const saying = setInterval(() => deaf.say({ kind: 'alive', heard: 1 }), 50);
  assert.equal(await outcome, undefined);
  clearInterval(saying);
});
