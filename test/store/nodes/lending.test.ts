// Messages that the ledger leases to other nodes: neither used nor left, and recalled before a refusal.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { parseLines, readJournal } from '../../../store/ledger/journal.ts';
import { caller, callerWith, fixture, K, QUOTA } from '../ledger/ledgerFixture.ts';

const alike = (objects: number, requestIds: readonly string[]) => ({ ...K, objects, requestIds });

test('leased messages can not be spent here, and are not shown as used', async () => {
  await using f = await fixture();
  const block = f.ledger.openBlock(caller, false);
  f.ledger.adjustBlock(block, QUOTA - 10);
  assert.deepEqual(f.ledger.balance('a'), { used: 0, held: 0 });
  assert.deepEqual(f.ledger.allowance(caller), { used: 0, remaining: QUOTA });
  assert.deepEqual([f.ledger.left(caller, false), f.ledger.leasedMessages('a')], [10, QUOTA - 10]);
  assert.equal(f.ledger.hold(caller, K, QUOTA).messages, 10);
  assert.throws(() => f.ledger.hold(caller, K, 1), { type: 'OverLimit' });
  f.ledger.adjustBlock(block, -2 * QUOTA);
  assert.deepEqual([block.messages, f.ledger.leasedMessages('a')], [0, 0]);
  assert.equal(f.ledger.hold(caller, K, QUOTA).messages, QUOTA - 10);
});

test('a token has its own limit of leased messages', async () => {
  await using f = await fixture();
  const bound = callerWith({}, { messageLimit: 30 });
  f.ledger.adjustBlock(f.ledger.openBlock(bound, false), 20);
  assert.deepEqual([f.ledger.left(bound, false), f.ledger.left(caller, false)], [10, QUOTA - 20]);
});

test('deliveries of another node are charged to its block, and beyond it while covered', async () => {
  await using f = await fixture();
  const block = f.ledger.openBlock(caller, false);
  f.ledger.adjustBlock(block, 100);
  f.ledger.settle(f.ledger.hold(caller, K, QUOTA), QUOTA - 110).confirm();
  const charge = (messages: number, own: typeof block | undefined): boolean =>
    f.ledger.chargeLeased(own, caller, alike(messages, [`r${messages}`]), undefined);
  assert.equal(charge(90, block), true);
  assert.deepEqual([block.messages, f.ledger.balance('a').used], [10, QUOTA - 20]);
  assert.equal(charge(21, block), false, 'one message too many: nothing of it is charged');
  assert.equal(charge(15, block), true);
  assert.equal(charge(6, undefined), false);
  assert.equal(charge(5, undefined), true);
  assert.equal(charge(0, undefined), true, 'a free call is written all the same');
  assert.deepEqual([f.ledger.balance('a').used, f.ledger.leasedMessages('a')], [QUOTA, 0]);
  await f.ledger.flush();
  const rows = await readJournal(f.database);
  const lines = rows.flatMap(({ text }) => parseLines(text));
  assert.deepEqual(
    lines.map(({ messages }) => messages),
    [QUOTA - 110, 90, 15, 5, 0],
  );
  assert.equal((await f.reopen()).balance('a').used, QUOTA);
});

test('a block belongs to its month', async () => {
  await using f = await fixture();
  const block = f.ledger.openBlock(caller, false);
  f.ledger.adjustBlock(block, 100);
  f.time.nowMs += 86_400_000;
  assert.equal(f.ledger.left(caller, false), QUOTA);
  assert.equal(f.ledger.chargeLeased(block, caller, alike(20, ['a', 'b', 'c']), undefined), true);
  assert.equal(f.ledger.chargeLeased(undefined, caller, alike(7, ['d']), undefined), true);
  await f.ledger.flush();
  const rows = await f.database.selectFrom('balance').selectAll().orderBy('month').execute();
  assert.deepEqual(
    rows.map(({ messages }) => messages),
    [60, 7],
  );
});

test('a call waits for a recall only where messages are short, and holds immediately otherwise', async () => {
  await using f = await fixture();
  const block = f.ledger.openBlock(caller, false);
  f.ledger.adjustBlock(block, 600);
  const recalledAccounts: string[] = [];
  const callHome = async (accountId: string): Promise<void> => {
    recalledAccounts.push(accountId);
    f.ledger.adjustBlock(block, -600);
  };
  f.ledger.setLending({ recall: callHome, collectReports: () => Promise.resolve() });
  assert.equal(f.ledger.waitForRoom(caller, K, 400), undefined);
  assert.equal(f.ledger.waitForRoom(caller, { ...K, weight: 0 }, 4_000), undefined);
  assert.deepEqual(recalledAccounts, []);
  await f.ledger.waitForRoom(caller, K, 401);
  assert.deepEqual(recalledAccounts, ['a']);
  assert.equal(f.ledger.waitForRoom(caller, K, 2_000), undefined, 'nothing is leased any more');
  assert.equal(f.ledger.hold(caller, K, 2_000).messages, QUOTA);
});
