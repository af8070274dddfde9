// hold, settle, release: what is granted, what is refused, what is written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Caller } from '../../store/accounts.ts';
import { billingDays } from '../../store/billingDays.ts';
import { survive } from '../../store/crashPoints.ts';
import { type Database, openDatabase } from '../../store/database.ts';
import { Ledger } from '../../store/ledger.ts';
import { migrate } from '../../store/migrate.ts';
import { readUsage } from '../../store/usage.ts';
import { seedsOf } from '../seeds.ts';

const QUOTA = 1_000;
const caller: Caller = {
  accountId: 'a',
  tokenId: 't',
  kind: 'secret',
  tier: { name: 'test', messagesMonthly: QUOTA, datasetsMax: 1, rowsMax: 100 },
  payAsYouGo: false,
};

interface Fixture extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly database: Database;
  readonly time: { nowMs: number };
  reopen(): Promise<Ledger>;
}

async function fixture(): Promise<Fixture> {
  const database = openDatabase(':memory:');
  await migrate(database);
  const time = { nowMs: Date.UTC(2026, 0, 31, 12) };
  const days = billingDays('America/New_York');
  const onFault = (reason: unknown): void => assert.fail(String(reason));
  const open = (): Promise<Ledger> =>
    Ledger.open({ database, clock: () => time.nowMs, days, at: survive, onFault });
  const ledger = await open();
  const dispose = async (): Promise<void> => {
    await ledger.flush();
    await database.destroy();
  };
  return { ledger, database, time, reopen: open, [Symbol.asyncDispose]: dispose };
}

test('a hold takes what is left; nothing left is refused; free calls always pass', async () => {
  await using f = await fixture();
  const first = f.ledger.hold(caller, 'K', 900);
  const second = f.ledger.hold(caller, 'K', 900);
  assert.deepEqual([first.messages, second.messages], [900, 100]);
  assert.throws(() => f.ledger.hold(caller, 'K', 1), { type: 'OverLimit' });
  assert.equal(f.ledger.hold(caller, 'K', 0).messages, 0);
  f.ledger.release(first);
  f.ledger.release(first);
  assert.equal(f.ledger.hold(caller, 'K', 900).messages, 900);
});

test('a settlement beyond the quota is refused whole, at the exact message', async () => {
  await using f = await fixture();
  f.ledger.settle(f.ledger.hold(caller, 'K', QUOTA), QUOTA - 5).delivered();
  assert.throws(() => f.ledger.settle(f.ledger.hold(caller, 'K', 50), 6), { type: 'OverLimit' });
  f.ledger.settle(f.ledger.hold(caller, 'K', 50), 5).delivered();
  assert.deepEqual(f.ledger.balance('a'), { used: QUOTA, held: 0 });
  const open = { ...caller, payAsYouGo: true };
  f.ledger.settle(f.ledger.hold(open, 'K', 70), 70).delivered();
  assert.equal(f.ledger.balance('a').used, QUOTA + 70);
});

test('what was delivered is written once, what was not goes back', async () => {
  await using f = await fixture();
  const charge = f.ledger.settle(f.ledger.hold(caller, 'K', 10), 4);
  charge.delivered();
  charge.delivered();
  charge.undelivered();
  f.ledger.settle(f.ledger.hold(caller, 'K', 10), 7).undelivered();
  await f.ledger.flush();
  assert.deepEqual(f.ledger.balance('a'), { used: 4, held: 0 });
  assert.deepEqual((await f.reopen()).balance('a'), { used: 4, held: 0 });
});

test('a new month begins in the billing zone, and a late settlement stays in its own', async () => {
  await using f = await fixture();
  f.time.nowMs = Date.UTC(2026, 1, 1, 4, 59);
  f.ledger.settle(f.ledger.hold(caller, 'K', 9), 9).delivered();
  const late = f.ledger.hold(caller, 'K', 5);
  f.time.nowMs = Date.UTC(2026, 1, 1, 5, 0);
  assert.deepEqual(f.ledger.balance('a'), { used: 0, held: 0 });
  f.ledger.settle(late, 5).delivered();
  f.ledger.settle(f.ledger.hold(caller, 'K', 2), 2).delivered();
  await f.ledger.flush();
  const rows = await f.database.selectFrom('balance').selectAll().orderBy('month').execute();
  assert.deepEqual(
    rows.map(({ month, messages }) => [month, messages]),
    [
      ['202601', 14],
      ['202602', 2],
    ],
  );
});

test('law: nothing exceeds the quota, and all that is delivered is written', async (t) => {
  const step = fc.record({
    verb: fc.constantFrom('hold', 'settle', 'release', 'deliver', 'drop'),
    at: fc.nat(9),
    messages: fc.nat(400),
  });
  const law = fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
    await using f = await fixture();
    const holds: ReturnType<Ledger['hold']>[] = [];
    const charges: ReturnType<Ledger['settle']>[] = [];
    const ended = new Set<object>();
    let delivered = 0;
    for (const { verb, at, messages } of steps) {
      const { used, held } = f.ledger.balance('a');
      assert.ok(used + held <= QUOTA && held >= 0 && used >= 0);
      const charge = charges[at];
      const hold = holds[at];
      try {
        if (verb === 'hold') holds.push(f.ledger.hold(caller, 'K', messages));
        else if (verb === 'release' && hold) f.ledger.release(hold);
        else if (verb === 'settle' && hold && !ended.has(hold)) {
          ended.add(hold);
          charges.push(f.ledger.settle(hold, messages));
        } else if (verb === 'deliver' && charge && !ended.has(charge)) {
          ended.add(charge);
          charge.delivered();
          delivered += charge.messages;
        } else if (verb === 'drop' && charge && !ended.has(charge)) {
          ended.add(charge);
          charge.undelivered();
        }
      } catch (error) {
        assert.equal((error as { type?: string }).type, 'OverLimit');
      }
    }
    await f.ledger.flush();
    const days = billingDays('America/New_York');
    const usage = await readUsage(f.database, 'a', days, f.time.nowMs);
    assert.equal(usage.month, delivered);
    assert.equal((await f.reopen()).balance('a').used, delivered);
  });
  for (const seed of seedsOf(t)) await fc.assert(law, { seed, numRuns: 40 });
});
