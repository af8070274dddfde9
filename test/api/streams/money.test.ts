// Streams cost what was written to their sockets.
import { test } from 'vitest';
import { streamMoneyLaw } from '../../soak/laws/streams/streamMoney.ts';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';

const CONNECTIONS = 60;

test('messages charged are messages written, whoever comes and goes', async (t) => {
  for (const seed of seedsOf(t)) note(t, await streamMoneyLaw(CONNECTIONS, seed));
});
