// DuckDB children: the files they may read, and the handling of one that misbehaves.
import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { DuckDbPool } from '../../../store/duckdb/pool.ts';
import { ownProcesses } from '../../../store/duckdb/slot.ts';
import type { Failure } from '../../../store/base/failure.ts';

let folder = '';
let pool: DuckDbPool;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-pool-'));
  await writeFile(join(folder, 'mine.csv'), 'a\n1\n2\n');
  await writeFile(join(folder, 'other.csv'), 'a\nSECRET\n');
  await symlink(join(folder, 'other.csv'), join(folder, 'link.csv'));
  pool = new DuckDbPool({ children: 2, memoryBytes: 128 * 1024 ** 2, threads: 1 });
});
afterAll(async () => {
  await pool.close();
  await rm(folder, { recursive: true });
});

const ask = (sql: string, deadlineMs = 20_000): Promise<unknown> =>
  pool.rows({ files: [join(folder, 'mine.csv')], statements: [sql], deadlineMs });

const failure = async (promise: Promise<unknown>): Promise<Failure> =>
  promise.then(
    () => assert.fail('expected a failure'),
    (error: unknown) => error as Failure,
  );

test('only the files of the query can be read', async () => {
  assert.deepEqual(await ask(`SELECT sum(a) AS s FROM read_csv('${folder}/mine.csv')`), [
    [{ s: '3' }],
  ]);
  for (const path of [
    `${folder}/other.csv`,
    `${folder}/link.csv`,
    `${folder}/../${folder.split('/').at(-1)}/other.csv`,
    '/etc/passwd',
    '/proc/self/environ',
  ]) {
    const { message } = await failure(ask(`SELECT * FROM read_text('${path}')`));
    assert.match(message, /Permission Error/, path);
  }
});

test('a pool that is closed twice ends each process once', async () => {
  const ends: unknown[] = [];
  const end: typeof ownProcesses.end = (child, isIdle) => {
    ends.push(child);
    return ownProcesses.end(child, isIdle);
  };
  const memory = { memoryBytes: 128 * 1024 ** 2, threads: 1 };
  const own = new DuckDbPool({ children: 1, ...memory, processes: { ...ownProcesses, end } });
  await own.rows({ files: [], statements: ['SELECT 1 AS one'], deadlineMs: 20_000 });
  await Promise.all([own.close(), own.close()]);
  await own.close();
  assert.equal(ends.length, 1);
});

test('a process that was started ahead answers the next query', async () => {
  let starts = 0;
  const start = (niceness: number): ReturnType<typeof ownProcesses.start> => {
    starts += 1;
    return ownProcesses.start(niceness);
  };
  const memory = { memoryBytes: 128 * 1024 ** 2, threads: 1 };
  const own = new DuckDbPool({ children: 2, ...memory, processes: { ...ownProcesses, start } });
  const question = { files: [], statements: ['SELECT 1 AS one'], deadlineMs: 20_000 };
  own.startOne();
  own.startOne();
  assert.equal(starts, 1);
  await Promise.all([own.rows(question), own.forAccount('other').rows(question)]);
  own.startOne();
  assert.equal(starts, 2, 'two concurrent ones, and one of them is free again');
  await own.close();
  own.startOne();
  assert.equal(starts, 2);
});

test('by folder: files beside those of the query, and nothing else', async () => {
  const wide = new DuckDbPool({
    children: 1,
    memoryBytes: 128 * 1024 ** 2,
    threads: 1,
    byFolder: true,
  });
  const read = (path: string): Promise<unknown> => {
    const statements = [`SELECT count(*) AS n FROM read_text('${path}')`];
    return wide.rows({ files: [join(folder, 'mine.csv')], statements, deadlineMs: 20_000 });
  };
  try {
    assert.deepEqual(await read(`${folder}/other.csv`), [[{ n: '1' }]]);
    for (const path of [`${folder}/../none`, `${folder}x`, '/etc/passwd']) {
      assert.match((await failure(read(path))).message, /Permission Error/, path);
    }
  } finally {
    await wide.close();
  }
});

const REFUSED = [
  `SET memory_limit = '10GB'`,
  `SET lock_configuration = false`,
  `INSTALL httpfs`,
  `ATTACH '${tmpdir()}/x.db'`,
  `COPY (SELECT 1) TO '${tmpdir()}/tapedeck-escape.csv'`,
];
for (const sql of REFUSED) {
  test(`locked: ${sql.slice(0, 30)}`, async () => {
    assert.match((await failure(ask(sql))).message, /Permission Error|locked|disabled|Cannot/);
  });
}

test('statements behind a count of zero are not run, and have no rows', async () => {
  const asking = (count: number): Promise<unknown> =>
    pool.rows({
      files: [],
      statements: [`SELECT 7 AS a`, `SELECT ${count} AS n`, `SELECT 8 AS b`, `SELECT error('ran')`],
      endsAt: 1,
      deadlineMs: 20_000,
    });
  assert.deepEqual(await asking(0), [[{ a: 7 }], [{ n: 0 }], [], []]);
  assert.match((await failure(asking(2))).message, /ran/);
});

test('a statement past its deadline is interrupted; its child goes on', async () => {
  const slow = 'SELECT count(*) FROM range(100000000000) t(a), range(10) u(b) WHERE a * b % 7 = 3';
  const late = await failure(ask(slow, 200));
  assert.equal(late.type, 'TimedOut');
  assert.match(late.message, /200 ms time limit/);
  assert.deepEqual(await ask('SELECT 1 AS one'), [[{ one: 1 }]]);
});

test('a cancelled query ends its statement', async () => {
  const controller = new AbortController();
  const slow = 'SELECT count(*) FROM range(100000000000) t(a), range(10) u(b) WHERE a * b % 7 = 3';
  const question = { files: [], statements: [slow], deadlineMs: 60_000, signal: controller.signal };
  const outcome = failure(pool.rows(question));
  setTimeout(() => controller.abort(), 100);
  assert.equal((await outcome).type, 'TimedOut');
});

test('a child beyond its memory is killed; others are served, and so is the next query', async () => {
  const greedy = failure(ask(`SELECT length(repeat('x', 3000000000))`));
  const other = ask('SELECT 2 AS two');
  assert.equal((await greedy).type, 'TooLarge');
  assert.deepEqual(await other, [[{ two: 2 }]]);
  assert.deepEqual(await ask('SELECT 3 AS three'), [[{ three: 3 }]]);
});

test('many concurrent queries wait for their turn', async () => {
  const requests = Array.from({ length: 100 }, (_, at) => ask(`SELECT ${at} AS n`));
  const answers = (await Promise.all(requests)) as { n: number }[][][];
  assert.deepEqual(
    answers.map((answer) => answer[0]?.[0]?.n),
    Array.from({ length: 100 }, (_, at) => at),
  );
});

test('an interrupted answer is dropped, with any number of rows', async () => {
  const slow = { files: [], statements: ['SELECT i FROM range(40_000_000) t(i)'], deadlineMs: 100 };
  for (const format of ['jsonl', 'arrow'] as const) {
    const { type, message } = await failure(pool.body(slow, format));
    assert.equal(type, 'TimedOut', `${format}: ${message}`);
  }
  const { type } = await failure(pool.pages(slow, 1));
  assert.equal(type, 'TimedOut');
});
