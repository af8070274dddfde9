// Exports into a folder: every format contains the dataset, a killed export resumes as if it had not been
// killed, and nothing is written outside the allowed folder.
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { createWorkspace } from '../../../store/lake/datasetEdits.ts';
import { load, loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { killExport } from './exportKill.ts';
import { ask, lasting, readExport, recordsOf } from './exportReading.ts';

const RECORDS = 700;
let root = '';
/** A data folder with dataset P, which no server uses. */
let filled = '';
let places = 0;

const line = (at: number): string => {
  const day = `2024-${String(1 + (at % 12)).padStart(2, '0')}-${String(1 + (at % 28)).padStart(2, '0')}`;
  return JSON.stringify({
    symbol: `K${at % 37}`,
    kind: at % 3 === 0 ? 'é "q", \n' : `S${at % 5}`,
    date: day,
    n: at % 11 === 0 ? null : 9_007_199_254_740_000 + at,
    x: at % 13 === 0 ? null : at / 7,
    ok: at % 4 === 0 ? null : at % 2 === 0,
    at: `${day}T10:00:00.${String(at).padStart(3, '0')}Z`,
    doc: { a: [at, null, 'x'] },
    text: ['', null, 'a,b|c', '日本 🎉', ' spaced '][at % 5],
  });
};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tapedeck-exports-'));
  filled = join(root, 'filled');
  await using server = await startServer({ folder: filled });
  const index = { key: 'symbol', subkey: 'kind', date: 'date' };
  const lines = Array.from({ length: RECORDS }, (_, at) => line(at)).toReversed();
  await loaded(server, 'P', `${lines.slice(0, 400).join('\n')}\n`, index);
  await loaded(server, 'P', `${lines.slice(300).join('\n')}\n`, {
    duplicateKeyHandling: 'replace',
  });
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

interface World extends AsyncDisposable {
  readonly server: TestServer;
  /** The folder of exports. */
  readonly out: string;
  /** The data folder. */
  readonly folder: string;
}

/** A server on a copy of the filled folder, or on the folder of another world. */
async function open(existing?: { readonly folder: string; readonly out: string }): Promise<World> {
  places += 1;
  const folder = existing?.folder ?? join(root, `data-${places}`);
  const out = existing?.out ?? join(root, `out-${places}`);
  if (existing === undefined) {
    cpSync(filled, folder, { recursive: true });
    await mkdir(out);
  }
  const settings = { TAPEDECK_EXPORT_FOLDER: out };
  const server = await startServer({ folder, settings });
  return { server, out, folder, [Symbol.asyncDispose]: () => server.close() };
}

const toFolder = (path: string): object => ({ target: { type: 'FILE', path } });

/** Exports, expects success, and returns the folder. */
async function exported({ out, server }: World, path: string, what: object): Promise<string> {
  const body = { ...what, ...toFolder(path) };
  const { status, json } = await ask(server, 'POST', '/exports/WS?wait=true', body);
  assert.equal(status, 200, JSON.stringify(json));
  return join(out, path);
}

const WAYS = [
  { format: 'csv' },
  { format: 'csv', compression: 'gzip' },
  { format: 'csv', compression: 'zstd' },
  { format: 'jsonl' },
  { format: 'jsonl', compression: 'gzip' },
  { format: 'jsonl', compression: 'zstd' },
  { format: 'parquet' },
  { format: 'arrow' },
];
/** Selects all columns; integers above 2^53 are compared as text, since a reader would round them. */
const SQL =
  'SELECT symbol, kind, date, n, x, ok, `at`, doc, text FROM P ORDER BY symbol, kind, date';

describe('every format contains the dataset', () => {
  let world: World;
  beforeAll(async () => {
    world = await open();
  });
  afterAll(() => world[Symbol.asyncDispose]());
  for (const way of WAYS) {
    test(Object.values(way).join(' '), async () => {
      const place = Object.values(way).join('-');
      const dataset = { dataset: 'P', rowsPerFile: 100, ...way };
      const parts = await exported(world, `${place}/parts`, dataset);
      const whole = await exported(world, `${place}/whole`, { dataset: 'WS.P', ...way });
      const query = await exported(world, `${place}/query`, { query: SQL, ...way });
      const manifest = await readExport(parts);
      const { lake } = world.server.tapedeck.services;
      const { records = 0 } =
        (await lake.table(lake.directory.dataset('WS', 'P')?.tableId ?? 0)) ?? {};
      assert.equal(manifest.rows, records);
      assert.equal(manifest.parts.length, Math.ceil(records / 100));
      assert.equal(manifest.snapshot, lake.snapshot);
      assert.equal((await readExport(whole)).parts.length, 1);
      const cells = await recordsOf(parts);
      const answer = await ask(world.server, 'POST', '/sql-query/WS', { query: SQL });
      const rows = answer.json as unknown as readonly Readonly<Record<string, unknown>>[];
      assert.deepEqual(cells, rows.map(valuesOf), 'as the SQL endpoint returns it');
      assert.deepEqual(await recordsOf(whole), cells);
      assert.deepEqual(await recordsOf(query), cells);
      const packed = { none: '', gzip: '.gz', zstd: '.zst' }[way.compression ?? 'none'];
      const ending = way.format === 'arrow' ? 'arrows' : way.format;
      assert.equal(manifest.parts[0]?.name, `part-00001.${ending}${packed}`);
    });
  }
});

/** The values of a record as `recordsOf` returns them. */
const valuesOf = (record: Readonly<Record<string, unknown>>): readonly unknown[] =>
  Object.entries(record).map(([name, value]) => {
    if (name === 'n' && value !== null) return String(value);
    return name === 'doc' ? JSON.stringify(value) : value;
  });

test('a dataset without an index is exported in the order of its loads', async () => {
  await using world = await open();
  const csv = (from: number): string =>
    `v\n${Array.from({ length: 50 }, (_, at) => (from + at) % 30).join('\n')}\n`;
  await loaded(world.server, 'LOOSE', csv(7));
  await loaded(world.server, 'LOOSE', csv(11));
  const folder = await exported(world, 'loose', {
    dataset: 'loose',
    format: 'csv',
    rowsPerFile: 9,
  });
  const parts = (await readExport(folder)).parts.map(({ name }) =>
    readFile(join(folder, name), 'utf8'),
  );
  const values = (await Promise.all(parts)).flatMap((text) => text.trim().split('\n').slice(1));
  const sent = [csv(7), csv(11)].flatMap((text) => text.trim().split('\n').slice(1));
  assert.deepEqual(values, sent);
});

test('records without a unique index are exported and loaded again, record for record', async () => {
  await using world = await open();
  const { server } = world;
  const lines = Array.from({ length: 60 }, (_, at) => {
    const key = at % 9 === 0 ? '' : `K${at % 5}`;
    return `${key},2024-01-0${1 + (at % 3)},${at % 4}`;
  });
  await loaded(server, 'TWICE', `symbol,date,v\n${[...lines, ...lines].join('\n')}\n`);
  const sent = await read(server, '/data/WS/TWICE?limit=500&format=csv');
  for (const [at, format] of (['csv', 'jsonl', 'parquet', 'arrow'] as const).entries()) {
    const folder = await exported(world, `twice-${format}`, { dataset: 'TWICE', format });
    const { parts, rows } = await readExport(folder);
    assert.equal(rows, 120, format);
    const body = await readFile(join(folder, parts[0]?.name ?? ''));
    const job = await loaded(server, `BACK${at}`, body);
    assert.deepEqual([job.recordsIngested, job.recordsDuplicate], [120, 0], format);
    const back = await read(server, `/data/WS/BACK${at}?limit=500&format=csv`);
    assert.equal(back, sent, format);
  }
});

test('an empty dataset is one part without records', async () => {
  await using world = await open();
  const schema = { properties: { symbol: { type: 'string' } }, required: ['symbol'] };
  const dataset = { datasetId: 'NONE', schema, columnMapping: { key: 'symbol' } };
  const answer = await ask(world.server, 'POST', '/datasets/WS', { dataset });
  assert.equal(answer.status, 200, JSON.stringify(answer.json));
  for (const format of ['csv', 'jsonl', 'parquet', 'arrow']) {
    const folder = await exported(world, format, { dataset: 'NONE', format });
    assert.deepEqual(await recordsOf(folder), []);
    assert.equal((await readExport(folder)).parts.length, 1);
  }
});

test('an export is one version: pushes before it are included, and asOf is an older version', async () => {
  await using world = await open();
  const { server } = world;
  const before = server.tapedeck.services.lake.snapshot;
  const record = { symbol: 'NEW', kind: 'S', date: '2024-01-01', x: 1.5 };
  const pushed = await ask(server, 'POST', '/record/WS/P', [record]);
  assert.equal(pushed.status, 200, JSON.stringify(pushed.json));
  const now = await exported(world, 'now', { dataset: 'P', format: 'csv' });
  const query = 'SELECT count(*) AS n FROM P';
  const counted = await exported(world, 'counted', { query, format: 'csv', asOf: before });
  const old = await exported(world, 'old', { dataset: 'P', format: 'csv', asOf: String(before) });
  const rows = (await readExport(now)).rows;
  assert.equal((await readExport(old)).rows, rows - 1);
  assert.equal((await readExport(old)).snapshot, before);
  assert.deepEqual(await recordsOf(counted), [[String(rows - 1)]]);
});

interface Killed {
  readonly exportId: string;
  readonly folder: string;
  readonly out: string;
}

/** Starts a server that exports P and is killed at the point. */
async function killedAt(point: string, passes: number, what: object): Promise<Killed> {
  places += 1;
  const [folder, out] = [join(root, `data-${places}`), join(root, `out-${places}`)];
  cpSync(filled, folder, { recursive: true });
  await mkdir(out);
  const body = { ...what, ...toFolder('a/b') };
  const exportId = await killExport({ folder, out, point, passes, body });
  return { exportId, folder, out };
}

const POINTS = [
  ['export-part-made', 0],
  ['export-part-made', 3],
  ['export-part-sent', 1],
  ['export-part-kept', 2],
  ['export-finished', 0],
] as const;

describe('a killed export resumes, and equals one that was not killed', () => {
  for (const [format, points] of [
    ['csv', POINTS],
    ['parquet', POINTS.slice(1, 3)],
    ['jsonl', POINTS.slice(3, 4)],
    ['arrow', POINTS.slice(3, 4)],
  ] as const) {
    for (const [point, passes] of points) {
      const at = `${format} at ${point}, ${passes} before`;
      test(at, () => checkKilled({ dataset: 'P', format, rowsPerFile: 100 }, point, passes));
    }
  }
  for (const point of ['export-part-made', 'export-part-sent']) {
    test(`a query at ${point}`, () => checkKilled({ query: SQL, format: 'csv' }, point, 0));
  }
});

async function checkKilled(what: object, point: string, passes: number): Promise<void> {
  const killed = await killedAt(point, passes, what);
  const folder = join(killed.out, 'a/b');
  assert.equal(existsSync(join(folder, 'manifest.json')), point === 'export-finished');
  await using world = await open(killed);
  const { exports } = world.server.tapedeck.services;
  const { error, state } = await exports.ended(killed.exportId);
  assert.equal(state, 'DONE', String(error));
  assert.deepEqual(
    { ...lasting(await readExport(folder)), files: readdirSync(folder).sort() },
    await wholeOf(world, what),
  );
  assert.deepEqual(readdirSync(join(killed.folder, 'exports')), []);
}

/** Exports without a kill, created once: all data folders are copies of one. */
const wholes = new Map<string, Promise<object>>();

function wholeOf(world: World, what: object): Promise<object> {
  const key = JSON.stringify(what);
  const whole = wholes.get(key) ?? madeWhole(world, what);
  wholes.set(key, whole);
  return whole;
}

async function madeWhole(world: World, what: object): Promise<object> {
  const whole = await exported(world, 'whole', what);
  return { ...lasting(await readExport(whole)), files: readdirSync(whole).sort() };
}

test('a damaged part and a missing one are written again', async () => {
  const what = { dataset: 'P', format: 'jsonl', rowsPerFile: 100 };
  const killed = await killedAt('export-part-kept', 3, what);
  const folder = join(killed.out, 'a/b');
  await appendFile(join(folder, 'part-00001.jsonl'), '{}\n');
  await rm(join(folder, 'part-00003.jsonl'));
  await using world = await open(killed);
  const { exports } = world.server.tapedeck.services;
  assert.equal((await exports.ended(killed.exportId)).state, 'DONE');
  const whole = await exported(world, 'whole', what);
  assert.deepEqual(lasting(await readExport(folder)), lasting(await readExport(whole)));
  const log = JSON.stringify((await ask(world.server, 'GET', '/logs/WS')).json);
  for (const name of ['part-00001.jsonl', 'part-00003.jsonl']) {
    assert.match(log, new RegExp(`${name} is missing or was changed`));
  }
  assert.doesNotMatch(log, /part-00002\.jsonl is missing/);
});

/** Starts an export of many parts; returns its path below /v1. */
async function begun({ out, server }: World, path: string): Promise<string> {
  const body = { dataset: 'P', format: 'csv', rowsPerFile: 8, ...toFolder(path) };
  const { status, json } = await ask(server, 'POST', '/exports/WS', body);
  assert.equal(status, 200, JSON.stringify(json));
  while (!existsSync(join(out, path, 'part-00003.csv'))) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return `/exports/WS/${String(json['exportId'])}`;
}

test('a cancelled export has no manifest, and can be resumed', async () => {
  await using world = await open();
  const { server } = world;
  const url = await begun(world, 'c');
  const same = await ask(server, 'POST', '/exports/WS', {
    dataset: 'P',
    format: 'csv',
    ...toFolder('c'),
  });
  assert.equal(same.status, 409);
  assert.match(String(same.json['message']), /another export .* writes to the same target/);
  const early = await ask(server, 'POST', `${url}/resume`);
  assert.match(String(early.json['message']), /is RUNNING: it needs no resuming/);
  const cancelled = await ask(server, 'DELETE', url);
  assert.match(String(cancelled.json['message']), /has ended in CANCELLED/);
  const { json } = await ask(server, 'GET', url);
  assert.deepEqual([json['state'], json['manifest'], json['making']], ['CANCELLED', null, null]);
  assert.equal(existsSync(join(world.out, 'c/manifest.json')), false);
  assert.deepEqual(readdirSync(join(world.folder, 'exports')), []);
  assert.equal((await ask(server, 'DELETE', url)).status, 409);
  const done = (json['parts'] as readonly unknown[]).length;
  const resumed = await ask(server, 'POST', `${url}/resume?wait=true`);
  assert.equal(resumed.status, 200, JSON.stringify(resumed.json));
  const { parts } = await readExport(join(world.out, 'c'));
  assert.ok(done >= 3 && parts.length > done, `${done} of ${parts.length}`);
  assert.match(
    String((await ask(server, 'POST', `${url}/resume`)).json['message']),
    /is DONE: it needs no resuming/,
  );
});

test('one of several concurrent exports to one target succeeds', async () => {
  await using world = await open();
  const body = { dataset: 'P', format: 'csv', rowsPerFile: 50, ...toFolder('one') };
  const requests = Array.from({ length: 5 }, () => ask(world.server, 'POST', '/exports/WS', body));
  const statuses = (await Promise.all(requests)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, 409, 409, 409, 409]);
});

