// The serving node also uses the query processes of the other nodes: they return the same answers as its
// own, and no caller notices when they stop.
import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { until } from '../../api/streams/listening.ts';
import { fetchText, DATED, served, TOKENS } from '../../soak/crash/rounds/killable.ts';
import { type Node, type Nodes, nodesOver, ready } from '../../soak/crash/nodes/nodes.ts';
import { VERSION } from '../../../store/base/version.ts';
import { startSwift } from '../../base/servers/swift.ts';
import { lakeInBucket } from '../bucket/lakeInBucket.ts';
import { postgresHere } from './postgresHere.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
const [postgres, swift] = await Promise.all([postgresHere(), startSwift()]);
for (const one of [postgres, swift]) if (one !== undefined) stack.use(one);
const isHere = postgres !== undefined && swift !== undefined;
if (!isHere) assert.notEqual(process.env['CI'], 'true', 'a service is not here');

let nodes: Nodes;
let first: Node;
let second: Node;
let folder: string;
const KEYS = 60;
const DAYS = 400;

beforeAll(async () => {
  if (!isHere) return;
  const lake = stack.use(await lakeInBucket(swift));
  const own = { TAPEDECK_CHILDREN: '1', TAPEDECK_SQL_CHILDREN: '1' };
  folder = stack.adopt(mkdtempSync(join(tmpdir(), 'tapedeck-exports-')), (path) =>
    rmSync(path, { recursive: true }),
  );
  const memory = { TAPEDECK_CACHE_BYTES: '0', TAPEDECK_SQL_CACHE: '0' };
  const catalog = { TAPEDECK_DATABASE: postgres.url('lending') };
  nodes = stack.use(
    nodesOver({ ...lake.settings, ...catalog, ...own, ...memory, TAPEDECK_EXPORT_FOLDER: folder }),
  );
  first = await nodes.start();
  await served(first.serving);
  await fetchText(first.base, 'POST', '/workspaces', '{"name":"WS"}');
  await fetchText(first.base, 'POST', '/datasets/WS', JSON.stringify({ dataset: DATED }));
  await fetchText(first.base, 'POST', '/data/WS/K?wait=true', csv());
  second = await nodes.start();
  await ready(second);
  await until(async () => (await gauge('read_children_lent')) === 1);
  await until(async () => (await gauge('sql_children_lent')) === 1);
}, 60_000);

const dayOf = (n: number): string => new Date(n * 86_400_000).toISOString().slice(0, 10);

function csv(): string {
  const lines = ['symbol,day,v'];
  for (let key = 0; key < KEYS; key += 1) {
    for (let day = 0; day < DAYS; day += 1) lines.push(`K${key},${dayOf(day)},${key * DAYS + day}`);
  }
  return lines.join('\n');
}

async function gauge(name: string): Promise<number> {
  const answer = await fetch(`${first.base}/metrics`, { headers: { authorization: ADMIN } });
  return Number(new RegExp(`^tapedeck_${name} (\\d+)$`, 'm').exec(await answer.text())?.[1] ?? -1);
}

const ADMIN = 'Bearer ak_theSameOnAllNodes0123456789';

const read = async (key: number): Promise<void> => {
  const text = await fetchText(first.base, 'GET', `/data/WS/K/K${key}?limit=3&sort=asc`);
  const rows = JSON.parse(text) as readonly { readonly v: number }[];
  assert.deepEqual(
    rows.map(({ v }) => v),
    [0, 1, 2].map((day) => key * DAYS + day),
  );
};

const summed = async (key: number): Promise<void> => {
  const query = `SELECT sum(v) AS total FROM K WHERE symbol = 'K${key}' AND v >= ${key}`;
  const text = await fetchText(
    first.base,
    'GET',
    `/sql-query/WS?sqlQuery=${encodeURIComponent(query)}`,
  );
  const values = Array.from({ length: DAYS }, (_, day) => key * DAYS + day);
  const total = values.filter((v) => v >= key).reduce((sum, v) => sum + v, 0);
  assert.equal((JSON.parse(text) as readonly { readonly total: number }[])[0]?.total, total);
};

const all = (work: (key: number) => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: KEYS }, (_, key) => work(key)));

test.skipIf(!isHere)('reads and queries are answered by both', async () => {
  await until(async () => {
    await Promise.all([all(read), all(summed)]);
    const kinds = ['read_answers_lent', 'sql_answers_lent'];
    return (await Promise.all(kinds.map(gauge))).every((answers) => answers > 0);
  });
});

test.skipIf(!isHere)('a long answer of a remote process arrives whole', async () => {
  const query = 'SELECT symbol, day, v FROM K ORDER BY v';
  const path = `/sql-query/WS?format=csv&sqlQuery=${encodeURIComponent(query)}`;
  const before = await gauge('sql_answers_lent');
  const expected = csv().trimEnd();
  await until(async () => {
    const texts = await Promise.all([1, 2, 3, 4].map(() => fetchText(first.base, 'GET', path)));
    for (const text of texts) assert.equal(text.replaceAll('\r', '').trimEnd(), expected);
    return (await gauge('sql_answers_lent')) > before;
  });
});

interface Exported {
  readonly exportId: string;
  readonly state: string;
}

