// A query process over a socket: it returns the same answers as one of the pool's own, files in pieces, and
// after any fault of it the query is still answered.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { Agent, createServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import {
  followPath,
  isNodeUpgrade,
  workerPath,
  type WorkerKind,
  openNodeConnection,
  acceptNodes,
} from '../../../api/forward/nodeConnections.ts';
import { makeRenewedAgent } from '../../../api/forward/renewedAgent.ts';
import { DuckDbPool } from '../../../store/duckdb/pool.ts';
import { ownProcesses } from '../../../store/duckdb/slot.ts';
import { RemoteExecutor } from '../../../store/remote/remoteExecutor.ts';
import { encodeFrame } from '../../../store/remote/frames.ts';
import { serveExecutor } from '../../../store/remote/executorServer.ts';
import { literal } from '../../../store/duckdb/sqlText.ts';
import { monotonicMs } from '../../../store/base/clock.ts';
import { Followers } from '../../../store/replica/followers.ts';
import { ReplicaState } from '../../../store/replica/replicaState.ts';
import { until } from '../../api/streams/listening.ts';

const root = mkdtempSync(join(tmpdir(), "tapedeck-lent-it's-"));
const LAKE = join(root, 'lake') + sep;
const COPIES = join(root, 'copies') + sep;
const FILE = 'WS/D/a.parquet';
const ROWS = 300_000;
const key = 'ab'.repeat(32);
const leaving = new AbortController();
const sockets: Socket[] = [];
const audience = new Followers({
  clockMs: monotonicMs,
  isSure: () => true,
  snapshot: () => 5,
  pending: (tableId) => ({
    tableId,
    rows: [],
  }),
  lessor: {
    join: () => ({
      take: () => undefined,
      left: () => undefined,
    }),
    close: () => undefined,
  },
});
let pool: DuckDbPool;
/** It dispatches only queries that are marked to run anywhere. */
let parts: DuckDbPool;
let server: ReturnType<typeof createServer>;
let port = 0;
let cert = '';

