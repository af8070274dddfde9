// hold, settle, release: the grants, the refusals and the written charges.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import fc from 'fast-check';
import { sql } from 'kysely';
import { billingDays } from '../../../store/ledger/billingDays.ts';
import type { Database } from '../../../store/catalog/database.ts';
import { isElsewhere } from '../../base/catalogElsewhere.ts';
import { parseLines, readJournal } from '../../../store/ledger/journal.ts';
import type { Ledger } from '../../../store/ledger/ledger.ts';
import { readUsage } from '../../../store/ledger/usage.ts';
import { caller, callerWith, fixture, K, QUOTA } from './ledgerFixture.ts';
import { seedsOf } from '../../base/seeds.ts';

test('a hold takes the remaining messages; without any it is refused; free calls always pass', async () => {
  await using f = await fixture();
  const first = f.ledger.hold(caller, K, 900);
  const second = f.ledger.hold(caller, K, 900);
  assert.deepEqual([first.messages, second.messages], [900, 100]);
  assert.throws(() => f.ledger.hold(caller, K, 1), { type: 'OverLimit' });
  assert.equal(f.ledger.hold(caller, K, 0).messages, 0);
  f.ledger.release(first);
  f.ledger.release(first);
  assert.equal(f.ledger.hold(caller, K, 900).messages, 900);
});

test('a settlement beyond the quota is refused whole, at the exact message', async () => {
  await using f = await fixture();
  f.ledger.settle(f.ledger.hold(caller, K, QUOTA), QUOTA - 5).confirm();
  assert.throws(() => f.ledger.settle(f.ledger.hold(caller, K, 50), 6), { type: 'OverLimit' });
  f.ledger.settle(f.ledger.hold(caller, K, 50), 5).confirm();
  assert.deepEqual(f.ledger.balance('a'), { used: QUOTA, held: 0 });
  const open = callerWith({ payAsYouGo: true });
  f.ledger.settle(f.ledger.hold(open, K, 70), 70).confirm();
  assert.equal(f.ledger.balance('a').used, QUOTA + 70);
});

test('budget, breaker, token limit: the exact message, the lowest bound, its own failure', async () => {
  const bought = { payAsYouGo: true } as const;
  const cases = [
    { own: { ...bought, budget: QUOTA + 50 }, most: QUOTA + 50, type: 'OverLimit', all: true },
    { own: { ...bought, budget: 20 }, most: 20, type: 'OverLimit', all: true },
    { own: { ...bought, circuitBreaker: 70 }, most: QUOTA + 70, type: 'CircuitBreaker', all: true },
    {
      own: { ...bought, circuitBreaker: 70, budget: QUOTA + 90 },
      most: QUOTA + 70,
      type: 'CircuitBreaker',
      all: true,
    },
    {
      own: { ...bought, circuitBreaker: 70, budget: QUOTA + 60 },
      most: QUOTA + 60,
      type: 'OverLimit',
      all: true,
    },
    { own: { budget: QUOTA + 60, circuitBreaker: 10 }, most: QUOTA, type: 'OverLimit', all: false },
    { own: bought, settings: { messageLimit: 33 }, most: 33, type: 'OverLimit', all: false },
    { own: {}, settings: { messageLimit: QUOTA * 2 }, most: QUOTA, type: 'OverLimit', all: false },
  ] as const;
  for (const one of cases) {
    await using f = await fixture();
    const who = callerWith(one.own, 'settings' in one ? one.settings : {});
    const spend = (messages: number): void =>
      f.ledger.settle(f.ledger.hold(who, K, messages), messages).confirm();
    spend(one.most - 1);
    assert.throws(() => f.ledger.settle(f.ledger.hold(who, K, 2), 2), { type: one.type });
    assert.equal(f.ledger.findStop(who), undefined, 'one message is left');
    spend(1);
    assert.throws(() => f.ledger.hold(who, K, 1), { type: one.type });
    assert.equal(f.ledger.balance('a').used, one.most);
    assert.equal(f.ledger.findStop(who)?.type, one.all ? one.type : undefined);
    const reopened = await (await f.ledger.flush(), f.reopen());
    assert.throws(() => reopened.hold(who, K, 1), { type: one.type }, 'also after a restart');
  }
});

test('premium messages are counted and bounded apart', async () => {
  await using f = await fixture();
  const order = { ...K, premium: true, weight: 10 };
  const who = callerWith({ premiumMessages: 30 });
  f.ledger.settle(f.ledger.hold(who, order, 3), 3).confirm();
  assert.throws(() => f.ledger.hold(who, order, 1), { type: 'OverLimit' });
  assert.deepEqual(f.ledger.balance('a'), { used: 0, held: 0 });
  assert.deepEqual(f.ledger.premiumBalance('a'), { used: 30, held: 0 });
  f.ledger.settle(f.ledger.hold(who, K, 5), 5).confirm();
  await f.ledger.flush();
  assert.deepEqual((await f.reopen()).premiumBalance('a'), { used: 30, held: 0 });
  const usage = await readUsage(f.database, 'a', billingDays('America/New_York'), f.time.nowMs);
  assert.deepEqual([usage.month, usage.premium], [5, 30]);
});

