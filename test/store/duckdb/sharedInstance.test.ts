// Jobs of a workspace that touch few bytes share an instance: it reads and writes files of the workspace,
// and a statement that exceeds its memory is run on an instance that may spill.
import assert from 'node:assert/strict';
import { link, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test, vi } from 'vitest';
import { DuckDbPool } from '../../../store/duckdb/pool.ts';
import { blankInstance } from '../../../store/duckdb/instance.ts';
import { JobInstances } from '../../../store/duckdb/jobInstance.ts';

const WORKSPACES = ['WS', 'WS2', 'OTHER'] as const;
type Workspace = (typeof WORKSPACES)[number];

let root = '';
let pool: DuckDbPool;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tapedeck-shared-'));
  for (const workspace of WORKSPACES) {
    for (const job of ['one', 'other']) {
      await mkdir(folderOf(workspace, job), { recursive: true });
      await writeFile(join(folderOf(workspace, job), 'mine.csv'), `a\n${workspace} ${job}\n`);
    }
    await mkdir(join(root, 'lake', workspace, 'D'), { recursive: true });
    await writeFile(storedOf(workspace), `a\n${workspace}\n`);
  }
  await writeFile(join(root, 'body.csv'), 'a\nbody\n');
  pool = new DuckDbPool({ children: 1, memoryBytes: 64 * 1024 ** 2, threads: 2 });
});
afterAll(async () => {
  await pool.close();
  await rm(root, { recursive: true });
});

const folderOf = (workspace: Workspace, job: string): string => join(root, 'tmp', workspace, job);
const storedOf = (workspace: Workspace): string => join(root, 'lake', workspace, 'D', 'stored.csv');
const wallsOf = (workspace: Workspace): readonly string[] => [
  join(root, 'tmp', workspace),
  join(root, 'lake', workspace),
];

interface RequestOptions {
  readonly job?: string;
  readonly files?: readonly string[];
}

const ask = (
  workspace: Workspace,
  statement: string,
  { files = [], job = 'one' }: RequestOptions = {},
): Promise<unknown> =>
  pool.forWorkspace(wallsOf(workspace)).rows({
    files,
    folder: folderOf(workspace, job),
    statements: [statement],
    deadlineMs: 6e4,
  });
const read = (path: string): string => `SELECT a FROM read_csv('${path}')`;
const MARK = 'CREATE TABLE mark AS SELECT 1 AS a';
const MARKED = `SELECT count(*)::INTEGER AS n FROM duckdb_tables() WHERE table_name = 'mark'`;
const isMarked = async (workspace: Workspace, options?: RequestOptions): Promise<boolean> => {
  const [[row] = []] = (await ask(workspace, MARKED, options)) as { readonly n: number }[][];
  return row?.n === 1;
};

test('jobs of a workspace run on one instance, also with other workspaces in between', async () => {
  await ask('WS', MARK);
  assert.equal(await isMarked('WS', { job: 'other', files: [storedOf('WS')] }), true);
  for (const another of ['WS2', 'OTHER'] as const) assert.equal(await isMarked(another), false);
  assert.deepEqual(await ask('WS', read(storedOf('WS')), { job: 'other' }), [[{ a: 'WS' }]]);
  assert.equal(await isMarked('WS', { job: 'other' }), true);
});

test('nothing of another workspace is read or written, before or after its own jobs', async () => {
  for (const [own, foreign] of [
    ['WS', 'WS2'],
    ['WS2', 'WS'],
    ['OTHER', 'WS'],
    ['WS', 'OTHER'],
  ] as const) {
    const theirs = join(folderOf(foreign, 'one'), 'mine.csv');
    const around = join(folderOf(own, 'one'), '..', '..', foreign, 'one', 'mine.csv');
    const away = join(folderOf(own, 'one'), `to ${foreign}`);
    await symlink(folderOf(foreign, 'one'), away);
    const mine = read(join(folderOf(own, 'other'), 'mine.csv'));
    assert.deepEqual(await ask(own, mine), [[{ a: `${own} other` }]], 'of another job');
    const paths = [theirs, around, storedOf(foreign), join(away, 'mine.csv')];
    for (const path of [...paths, join(root, 'body.csv'), `${root}/tmp/*/one/mine.csv`]) {
      await assert.rejects(ask(own, read(path)), /Permission Error/, path);
      const copyPath = `${path}.made`;
      await assert.rejects(
        ask(own, `COPY (SELECT 1) TO '${copyPath}'`),
        /Permission Error/,
        copyPath,
      );
      await assert.rejects(stat(copyPath), /ENOENT/);
    }
    assert.deepEqual(await ask(own, mine), [[{ a: `${own} other` }]]);
    await assert.rejects(ask(own, `ATTACH '${join(root, 'tmp', own, 'x.db')}' AS x (TYPE sqlite)`));
    await assert.rejects(ask(own, `SET allowed_directories = ['${root}']`), /locked/);
  }
});

test('an outside file is read on an instance of the job, a link to it on the shared one', async () => {
  await ask('WS2', MARK);
  const body = join(root, 'body.csv');
  const files = [body];
  assert.deepEqual(await ask('WS2', read(body), { files }), [[{ a: 'body' }]]);
  assert.equal(await isMarked('WS2', { files }), false);
  const linked = join(root, 'tmp', 'WS2', 'linked');
  await link(body, linked);
  const options = { files: [linked], job: 'other' };
  assert.deepEqual(await ask('WS2', read(linked), options), [[{ a: 'body' }]]);
  assert.equal(await isMarked('WS2', options), true);
});