test('a cancelled query is interrupted', async () => {
  await using world = await open();
  const query = 'SELECT count(*) AS n FROM P a, P b, P c, P d WHERE a.x + b.x + c.x > d.x';
  const body = { query, format: 'csv', ...toFolder('q') };
  const { json } = await ask(world.server, 'POST', '/exports/WS', body);
  const url = `/exports/WS/${String(json['exportId'])}`;
  await new Promise((resolve) => setTimeout(resolve, 500));
  const started = performance.now();
  const cancelled = await ask(world.server, 'DELETE', url);
  assert.match(String(cancelled.json['message']), /CANCELLED/);
  assert.ok(performance.now() - started < 15_000);
  const { sql } = world.server.tapedeck.services;
  assert.equal(sql.pool.load().running, 0);
});

test('a purge ends a running export of the dataset', async () => {
  await using world = await open();
  const url = await begun(world, 'p');
  const purged = await ask(world.server, 'DELETE', '/data/WS/P/K1?purge=true');
  assert.equal(purged.status, 200, JSON.stringify(purged.json));
  const { exports } = world.server.tapedeck.services;
  const { error, state } = await exports.ended(url.split('/').at(-1) ?? '');
  assert.deepEqual([state, /has ended: export it anew/.test(String(error))], ['ERROR', true]);
  const again = await ask(world.server, 'POST', `${url}/resume?wait=true`);
  assert.match(String(again.json['message']), /has ended: export it anew/);
  assert.deepEqual(readdirSync(join(world.folder, 'exports')), []);
});

