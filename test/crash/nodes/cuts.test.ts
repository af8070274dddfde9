// Nodes whose networks fail, at the counts of continuous integration; `npm run soak cut-nodes` runs the full
// ones.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'vitest';
import { note } from '../../notes.ts';
import { seedsOf } from '../../seeds.ts';
import { cutRounds, hasHosts } from './cutRounds.ts';

const hasAll =
  globSync('/usr/lib/postgresql/*/bin/initdb').length > 0 &&
  globSync('/usr/bin/swift-proxy-server').length > 0 &&
  (await hasHosts());
const ROUNDS = 1;

test.skipIf(!hasAll && process.env['CI'] !== 'true')(
  'a network between nodes fails, and what any of them acknowledged stays',
  async (context) => {
    for (const seed of seedsOf(context)) {
      const { failures, notes } = await cutRounds({ count: ROUNDS, seed, log: () => undefined });
      note(context, `seed ${seed}, count ${ROUNDS}: ${notes.join('; ')}`);
      assert.deepEqual(failures, []);
    }
  },
);
