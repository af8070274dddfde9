// A second thread runs where there may be work for it: the calling thread spins while it waits.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { DuckDbPool } from '../../../store/duckdb/pool.ts';

const FEW = 256 * 1024;

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tapedeck-threads-'));
  await writeFile(join(root, 'few'), Buffer.alloc(FEW));
  await writeFile(join(root, 'one'), 'a\n1\n');
  await writeFile(join(root, 'many'), Buffer.alloc(FEW + 1));
});
afterAll(() => rm(root, { recursive: true }));

const SETTING = `SELECT current_setting('threads')::INTEGER AS threads`;
const SPILL = { folder: '', bytes: 1024 ** 2 };

/** Returns the number of threads of a query that reads these files. */
type ThreadCounter = (names: readonly string[], folder?: string) => Promise<unknown>;

async function withPool(
  { spill, threads }: { readonly threads: number; readonly spill?: typeof SPILL },
  work: (countThreads: ThreadCounter) => Promise<void>,
): Promise<void> {
  const own = spill === undefined ? {} : { spill };
  const pool = new DuckDbPool({ children: 1, memoryBytes: 128 * 1024 ** 2, threads, ...own });
  const countThreads: ThreadCounter = async (names, folder) => {
    const files = names.map((name) => join(root, name));
    const where = folder === undefined ? {} : { folder };
    const rows = await pool.rows({ files, ...where, statements: [SETTING], deadlineMs: 20_000 });
    return rows[0]?.[0]?.['threads'];
  };
  await work(countThreads).finally(() => pool.close());
}

test('few bytes have one thread, and more have all', async () => {
  for (const more of [{}, { spill: { ...SPILL, folder: join(root, 'spill') } }]) {
    await withPool({ threads: 2, ...more }, async (countThreads) => {
      assert.equal(await countThreads(['few']), 1);
      assert.equal(await countThreads(['many']), 2);
      assert.equal(await countThreads(['few', 'one']), 2, 'together they are more');
      assert.equal(await countThreads(['nowhere']), 1);
      const names = Array.from({ length: 40 }, (_, at) => `nowhere ${at}`);
      assert.equal(await countThreads(names), 2, 'the sizes of so many files are not read');
    });
  }
});

test('files that a job has written count, on the same instance', async () => {
  const folder = join(root, 'job');
  await mkdir(folder);
  await withPool({ threads: 2 }, async (countThreads) => {
    assert.equal(await countThreads([], folder), 1);
    await writeFile(join(folder, 'records'), Buffer.alloc(FEW + 1));
    assert.equal(await countThreads([], folder), 2);
  });
});

test('no query gets more threads than the pool has', async () => {
  await withPool({ threads: 1 }, async (countThreads) =>
    assert.equal(await countThreads(['many']), 1),
  );
});
