import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, test } from 'vitest';
import { DuckDbPool } from '../../../store/duckdb/pool.ts';

const pool = new DuckDbPool({ children: 1, memoryBytes: 512 * 1024 ** 2, threads: 1 });
afterAll(() => pool.close());

const ask = { files: [], deadlineMs: 60_000 };
const NULLS = 7;
const ROWS = 150_001;

test('several batches hold every record in its place, nulls and long texts too', async () => {
  const sql = `SELECT i AS n, CASE WHEN i % ${NULLS} = 0 THEN NULL ELSE i * 0.5::DOUBLE END AS half,
    CASE WHEN i % ${NULLS} = 1 THEN NULL ELSE repeat('é', CAST(i % 20 AS INTEGER)) END AS note,
    CASE WHEN i % ${NULLS} = 2 THEN NULL ELSE i % 3 = 0 END AS flag
    FROM range(${ROWS}) t(i) WHERE i % 5 <> 4`;
  const { objects, bytes } = await pool.body({ ...ask, statements: [sql] }, 'arrow');
  const table = tableFromIPC(bytes);
  assert.ok(table.batches.length > 1, `${table.batches.length} batches`);
  assert.equal(table.numRows, objects);
  let at = 0;
  for (let i = 0; i < ROWS; i += 1) {
    if (i % 5 === 4) continue;
    const row = { ...table.get(at)?.toJSON() };
    at += 1;
    const half = i % NULLS === 0 ? null : i / 2;
    const note = i % NULLS === 1 ? null : 'é'.repeat(i % 20);
    const flag = i % NULLS === 2 ? null : i % 3 === 0;
    if (i % 97 === 0) assert.deepEqual(row, { n: BigInt(i), half, note, flag });
  }
  assert.equal(at, objects);
});

test('the bytes under a null are not sent', async () => {
  const sql = `SELECT CASE WHEN i % 2 = 0 THEN NULL ELSE i END AS n,
    CASE WHEN i % 2 = 0 THEN NULL ELSE 'secret' || i END AS note FROM range(2000) t(i)`;
  const { bytes } = await pool.body({ ...ask, statements: [sql] }, 'arrow');
  const [numbers, notes] = tableFromIPC(bytes).batches[0]?.data.children ?? [];
  const values = [...((numbers?.values ?? []) as BigInt64Array)];
  assert.ok(values.every((value, at) => at % 2 === 1 || value === 0n));
  const text = Buffer.from(notes?.values as Uint8Array).toString();
  assert.equal(text.match(/secret/g)?.length, 1_000);
});

test('an answer over 64 MiB is refused in both binary formats', async () => {
  // Text that no compression makes smaller.
  const sql = `SELECT md5(CAST(i AS VARCHAR)) || md5(CAST(i + 1 AS VARCHAR)) AS note
    FROM range(4000000) t(i)`;
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-arrow-'));
  try {
    const question = { ...ask, statements: [sql] };
    await assert.rejects(pool.body(question, 'arrow'), { type: 'TooLarge' });
    await assert.rejects(pool.body({ ...question, folder }, 'parquet'), { type: 'TooLarge' });
  } finally {
    await rm(folder, { recursive: true });
  }
});
