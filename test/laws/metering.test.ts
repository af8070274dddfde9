import { test } from 'node:test';
import { meteringLaw } from './metering.ts';

/** Full count: 10,000 calls, by `npm run soak metering`. */
const CALLS = 400;

test('64 callers: the sum of the headers is the ledger and the usage by token', async (t) => {
  t.diagnostic(`${await meteringLaw(CALLS)} messages`);
});
