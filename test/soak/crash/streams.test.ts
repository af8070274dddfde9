// kill -9 while streams are open: what ended before was charged, to the message; of what was open at the end
// no more than was sent. Nothing is charged that nobody got.
import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { streamRounds } from './rounds/streamRounds.ts';

/** Full count: 20 kills beside 160 readers of 320 records, by `npm run soak kill-streams`. */
const SMALL = { kills: 1, readers: 12, records: 60 } as const;

test('a kill loses no charge of a stream that had ended, and makes none up', async (t) => {
  for (const seed of seedsOf(t)) note(t, await streamRounds({ ...SMALL, seed }));
});
