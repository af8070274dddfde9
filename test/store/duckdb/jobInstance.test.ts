// Statements of a job, one after the other on a kept instance: none sees the objects of another one, and
// no statement of another job reads its files.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { DuckDbPool } from '../../../store/duckdb/pool.ts';

let root = '';
let pool: DuckDbPool;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tapedeck-jobs-'));
  for (const job of ['one', 'other']) {
    await mkdir(join(root, job));
    await writeFile(join(root, job, 'mine.csv'), `a\n${job}\n`);
  }
  pool = new DuckDbPool({ children: 1, memoryBytes: 128 * 1024 ** 2, threads: 1 });
});
afterAll(async () => {
  await pool.close();
  await rm(root, { recursive: true });
});

const ask = (
  job: string,
  statements: readonly string[],
  onProgress?: (percent: number) => void,
  from = pool,
): Promise<unknown> =>
  from.rows({
    files: [],
    folder: join(root, job),
    statements,
    deadlineMs: 20_000,
    ...(onProgress === undefined ? {} : { onProgress }),
  });
const read = (job: string): string => `SELECT a FROM read_csv('${join(root, job)}/mine.csv')`;

const HERE = 'SELECT count(*)::INTEGER AS n FROM duckdb_tables()';

test('the temporary table of a statement is gone for the next one, with progress or without', async () => {
  const make = 'CREATE TEMP TABLE t AS SELECT 1 AS a';
  for (const onProgress of [
    undefined,
    () => undefined,
    undefined,
    () => undefined,
    () => undefined,
  ]) {
    const rows = [[{ Count: '1' }], [{ n: 1 }]];
    assert.deepEqual(await ask('one', [make, HERE], onProgress), rows);
  }
});

// Making an instance takes more processor time than most statements of a small load.
test('the next statement of a job runs on the same instance, and reports its progress', async () => {
  let most = 0;
  const onProgress = (percent: number): void => void (most = Math.max(most, percent));
  const make = 'CREATE TABLE long AS SELECT r AS a FROM range(1000000) AS rows(r)';
  await ask('one', [make], onProgress);
  const count = 'SELECT count(DISTINCT md5(a::VARCHAR))::INTEGER AS n FROM long';
  assert.deepEqual(await ask('one', [count], onProgress), [[{ n: 1_000_000 }]]);
  assert.ok(most > 0 && most < 100, `${most} %`);
  await assert.rejects(ask('other', [count]), /long does not exist/);
});

test('a job reads its own files, and those of another one neither before nor after it', async () => {
  for (const [job, foreign] of [
    ['one', 'other'],
    ['other', 'one'],
    ['one', 'other'],
  ] as const) {
    assert.deepEqual(await ask(job, [read(job)]), [[{ a: job }]]);
    await assert.rejects(ask(job, [read(foreign)]), /Permission Error/);
    assert.deepEqual(await ask(job, [read(job)]), [[{ a: job }]]);
  }
});

test('a file that is written again under its name is read anew', async () => {
  const path = join(root, 'one', 'again.parquet');
  for (const value of [1, 2, 3]) {
    await ask('one', [`COPY (SELECT ${value} AS a) TO '${path}' (FORMAT parquet)`]);
    assert.deepEqual(await ask('one', [`SELECT a FROM '${path}'`]), [[{ a: value }]]);
  }
});

// DuckDB 1.5.5 mistakes a file of the same length and second for the one that it has read.
test('a file that is immediately replaced by another of its length is read anew', async () => {
  const path = join(root, 'one', 'same.parquet');
  const bodies: Buffer[] = [];
  for (let at = 0; at < 20; at += 1) {
    const columns = [1, 2, 3].map((n) => `${1_000 * at + n} + r AS c${10 + at}${n}`);
    const query = `SELECT ${columns.join(', ')} FROM range(40) AS rows(r)`;
    await ask('one', [`COPY (${query}) TO '${path}' (FORMAT parquet, COMPRESSION zstd)`]);
    bodies.push(await readFile(path));
  }
  for (const from of [pool, pool.forWorkspace([root])]) {
    for (let round = 0; round < 400; round += 1) {
      const at = (round * 7) % bodies.length;
      await writeFile(path, bodies[at] ?? '');
      const sum = `SELECT sum(c${10 + at}2)::INTEGER AS s FROM '${path}'`;
      const rows = [[{ s: 40_000 * at + 80 + 780 }]];
      assert.deepEqual(await ask('one', [sum], undefined, from), rows, `round ${round}`);
    }
  }
});

test('a statement that failed leaves nothing of it to the next one', async () => {
  await assert.rejects(ask('one', ['BEGIN TRANSACTION', 'SELECT 1 / nothing']), /nothing/);
  await assert.rejects(ask('one', ['SELECT 1', "SELECT error('no')"]), /no/);
  assert.deepEqual(await ask('one', [read('one')]), [[{ a: 'one' }]]);
});