test('invalid exports are refused with the reason', async () => {
  await using world = await open();
  const { out, server } = world;
  await symlink(tmpdir(), join(out, 'away'));
  await symlink(join(out, 'nowhere', 'at', 'all'), join(out, 'dangling'));
  await mkdir(join(out, 'taken'));
  await writeFile(join(out, 'taken/manifest.json'), '{"somebody":"else"}');
  const file = (path: string): object => ({ dataset: 'P', format: 'csv', ...toFolder(path) });
  const s3 = (target: object): object => ({
    dataset: 'P',
    format: 'csv',
    target: { type: 'AWS-S3', awsbucketName: 'bucket', credentialId: 'CREDENTIAL_0', ...target },
  });
  const to = toFolder('x');
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ format: 'csv', ...to }, /exactly one of dataset and query/],
    [{ dataset: 'P', query: SQL, format: 'csv', ...to }, /exactly one of dataset and query/],
    [{ dataset: 'P', format: 'psv', ...to }, /format must be/],
    [{ dataset: 'P', format: 'arrow', compression: 'gzip', ...to }, /compression is of csv/],
    [{ query: SQL, format: 'csv', rowsPerFile: 5, ...to }, /rowsPerFile is of a dataset/],
    [{ dataset: 'NOPE', format: 'csv', ...to }, /dataset: there is no dataset WS\.NOPE/],
    [{ dataset: 'P', format: 'csv', asOf: 'soon', ...to }, /"asOf" must be/],
    [
      { dataset: 'P', format: 'csv', asOf: 99_999, ...to },
      /"asOf" must be a snapshot of this lake/,
    ],
    [{ query: 'SELECT nope FROM P', format: 'csv', ...to }, /query line 1.*nope/],
    [{ query: 'SELEC', format: 'csv', ...to }, /query line 1, column 1/],
    [file('../x'), /relative to TAPEDECK_EXPORT_FOLDER/],
    [file('/tmp/x'), /relative to TAPEDECK_EXPORT_FOLDER/],
    [file('a/./b'), /relative to TAPEDECK_EXPORT_FOLDER/],
    [file('a\\b'), /relative to TAPEDECK_EXPORT_FOLDER/],
    [file('a'.repeat(256)), /at most 255 bytes/],
    [file('away/x'), /leads out of TAPEDECK_EXPORT_FOLDER/],
    [file('dangling/x'), /a link to nowhere/],
    [file('taken'), /taken\/manifest\.json is there already/],
    [s3({}), /names no credential of type AWS-S3/],
    [s3({ path: 'x' }), /target\.path is no member/],
    [s3({ prefix: 'a/../b' }), /target\.prefix is such as/],
    [s3({ awsbucketName: 'a/b' }), /no name of a bucket/],
    [s3({ endpoint: 'http://127.0.0.1:9000' }), /not on the public Internet/],
    [s3({ endpoint: 'http://169.254.169.254' }), /not on the public Internet/],
  ];
  for (const [body, why] of refused) {
    const { status, json } = await ask(server, 'POST', '/exports/WS', body);
    assert.ok(status === 400 || status === 409, `${status} ${JSON.stringify(body)}`);
    assert.match(String(json['message']), why);
  }
  assert.deepEqual((await ask(server, 'GET', '/exports/WS')).json, []);
  assert.deepEqual(readdirSync(out).sort(), ['away', 'dangling', 'taken']);
});

