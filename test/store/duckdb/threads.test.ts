// A second thread runs where there may be work for it: the one that asks spins while it waits.
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

/** Answers how many threads a question has that reads these files. */
type Told = (names: readonly string[], folder?: string) => Promise<unknown>;

async function withPool(
  { spill, threads }: { readonly threads: number; readonly spill?: typeof SPILL },
  work: (told: Told) => Promise<void>,
): Promise<void> {
  const own = spill === undefined ? {} : { spill };
  const pool = new DuckDbPool({ children: 1, memoryBytes: 128 * 1024 ** 2, threads, ...own });
  const told: Told = async (names, folder) => {
    const files = names.map((name) => join(root, name));
    const where = folder === undefined ? {} : { folder };
    const rows = await pool.rows({ files, ...where, statements: [SETTING], deadlineMs: 20_000 });
    return rows[0]?.[0]?.['threads'];
  };
  await work(told).finally(() => pool.close());
}

test('few bytes have one thread, and more have all', async () => {
  for (const more of [{}, { spill: { ...SPILL, folder: join(root, 'spill') } }]) {
    await withPool({ threads: 2, ...more }, async (told) => {
      assert.equal(await told(['few']), 1);
      assert.equal(await told(['many']), 2);
      assert.equal(await told(['few', 'one']), 2, 'together they are more');
      assert.equal(await told(['nowhere']), 1);
      const names = Array.from({ length: 40 }, (_, at) => `nowhere ${at}`);
      assert.equal(await told(names), 2, 'nobody asks the size of so many');
    });
  }
});

test('what a job has written counts, on the instance that it goes on with', async () => {
  const folder = join(root, 'job');
  await mkdir(folder);
  await withPool({ threads: 2 }, async (told) => {
    assert.equal(await told([], folder), 1);
    await writeFile(join(folder, 'records'), Buffer.alloc(FEW + 1));
    assert.equal(await told([], folder), 2);
  });
});

test('nobody gets more than the pool has', async () => {
  await withPool({ threads: 1 }, async (told) => assert.equal(await told(['many']), 1));
});
