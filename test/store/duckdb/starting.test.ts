// A slow start of a query process does not count against a caller's time limit, and is reported as the
// server's own fault.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { DuckDbPool } from '../../../store/duckdb/pool.ts';
import { createProcesses } from '../../../store/duckdb/slot.ts';

const slowly = createProcesses(new URL('./slowChild.ts', import.meta.url));

test('a query whose process starts slower than its time limit is answered', async () => {
  const limits = { children: 1, memoryBytes: 128 * 1024 ** 2, threads: 1 };
  const pool = new DuckDbPool({ ...limits, processes: slowly });
  try {
    assert.equal(pool.isStarting, false);
    pool.warm();
    assert.equal(pool.isStarting, true);
    const ask = pool.rows({ files: [], statements: ['SELECT 1 AS n'], deadlineMs: 500 });
    assert.deepEqual(await ask, [[{ n: 1 }]]);
    assert.equal(pool.isStarting, false);
    // Once it has started, the limit holds from the beginning.
    const slow =
      'SELECT count(*) FROM range(100000000000) t(a), range(10) u(b) WHERE a * b % 7 = 3';
    await assert.rejects(pool.rows({ files: [], statements: [slow], deadlineMs: 200 }), {
      type: 'TimedOut',
    });
  } finally {
    await pool.close();
  }
});