test('delivered messages are charged once, the rest is returned', async () => {
  await using f = await fixture();
  const charge = f.ledger.settle(f.ledger.hold(caller, K, 10), 4);
  charge.confirm();
  charge.confirm();
  charge.cancel();
  f.ledger.settle(f.ledger.hold(caller, K, 10), 7).cancel();
  await f.ledger.flush();
  assert.deepEqual(f.ledger.balance('a'), { used: 4, held: 0 });
  assert.deepEqual((await f.reopen()).balance('a'), { used: 4, held: 0 });
});

test('a charge on its way to the catalog waits until its write is confirmed', async () => {
  await using f = await fixture();
  f.ledger.settle(f.ledger.hold(caller, K, 4), 4).confirm();
  const flushing = f.ledger.flush();
  await Promise.resolve();
  assert.equal(f.ledger.pendingCharges, 1);
  await flushing;
  assert.equal(f.ledger.pendingCharges, 0);
});

test('charges that a disk refuses are written later, once, with those added meanwhile', async () => {
  const faults: unknown[] = [];
  let meanwhile = (): void => undefined;
  const onFault = (reason: unknown): void => void faults.push(reason);
  await using f = await fixture({ onFault, at: () => meanwhile() });
  const charge = (requestId: string, usageKey: string, objects: number): void => {
    const order = { ...K, requestId, usageKey };
    f.time.nowMs += 1_000;
    f.ledger.settle(f.ledger.hold(caller, order, objects), objects).confirm();
  };
  await refuseCharges(f.database);
  charge('one', 'WS.K', 1);
  meanwhile = () => {
    meanwhile = () => undefined;
    charge('two', 'WS.K', 2);
    charge('three', 'WS.L', 3);
  };
  await f.ledger.flush();
  assert.equal(f.ledger.pendingCharges, 3);
  await f.ledger.flush();
  assert.equal(f.ledger.pendingCharges, 3);
  assert.deepEqual(await readJournal(f.database), []);
  await takeCharges(f.database);
  await f.ledger.flush();
  assert.equal(f.ledger.pendingCharges, 0);
  // Waiting charges are retried automatically too: on a busy machine meanwhile.
  assert.ok(faults.length >= 2, faults.join());
  const days = billingDays('America/New_York');
  const usage = await readUsage(f.database, 'a', days, f.time.nowMs);
  assert.equal(usage.month, 6);
  assert.deepEqual([...usage.byKey].toSorted(), [
    ['WS.K', 3],
    ['WS.L', 3],
  ]);
  const rows = await readJournal(f.database);
  const requestIds = rows.flatMap(({ text }) => parseLines(text).map(({ requestId }) => requestId));
  assert.deepEqual(requestIds, ['one', 'two', 'three']);
  assert.equal(rows[0]?.firstMs, f.time.nowMs - 2_000);
  assert.deepEqual((await f.reopen()).balance('a'), { used: 6, held: 0 });
});

test('a close with a refusing disk retries, reports its losses, and leaves nothing behind', async () => {
  const faults: unknown[] = [];
  const onFault = (reason: unknown): void => void faults.push(reason);
  await using f = await fixture({ onFault });
  await refuseCharges(f.database);
  f.ledger.settle(f.ledger.hold(caller, K, 2), 2).confirm();
  const [lost] = await Promise.all([f.ledger.close(), dropSoon(f.database)]);
  assert.equal(lost, 0);
  assert.deepEqual((await f.reopen()).balance('a'), { used: 2, held: 0 });
  const again = await f.reopen();
  await refuseCharges(f.database);
  again.settle(again.hold(caller, K, 3), 3).confirm();
  assert.equal(await again.close(), 1);
  const before = faults.length;
  // No retry is pending: the database may be closed.
  await sleep(1_300);
  assert.equal(faults.length, before);
});

async function dropSoon(database: Database): Promise<void> {
  await sleep(100);
  await takeCharges(database);
}

/** As a full disk does: of both engines. */
const refuseCharges = (database: Database): Promise<unknown> =>
  sql`alter table balance rename to refused`.execute(database);

const takeCharges = (database: Database): Promise<unknown> =>
  sql`alter table refused rename to balance`.execute(database);

