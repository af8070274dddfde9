// Runs rounds of faults at the counts of continuous integration, for each seed of a run.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../../base/notes.ts';
import { seedsOf } from '../../../base/seeds.ts';
import { isLeftOut } from '../../../base/servers/hasServers.ts';
import type { Order, Orders, Report } from './seeded.ts';

interface Rounds {
  /** All required servers are installed on this machine. */
  readonly isHere: boolean;
  /** Rounds of each seed. */
  readonly count: number;
  readonly run: (order: Order) => Promise<Report>;
}

/** Like `Rounds`, but for all seeds in one call. */
interface RoundsTogether extends Omit<Rounds, 'run'> {
  readonly run: (orders: Orders) => Promise<readonly Report[]>;
}

const quiet = (): void => undefined;

export function testRounds(name: string, { run, ...rest }: Rounds): void {
  testRoundsTogether(name, {
    ...rest,
    run: async ({ count, log, seeds }) => {
      const reports: Report[] = [];
      for (const seed of seeds) reports.push(await run({ count, log, seed }));
      return reports;
    },
  });
}

export function testRoundsTogether(name: string, { count, isHere, run }: RoundsTogether): void {
  test.skipIf(isLeftOut(isHere))(name, async (context) => {
    const reports = await run({ count, seeds: seedsOf(context), log: quiet });
    for (const { failures, notes, seed } of reports) {
      note(context, `seed ${seed}, count ${count}: ${notes.join('; ')}`);
      assert.deepEqual(failures, []);
    }
  });
}