test('data of other accounts are not exported', async () => {
  await using world = await open();
  const { accounts, lake } = world.server.tapedeck.services;
  const { accountId } = world.server.tapedeck;
  const other = await accounts.createAccount('other', 'scale');
  await createWorkspace(lake, 'OTHER', other, 0);
  await createWorkspace(lake, 'THEIRS', accountId, 0);
  const { text: secret } = await accounts.createToken(other, 'secret');
  const asker = { ...world.server, secret };
  for (const [name, token] of [
    ['CORE/X', world.server.secret],
    ['THEIRS/X', world.server.secret],
    ['OTHER/P', secret],
  ]) {
    const url = `${world.server.base}/v1/data/${name}?wait=true&token=${token}`;
    const response = await fetch(url, { method: 'POST', body: 'symbol,v\nA,1\n' });
    assert.equal(response.status, 200, await response.text());
  }
  const read = await ask(asker, 'GET', '/data/CORE/X/A');
  assert.equal(read.status, 200, 'it may be read, but not exported');
  for (const [what, why] of [
    [{ dataset: 'CORE.X' }, /CORE\.X is not of this account/],
    [{ query: 'SELECT * FROM CORE.X' }, /CORE\.X is not of this account/],
    [{ query: 'SELECT * FROM P, X' }, /CORE\.X is not of this account/],
    [{ dataset: 'THEIRS.X' }, /there is no dataset THEIRS\.X/],
    [{ query: 'SELECT * FROM THEIRS.X' }, /there is no dataset THEIRS\.X/],
    [{ dataset: '_SYSTEM.CALLS' }, /no dataset|not of this account/],
  ] as const) {
    const body = { ...what, format: 'csv', ...toFolder('x') };
    const { status, json } = await ask(asker, 'POST', '/exports/OTHER', body);
    assert.equal(status, 400);
    assert.match(String(json['message']), why);
  }
  const theirs = await ask(asker, 'GET', '/exports/THEIRS');
  assert.equal(theirs.status, 404);
});

