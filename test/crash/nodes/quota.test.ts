// Requests that race for what is left of a quota, at the counts of continuous integration; `npm run soak
// quota-races` runs the full ones.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'vitest';
import { note } from '../../notes.ts';
import { seedsOf } from '../../seeds.ts';
import { quotaRaces } from './quotaRaces.ts';

const hasBoth =
  globSync('/usr/lib/postgresql/*/bin/initdb').length > 0 &&
  globSync('/usr/bin/swift-proxy-server').length > 0;
const RACES = 8;

test.skipIf(!hasBoth && process.env['CI'] !== 'true')(
  'no message is used over a limit, and none is kept from those whose it is',
  async (context) => {
    for (const seed of seedsOf(context)) {
      const { failures, notes } = await quotaRaces({ count: RACES, seed, log: () => undefined });
      note(context, `seed ${seed}, count ${RACES}: ${notes.join('; ')}`);
      assert.deepEqual(failures, []);
    }
  },
);
