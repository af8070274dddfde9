// Several nodes over one catalog, at the counts of continuous integration; `npm run soak kill-nodes` runs the
// full ones.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'vitest';
import { note } from '../notes.ts';
import { seedsOf } from '../seeds.ts';
import { nodeRounds } from './rounds/nodeRounds.ts';

const hasAll =
  globSync('/usr/lib/postgresql/*/bin/initdb').length > 0 &&
  globSync('/usr/bin/swift-proxy-server').length > 0 &&
  globSync('/usr/{s,}bin/nats-server').length > 0;
const ENDS = 2;

test.skipIf(!hasAll && process.env['CI'] !== 'true')(
  'the node that serves ends, again and again, and what any node acknowledged stays',
  async (context) => {
    for (const seed of seedsOf(context)) {
      const { failures, notes } = await nodeRounds({ count: ENDS, seed, log: () => undefined });
      note(context, `seed ${seed}, count ${ENDS}: ${notes.join('; ')}`);
      assert.deepEqual(failures, []);
    }
  },
);
