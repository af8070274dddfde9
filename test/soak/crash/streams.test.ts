// kill -9 while streams are open: streams that ended before are charged exactly; streams that were open are
// charged at most what was sent. No undelivered message is charged.
import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { streamRounds } from './rounds/streamRounds.ts';

/** Full count: 20 kills beside 160 readers of 320 records, by `npm run soak kill-streams`. */
const SMALL = { kills: 1, readers: 12, records: 60 } as const;

test('a kill loses no charge of a stream that had ended, and adds none', async (t) => {
  for (const seed of seedsOf(t)) note(t, await streamRounds({ ...SMALL, seed }));
});
