// The catalog in PostgreSQL, at the counts of continuous integration; `npm run soak kill-postgres` runs the
// full ones.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'vitest';
import { note } from '../notes.ts';
import { seedsOf } from '../seeds.ts';
import { postgresRounds } from './rounds/postgresRounds.ts';

const hasOne = globSync('/usr/lib/postgresql/*/bin/initdb').length > 0;
const ENDS = 2;

test.skipIf(!hasOne && process.env['CI'] !== 'true')(
  'servers, PostgreSQL and what is between them end, and what was acknowledged stays',
  async (context) => {
    for (const seed of seedsOf(context)) {
      const { failures, notes } = await postgresRounds({ count: ENDS, seed, log: () => undefined });
      note(context, `seed ${seed}, count ${ENDS}: ${notes.join('; ')}`);
      assert.deepEqual(failures, []);
    }
  },
);
