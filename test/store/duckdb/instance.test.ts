// What a locked DuckDB instance says to every connection, on a machine of another zone.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { lockedInstance } from '../../../store/duckdb/instance.ts';

// DuckDB asks for the machine's zone when it is first loaded.
process.env['TZ'] = 'America/New_York';

test('each connection reads instants in UTC and keeps the footers of files', async () => {
  const scope = { files: [], memoryBytes: 128 * 1024 ** 2, threads: 1 };
  const instance = await lockedInstance(scope);
  for (let at = 0; at < 2; at += 1) {
    const question = await instance.connect();
    const answer = await question.runAndReadAll(
      `SELECT CAST(TIMESTAMPTZ '2024-07-01 00:30:00+00' AS VARCHAR),
        current_setting('parquet_metadata_cache')`,
    );
    assert.deepEqual(answer.getRowsJson(), [['2024-07-01 00:30:00+00', true]]);
    question.closeSync();
  }
  instance.closeSync();
});