test('many bytes have an instance of their own, with all threads', async () => {
  const many = join(folderOf('OTHER', 'one'), 'many');
  await writeFile(many, Buffer.alloc(256 * 1024 + 1));
  const threads = `SELECT current_setting('threads')::INTEGER AS n`;
  const files = [many];
  assert.deepEqual(await ask('OTHER', threads, { files, job: 'other' }), [[{ n: 2 }]]);
  assert.deepEqual(await ask('OTHER', threads), [[{ n: 2 }]], 'the job has written it');
  await rm(many);
});

test('after a statement that failed the next one has a new instance', async () => {
  await ask('OTHER', 'CREATE OR REPLACE TABLE mark AS SELECT 1', { job: 'other' });
  await assert.rejects(ask('OTHER', `SELECT error('no')`, { job: 'other' }), /no/);
  assert.equal(await isMarked('OTHER', { job: 'other' }), false);
});

const TEXT = 'a text of many bytes, always the same';

/** Few bytes of Parquet that are 100 MB of texts. */
async function bomb(job: string): Promise<string> {
  const path = join(folderOf('WS', job), 'bomb.parquet');
  const rows = `SELECT '${TEXT}' AS a FROM range(1500000)`;
  await ask('WS', `COPY (${rows}) TO '${path}' (COMPRESSION zstd)`, { job });
  assert.ok((await stat(path)).size < 100_000);
  return path;
}

test('a statement that exceeds the memory ends as on its own instance: spilled', async () => {
  const path = await bomb('one');
  const copyPath = join(folderOf('WS', 'one'), 'made.parquet');
  const sorted = `SELECT a || row_number() OVER () AS a FROM '${path}' ORDER BY md5(a)`;
  const copy = `COPY (${sorted}) TO '${copyPath}' (COMPRESSION uncompressed)`;
  assert.deepEqual(await ask('WS', copy, { files: [path] }), [[{ Count: '1500000' }]]);
  // Counting distinct values takes more than that, where a busy machine runs one of the two threads.
  const number = `replace(a, '${TEXT}', '')::BIGINT`;
  const aggregates = `count(*)::INTEGER AS n, sum(${number})::BIGINT AS sum, max(${number}) AS most`;
  const sum = String((1_500_000 * 1_500_001) / 2);
  const numbered = await ask('WS', `SELECT ${aggregates} FROM '${copyPath}'`, {
    files: [copyPath],
  });
  assert.deepEqual(numbered, [[{ n: 1_500_000, sum, most: '1500000' }]]);
  assert.deepEqual((await readdir(folderOf('WS', 'one'))).filter(isOfDuckDb), []);
  assert.deepEqual((await readdir(join(root, 'tmp', 'WS'))).toSorted(), ['one', 'other']);
});

const isOfDuckDb = (name: string): boolean => name.includes('duckdb') || name.startsWith('tmp_');

test('or refused, with the same sentence', async () => {
  const path = await bomb('other');
  const list = `SELECT len(list(a || r)) FROM '${path}', range(4) AS rows(r)`;
  const query = { files: [path], folder: folderOf('WS', 'other'), statements: [list] };
  const readFailure = async (one: DuckDbPool): Promise<string> =>
    one.rows({ ...query, deadlineMs: 60_000 }).then(
      () => '',
      (error: unknown) => String(error).replace(/[\d.]+ \w+\b/g, 'n'),
    );
  const alone = await readFailure(pool);
  assert.match(alone, /Out of Memory Error/);
  assert.equal(await readFailure(pool.forWorkspace(wallsOf('WS'))), alone);
});

test('an instance is closed when it is idle, and when there are too many others', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    let createdCount = 0;
    let closedCount = 0;
    const blank = async (): ReturnType<typeof blankInstance> => {
      createdCount += 1;
      return blankInstance();
    };
    const jobs = new JobInstances({ blank, onNoneShared: () => (closedCount += 1) });
    const run = async (workspace: string): Promise<unknown> => {
      const walls = [join(root, 'many', workspace)];
      const folder = join(root, 'many', workspace, 'job');
      await mkdir(folder, { recursive: true });
      const scope = { files: [], folder, shared: walls, memoryBytes: 1024 ** 3, threads: 1 };
      return jobs.run(scope, async (connection) => (await connection.run('SELECT 1')).getRows());
    };
    for (const workspace of [...WORKSPACES, ...WORKSPACES]) await run(workspace);
    assert.equal(createdCount, 3, 'one for each workspace');
    vi.advanceTimersByTime(9_000);
    await run('WS');
    vi.advanceTimersByTime(9_000);
    assert.deepEqual([createdCount, closedCount, jobs.hasShared], [3, 0, true]);
    vi.advanceTimersByTime(1_000);
    assert.deepEqual([createdCount, closedCount, jobs.hasShared], [3, 1, false], 'none is left');
    for (let at = 0; at < 5; at += 1) await run(`W${at}`);
    await run('W4');
    assert.equal(createdCount, 8);
    await run('W0');
    assert.equal(createdCount, 9, 'the first of them was closed');
    vi.advanceTimersByTime(10_000);
    assert.equal(jobs.hasShared, false);
  } finally {
    vi.useRealTimers();
  }
});