beforeAll(async () => {
  const [keyFile, certFile] = [join(root, 'a.key'), join(root, 'a.crt')];
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const rest = ['-nodes', '-days', '2', '-subj', '/CN=a', '-keyout', keyFile, '-out', certFile];
  execFileSync('openssl', [...kind, ...rest], { stdio: 'ignore' });
  cert = readFileSync(certFile, 'utf8');
  const secrets = { cert, key: readFileSync(keyFile, 'utf8') };
  server = createServer({ ...secrets, shouldUpgradeCallback: isNodeUpgrade }, (_, answer) =>
    answer.end('ok'),
  );
  const spill = { folder: join(root, 'spill'), bytes: 1024 ** 3 };
  const limits = { children: 1, memoryBytes: 256 * 1024 ** 2, threads: 1, silentMs: 3_000 };
  pool = new DuckDbPool({ ...limits, spill, lake: LAKE });
  parts = new DuckDbPool({ ...limits, lake: LAKE, onlyDeclared: true });
  const addWorker = (kind: WorkerKind, socket: Socket): void =>
    (kind === 'ingest' ? parts : pool).addRemote(new RemoteExecutor(socket, LAKE));
  const follows = (nodeId: string, socket: Socket): void => audience.join(nodeId, socket);
  acceptNodes(
    server,
    { key, clock: Date.now },
    { onWorker: addWorker, onFollower: follows, onLoads: (socket) => void socket.destroy() },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  for (const lake of [LAKE, COPIES]) await mkdir(join(lake, 'WS/D'), { recursive: true });
  await writeParquet(LAKE, 'here');
  await writeParquet(COPIES, 'there');
}, 60_000);

/** Both machines have the file; here they differ, so that an answer shows which one was read. */
async function writeParquet(lake: string, place: string): Promise<void> {
  const maker = new DuckDbPool({ children: 1, memoryBytes: 256 * 1024 ** 2, threads: 1 });
  const path = join(lake, FILE).replaceAll("'", "''");
  const rows = `SELECT i AS v, '${place}' AS place FROM range(${ROWS}) AS t(i)`;
  const statements = [`COPY (${rows}) TO '${path}' (FORMAT parquet)`];
  await maker.rows({ files: [], folder: join(lake, 'WS/D'), statements, deadlineMs: 30_000 });
  await maker.close();
}

afterAll(async () => {
  leaving.abort();
  for (const socket of sockets) socket.destroy();
  await Promise.all([pool.close(), parts.close()]);
  server.close();
  rmSync(root, { recursive: true });
});

const target = () => ({
  id: 'a',
  url: new URL(`https://127.0.0.1:${port}`),
  proxyKey: key,
  agent: makeRenewedAgent(
    () =>
      new Agent({
        ca: cert,
        allowPartialTrustChain: true,
        checkServerIdentity: () => undefined,
      }),
  ),
});

async function connectWorker(kind: WorkerKind = 'sql'): Promise<Socket> {
  const socket = await openNodeConnection(
    target() as never,
    workerPath(kind),
    Date.now,
    leaving.signal,
  );
  sockets.push(socket);
  return socket;
}

/** A remote worker with all file copies. */
async function lending(kind?: WorkerKind): Promise<Socket> {
  const socket = await connectWorker(kind);
  const copies = { lake: COPIES, hold: async () => () => undefined };
  const folder = join(root, `process-${sockets.length}`);
  void serveExecutor({ socket, copies, folder, start: () => ownProcesses.start(0) });
  return socket;
}

const sqlOver = (columns: string): string =>
  `SELECT ${columns} FROM read_parquet('${join(LAKE, FILE).replaceAll("'", "''")}')`;

const asking = (columns: string) => ({
  files: [join(LAKE, FILE)],
  statements: [sqlOver(columns)],
  deadlineMs: 6e4,
});

/** While it runs, the pool's own processes have no place for another query. */
function busy(): { readonly end: () => Promise<void> } {
  const ending = new AbortController();
  const statements = ['SELECT sum(i) FROM range(100000000000) AS t(i)'];
  const question = { files: [], statements, deadlineMs: 60_000, signal: ending.signal };
  const running = pool.rows(question).then(
    () => undefined,
    () => undefined,
  );
  return {
    end: async () => {
      ending.abort();
      await running;
    },
  };
}

test('rows, bodies, and files in pieces are returned by the other machine', async () => {
  const own = busy();
  await lending();
  const [rows] = await pool.rows(asking('count(*)::INT AS n, any_value(place) AS place'));
  assert.deepEqual(rows, [{ n: ROWS, place: 'there' }]);
  const file = { name: 'body-1', bytesMax: 1024 ** 3 };
  const { objects, file: written } = await pool.body({ ...asking('v, place'), file }, 'csv');
  assert.equal(objects, ROWS);
  const text = readFileSync(written?.path ?? '', 'utf8');
  assert.equal(text.length, written?.length);
  assert.equal(text.trimEnd().split('\n').at(-1)?.trim(), `${ROWS - 1},there`);
  assert.equal(pool.load().answeredRemotely, 2);
  await own.end();
});

test('a query that may run anywhere is first dispatched there, with its folder', async () => {
  const socket = await lending('ingest');
  await until(() => parts.load().remote === 1);
  const folder = join(root, 'export');
  const file = { name: 'making-1', bytesMax: 1024 ** 3 };
  const question = { ...asking('v, place'), folder, file, canRunRemotely: true };
  const part = await parts.body(question, 'csv');
  assert.equal(part.objects, ROWS);
  assert.equal(part.file?.path, join(folder, 'making-1'));
  const written = readFileSync(join(folder, 'making-1'), 'utf8');
  assert.ok(written.trimEnd().endsWith(`${ROWS - 1},there`));
  // A query without the mark stays here, such as one over this machine's file.
  const [rows] = await parts.rows(asking('any_value(place) AS place'));
  assert.deepEqual(rows, [{ place: 'here' }]);
  assert.equal(parts.load().answeredRemotely, 1);
  socket.destroy();
  await until(() => parts.load().remote === 0);
});

test('a file that statements write there is returned, and none is left', async () => {
  const socket = await lending('ingest');
  await until(() => parts.load().remote === 1);
  const folder = join(root, 'writing');
  await mkdir(folder);
  const path = join(folder, 'made.parquet');
  const copy = (columns: string): string[] => [
    `COPY (${sqlOver(columns)}) TO ${literal(path)} (FORMAT parquet, RETURN_STATS)`,
  ];
  const question = { ...asking(''), folder, canRunRemotely: true, written: 'made.parquet' };
  const before = parts.load().answeredRemotely;
  const [[stats] = []] = await parts.rows({ ...question, statements: copy('v, place') });
  assert.equal(parts.load().answeredRemotely, before + 1);
  assert.equal(Number(stats?.['count']), ROWS);
  assert.equal(Number(stats?.['file_size_bytes']), statSync(path).size);
  const read = `SELECT any_value(place) AS place FROM read_parquet(${literal(path)})`;
  const [rows] = await parts.rows({ ...asking(''), files: [path], statements: [read] });
  assert.deepEqual(rows, [{ place: 'there' }]);
  await assert.rejects(parts.rows({ ...question, statements: copy('no_such_column') }), /no_such/);
  assert.deepEqual(globSync(join(root, 'process-*', '*')), []);
  socket.destroy();
  await until(() => parts.load().remote === 0);
});

test('a part whose node is lost in its middle is written here, and replaces the received bytes', async () => {
  const socket = await connectWorker('ingest');
  await until(() => parts.load().remote === 1);
  const folder = join(root, 'lost');
  const file = { name: 'making-1', bytesMax: 1024 ** 3 };
  const pendingBody = parts.body(
    { ...asking('v, place'), folder, file, canRunRemotely: true },
    'csv',
  );
  await once(socket, 'readable');
  // More than the whole part.
  const bytes = Buffer.alloc(10_000_000, 'x');
  socket.write(encodeFrame({ kind: 'piece', id: 0, bytes }));
  const path = join(folder, file.name);
  await until(() => existsSync(path) && statSync(path).size === bytes.length);
  socket.destroy();
  const { file: written, objects } = await pendingBody;
  assert.equal(objects, ROWS);
  const text = readFileSync(path, 'utf8');
  assert.equal(text.length, written?.length);
  assert.ok(text.trimEnd().endsWith(`${ROWS - 1},here`));
});

test('a query that fails there is run again here', async () => {
  const before = pool.load().answeredRemotely;
  const own = busy();
  const wrong = pool.rows(asking('no_such_column'));
  await until(() => pool.load().running === 1);
  await own.end();
  await assert.rejects(wrong, /no_such_column/);
  assert.equal(pool.load().answeredRemotely, before);
});

test('a message over the maximum length ends the connection', async () => {
  const socket = await connectWorker();
  await until(() => pool.load().remote > 0);
  const before = pool.load().remote;
  socket.write(Buffer.from([255, 255, 255, 255, 0]));
  await until(() => pool.load().remote === before - 1);
});

test('a worker that disconnects, or stays silent, is dropped', async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await until(() => pool.load().remote === 0);
  for (const end of [(socket: Socket): unknown => socket.destroy(), () => undefined]) {
    const own = busy();
    const socket = await connectWorker();
    await until(() => pool.load().remote === 1);
    const pendingRows = pool.rows(asking('any_value(place) AS place'));
    await once(socket, 'readable');
    end(socket);
    await until(() => pool.load().remote === 0);
    await own.end();
    assert.deepEqual(await pendingRows, [[{ place: 'here' }]]);
  }
});