test('an account exports into its own folder only', async () => {
  await using world = await open();
  const { out, server } = world;
  const { accounts, lake } = server.tapedeck.services;
  const other = await accounts.createAccount('other', 'scale');
  await createWorkspace(lake, 'OTHER', other, 0);
  const { text: secret } = await accounts.createToken(other, 'secret');
  const post = async (path: string, body: string): Promise<Response> =>
    fetch(`${server.base}/v1${path}?wait=true&token=${secret}`, { method: 'POST', body });
  assert.equal((await post('/data/OTHER/P', 'symbol,v\nA,1\n')).status, 200);
  const body = JSON.stringify({ dataset: 'P', format: 'csv', ...toFolder('x') });
  assert.equal((await post('/exports/OTHER', body)).status, 200);
  assert.equal((await readExport(join(out, other, 'x'))).rows, 1);
  const own = await exported(world, 'x', { dataset: 'P', format: 'csv' });
  assert.ok((await readExport(own)).rows > 1, 'the same path of the first account');
  for (const path of [`${other}/y`, `${other.toUpperCase()}/y`, other]) {
    const request = { dataset: 'P', format: 'csv', ...toFolder(path) };
    const { status, json } = await ask(server, 'POST', '/exports/WS', request);
    assert.equal(status, 400);
    assert.match(String(json['message']), /in the folder of another account/);
  }
  assert.deepEqual(readdirSync(join(out, other)), ['x']);
});

test('no file is written without a folder of exports, or with one in the data folder', async () => {
  await using none = await startServer();
  await load(none, 'P', 'symbol,v\nA,1\n');
  const body = { dataset: 'P', format: 'csv', ...toFolder('x') };
  const { json } = await ask(none, 'POST', '/exports/WS', body);
  assert.match(String(json['message']), /TAPEDECK_EXPORT_FOLDER is not set/);
  const folder = await mkdtemp(join(root, 'inner-'));
  await mkdir(join(folder, 'out'));
  const settings = { TAPEDECK_EXPORT_FOLDER: join(folder, 'out') };
  await using within = await startServer({ folder, settings });
  await load(within, 'P', 'symbol,v\nA,1\n');
  const refused = await ask(within, 'POST', '/exports/WS', body);
  assert.match(String(refused.json['message']), /is in the data folder/);
});
