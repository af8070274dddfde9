import { test } from 'vitest';
import { note } from '../../../base/notes.ts';
import { seedsOf } from '../../../base/seeds.ts';
import { startNats } from '../../../base/servers/nats.ts';
import { hasServers, isLeftOut } from '../../../base/servers/hasServers.ts';
import { streamLogLaw } from './streamLog.ts';
import { streamBarsLaw } from './streamBars.ts';
import { streamQuotaLaw } from './streamQuota.ts';
import { streamOrderLaw } from './streamOrder.ts';

/** Full count: 50,000 rounds, by `npm run soak stream-order`. */
const ROUNDS = 10;

test('subscribers receive all messages in order, or the newest of each interval', (t) => {
  for (const seed of seedsOf(t)) note(t, streamOrderLaw(ROUNDS, seed));
});

/** Full count: 100,000 trades, by `npm run soak stream-bars`. */
const TRADES = 400;

test('bars of streamed trades equal bars of stored trades', async (t) => {
  for (const seed of seedsOf(t)) note(t, await streamBarsLaw(TRADES, seed));
});

const hasNats = await hasServers('nats');

/** Full count: 1,000 rounds, by `npm run soak stream-log`. */
const LOG_ROUNDS = 3;

test.skipIf(isLeftOut(hasNats))(
  'a reader that moves between nodes receives all messages once, or a gap',
  async (t) => {
    await using nats = await startNats();
    if (nats === undefined) throw new Error('NATS is not here');
    for (const seed of seedsOf(t)) note(t, await streamLogLaw(LOG_ROUNDS, seed, nats));
  },
);

/** Full count: 1,000 rounds, by `npm run soak stream-quota`. */
const QUOTA_ROUNDS = 15;

test('streams and calls of an account share its last messages exactly', async (t) => {
  for (const seed of seedsOf(t)) note(t, await streamQuotaLaw(QUOTA_ROUNDS, seed));
});