test('a copy that can not be fetched is no failure', async () => {
  const socket = await connectWorker();
  const hold = async (): Promise<never> => {
    throw new Error('not there');
  };
  void serveExecutor({
    socket,
    copies: {
      lake: COPIES,
      hold,
    },
    folder: join(root, 'none'),
    start: () => ownProcesses.start(0),
  });
  await until(() => pool.load().remote === 1);
  const own = busy();
  const pendingRows = pool.rows(asking('any_value(place) AS place'));
  await until(() => pool.load().waiting === 1);
  await own.end();
  assert.deepEqual(await pendingRows, [[{ place: 'here' }]]);
});

test('a follower receives messages over TLS, with the pinned certificate, and the end', async () => {
  const path = followPath('node-1');
  const socket = await openNodeConnection(target() as never, path, Date.now, leaving.signal);
  const ignore = (): void => undefined;
  const parts = { socket, clockMs: monotonicMs, apply: ignore, lease: ignore, forgotten: ignore };
  const following = new ReplicaState(parts);
  assert.equal(await following.welcome, 5);
  following.markReady();
  await until(() => following.isLiveFor(7));
  const resume = await audience.pause([7]);
  assert.equal(following.isLiveFor(7), false);
  resume?.();
  await until(() => following.isLiveFor(7));
  audience.close();
  await following.ended;
  await until(() => audience.size === 0);
});