test('a new month begins in the billing zone, and a late settlement stays in its own', async () => {
  await using f = await fixture();
  f.time.nowMs = Date.UTC(2026, 1, 1, 4, 59);
  f.ledger.settle(f.ledger.hold(caller, K, 9), 9).confirm();
  const late = f.ledger.hold(caller, K, 5);
  f.time.nowMs = Date.UTC(2026, 1, 1, 5, 0);
  assert.deepEqual(f.ledger.balance('a'), { used: 0, held: 0 });
  f.ledger.settle(late, 5).confirm();
  f.ledger.settle(f.ledger.hold(caller, K, 2), 2).confirm();
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

const spendAll = (ledger: Ledger, objects: number): void =>
  ledger.settle(ledger.hold(caller, K, objects), objects).confirm();

test('a clock that is set back over the end of a month grants nothing twice', async () => {
  await using f = await fixture();
  spendAll(f.ledger, QUOTA - 1);
  f.time.nowMs += 86_400_000;
  spendAll(f.ledger, QUOTA - 2);
  for (const backMs of [86_400_000, 400 * 86_400_000]) {
    f.time.nowMs -= backMs;
    assert.equal(f.ledger.month, '202602');
    assert.deepEqual(f.ledger.balance('a'), { used: QUOTA - 2, held: 0 });
    assert.throws(() => spendAll(f.ledger, 3), { type: 'OverLimit' });
  }
  spendAll(f.ledger, 1);
  await f.ledger.flush();
  const reopened = await f.reopen();
  assert.equal(reopened.month, '202602', 'also after a restart');
  spendAll(reopened, 1);
  assert.throws(() => spendAll(reopened, 1), { type: 'OverLimit' });
  await reopened.flush();
  const days = billingDays('America/New_York');
  const usage = await readUsage(f.database, 'a', days, reopened.timeMs());
  assert.deepEqual([usage.month, [...usage.byDay]], [QUOTA, [['20260201', QUOTA]]]);
});

test('an operator lets the ledger go back, and no month loses its usage', async () => {
  await using f = await fixture();
  spendAll(f.ledger, 900);
  f.time.nowMs += 4_000 * 86_400_000;
  spendAll(f.ledger, 800);
  await f.ledger.flush();
  f.time.nowMs -= 4_000 * 86_400_000;
  assert.equal((await f.reopen()).month, '203701');
  const back = await f.reopen('202601');
  assert.deepEqual([back.month, back.balance('a').used], ['202601', 900]);
  assert.throws(() => spendAll(back, 101), { type: 'OverLimit' });
  f.time.nowMs += 4_000 * 86_400_000;
  assert.deepEqual([back.month, back.balance('a').used], ['203701', 800]);
  assert.throws(() => spendAll(back, 201), { type: 'OverLimit' });
});

test('a settlement after the end of its month is checked against the remainder of its month', async () => {
  await using f = await fixture();
  spendAll(f.ledger, QUOTA - 10);
  const [greedy, late] = [f.ledger.hold(caller, K, 5), f.ledger.hold(caller, K, 5)];
  f.time.nowMs += 86_400_000;
  spendAll(f.ledger, QUOTA);
  assert.throws(() => f.ledger.settle(greedy, 11), { type: 'OverLimit' });
  f.ledger.settle(late, 10).confirm();
  await f.ledger.flush();
  const rows = await f.database.selectFrom('balance').selectAll().orderBy('month').execute();
  assert.deepEqual(
    rows.map(({ messages }) => messages),
    [QUOTA, QUOTA],
  );
  const days = billingDays('America/New_York');
  const february = await readUsage(f.database, 'a', days, f.time.nowMs);
  assert.equal(february.month, QUOTA, 'the counters agree');
});

test('law: nothing exceeds the quota, and all deliveries are written', async (t) => {
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
      const balance = f.ledger.balance('a');
      assert.ok(balance.used + balance.held <= QUOTA && balance.held >= 0 && balance.used >= 0);
      const charge = charges[at];
      const hold = holds[at];
      try {
        if (verb === 'hold') holds.push(f.ledger.hold(caller, K, messages));
        else if (verb === 'release' && hold) f.ledger.release(hold);
        else if (verb === 'settle' && hold && !ended.has(hold)) {
          ended.add(hold);
          charges.push(f.ledger.settle(hold, messages));
        } else if (verb === 'deliver' && charge && !ended.has(charge)) {
          ended.add(charge);
          charge.confirm();
          delivered += charge.messages;
        } else if (verb === 'drop' && charge && !ended.has(charge)) {
          ended.add(charge);
          charge.cancel();
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
  // Each run creates a catalog, which takes PostgreSQL a quarter of a second.
  const numRuns = isElsewhere() ? 4 : 40;
  for (const seed of seedsOf(t)) await fc.assert(law, { seed, numRuns });
});
