// Streams are charged for the messages that were written to their sockets.
import { test } from 'vitest';
import { streamMoneyLaw } from '../../soak/laws/streams/streamMoney.ts';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';

const CONNECTIONS = 60;

test('the charged messages equal the written ones, while clients connect and disconnect', async (t) => {
  for (const seed of seedsOf(t)) note(t, await streamMoneyLaw(CONNECTIONS, seed));
});