/** The files of an export, one after the other. */
async function exported(format: string): Promise<string> {
  const target = { type: 'FILE', path: `${format}-${exports.length}` };
  exports.push(target.path);
  const order = { dataset: 'K', format, rowsPerFile: 5_000, target };
  const exportText = await fetchText(first.base, 'POST', '/exports/WS', JSON.stringify(order));
  const { exportId } = JSON.parse(exportText) as Exported;
  await until(async () => {
    const { state } = JSON.parse(
      await fetchText(first.base, 'GET', `/exports/WS/${exportId}`),
    ) as Exported;
    assert.notEqual(state, 'ERROR');
    return state === 'DONE';
  });
  const files = globSync(join(folder, '**', target.path, 'part-*')).sort();
  assert.equal(files.length, Math.ceil((KEYS * DAYS) / 5_000));
  return files.map((path) => readFileSync(path, 'latin1')).join('');
}

const exports: string[] = [];

test.skipIf(!isHere)('parts of exports are written at the other node, unchanged', async () => {
  const parts = Math.ceil((KEYS * DAYS) / 5_000);
  await until(async () => (await gauge('ingest_children_lent')) === 1);
  const away = [await exported('csv'), await exported('parquet')];
  // The boundaries of the parts are queried there too.
  assert.equal(await gauge('ingest_answers_lent'), 2 * (parts + 1));
  await second.serving.kill('SIGKILL');
  await until(async () => (await gauge('ingest_children_lent')) === 0);
  assert.deepEqual([await exported('csv'), await exported('parquet')], away);
  const lines = away[0]?.replaceAll('\r', '').trimEnd().split('\n') ?? [];
  const records = lines.filter((line) => line !== 'symbol,day,v');
  assert.equal(records.length, KEYS * DAYS);
  second = await nodes.start();
  await ready(second);
  await until(async () => (await gauge('read_children_lent')) === 1);
});

test.skipIf(!isHere)('a large file is purged at the other node', async () => {
  const lines = ['symbol,day,v'];
  let random = 1;
  for (let n = 0; n < 400_000; n += 1) {
    random = (random * 48_271) % 2_147_483_647;
    lines.push(`P${n % 20},${dayOf(Math.floor(n / 20))},${random}`);
  }
  // It begins like the paths that the other node replaces by its own.
  const asPath = join(first.folder, 'lake', 'x');
  lines.push(`${asPath},${dayOf(0)},1`);
  const more = '?wait=true&key=symbol&date=day';
  await fetchText(first.base, 'POST', `/data/WS/P${more}`, lines.join('\n'));
  await until(async () => (await gauge('ingest_children_lent')) === 1);
  const before = await gauge('ingest_answers_lent');
  await fetchText(first.base, 'DELETE', '/data/WS/P/P3?purge=true');
  await fetchText(first.base, 'DELETE', `/data/WS/P/${encodeURIComponent(asPath)}?purge=true`);
  assert.equal(await gauge('ingest_answers_lent'), before + 2);
  const query = encodeURIComponent('SELECT count(*) AS n, count(DISTINCT symbol) AS keys FROM P');
  const text = await fetchText(first.base, 'GET', `/sql-query/WS?sqlQuery=${query}`);
  assert.deepEqual(JSON.parse(text), [{ n: 380_000, keys: 19 }]);
});

test.skipIf(!isHere)('a node with remote processes is killed: requests are repeated', async () => {
  let isOver = false;
  const asking = [read, summed].map(async (work) => {
    for (let key = 0; !isOver; key = (key + 1) % KEYS) {
      await Promise.all([work(key), work((key + 7) % KEYS), work((key + 13) % KEYS)]);
    }
  });
  const before = await gauge('read_answers_lent');
  await until(async () => (await gauge('read_answers_lent')) > before);
  await second.serving.kill('SIGKILL');
  await until(async () => (await gauge('read_children_lent')) === 0);
  await all(read);
  isOver = true;
  await Promise.all(asking);
});

/** The first line of the answer to such a request, or nothing. */
function upgraded(path: string, protocol: string, more = ''): Promise<string> {
  const { hostname, port } = new URL(first.base);
  const socket = createConnection({ host: hostname, port: Number(port) });
  const lines = [`GET ${path} HTTP/1.1`, `Host: ${hostname}`, 'Connection: Upgrade, close'];
  socket.write(`${[...lines, `Upgrade: ${protocol}`, more].filter(Boolean).join('\r\n')}\r\n\r\n`);
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text.split('\r\n')[0] ?? ''));
  });
}

test.skipIf(!isHere)('a connection is taken over from nodes alone', async () => {
  const path = `/v1/data/WS/K/K1?last=1&token=${TOKENS.publishable}`;
  assert.equal(await upgraded(path, 'h2c'), 'HTTP/1.1 200 OK', 'another upgrade is ignored');
  const forged = `tapedeck-hop: ${Date.now()} - ${'0'.repeat(64)}`;
  for (const way of ['lend/read', 'load', 'follow/node-1', 'follow/', 'follow/a%2Fb']) {
    for (const header of ['', forged]) {
      assert.equal(await upgraded(`/nodes/${VERSION}/${way}`, 'tapedeck-node', header), '');
    }
  }
  await read(1);
});
