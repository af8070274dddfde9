// Rounds of ends at the counts of continuous integration, for each seed of a run.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../notes.ts';
import { seedsOf } from '../../seeds.ts';
import { isLeftOut } from '../../servers/hasServers.ts';
import type { Order, Report } from './seeded.ts';

interface Rounds {
  /** Everything that they need is on this machine. */
  readonly isHere: boolean;
  /** Of each seed. */
  readonly count: number;
  readonly run: (order: Order) => Promise<Report>;
}

export function testRounds(name: string, { count, isHere, run }: Rounds): void {
  test.skipIf(isLeftOut(isHere))(name, async (context) => {
    for (const seed of seedsOf(context)) {
      const { failures, notes } = await run({ count, seed, log: () => undefined });
      note(context, `seed ${seed}, count ${count}: ${notes.join('; ')}`);
      assert.deepEqual(failures, []);
    }
  });
}
