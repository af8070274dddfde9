// The settings of a locked DuckDB instance on every connection, on a machine in another zone.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { lockedInstance } from '../../../store/duckdb/instance.ts';
import type { Scope } from '../../../store/duckdb/protocol.ts';

const SCOPE = { files: [], memoryBytes: 128 * 1024 ** 2, threads: 1 };

// DuckDB reads the machine's zone when it is first loaded.
process.env['TZ'] = 'America/New_York';

test('each connection reads instants in UTC and keeps the footers of files', async () => {
  const instance = await lockedInstance(SCOPE);
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

const SKIPS: readonly (readonly [what: string, scope: Partial<Scope>, skipped: string])[] = [
  ['of a read', {}, 'common_subplan,late_materialization'],
  ['that a caller wrote', { isKept: true }, 'late_materialization'],
  [
    'of very many columns',
    { skips: ['statistics_propagation'] },
    'common_subplan,late_materialization,statistics_propagation',
  ],
  [
    'of very many columns that a caller wrote',
    { isKept: true, skips: ['common_subplan'] },
    'common_subplan,late_materialization',
  ],
];

for (const [what, part, skipped] of SKIPS) {
  test(`optimizers that are disabled for a query ${what}`, async () => {
    const instance = await lockedInstance({ ...SCOPE, ...part });
    const question = await instance.connect();
    const answer = await question.runAndReadAll(`SELECT current_setting('disabled_optimizers')`);
    const setting = String(answer.getRowsJson()[0]?.[0]);
    assert.equal(setting.toLowerCase().split(',').toSorted().join(','), skipped);
    question.closeSync();
    instance.closeSync();
  });
}
