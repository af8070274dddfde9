// Leased quota of one node that reads, over a plain connection; the random suite tests failures between the
// nodes (test/soak/laws/leases/).
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { Failure } from '../../../store/base/failure.ts';
import { computeGrant } from '../../../store/ledger/leases/blockSizes.ts';
import { RateGrants } from '../../../store/ledger/leases/rateGrants.ts';
import { LeasedQuota } from '../../../store/ledger/leases/leasedQuota.ts';
import type { ToLessee, ToLessor } from '../../../store/ledger/leases/leaseMessages.ts';
import { QuotaLessor } from '../../../store/ledger/leases/quotaLessor.ts';
import { parseLines, readJournal } from '../../../store/ledger/journal.ts';
import { UnackedCharges, UNACKED_MAX } from '../../../store/ledger/leases/unackedCharges.ts';
import { until } from '../../api/streams/listening.ts';
import { caller, callerWith, fixture, K, QUOTA } from './ledgerFixture.ts';

const ELSEWHERE = { type: 'Busy' } as const;

interface Played extends AsyncDisposable {
  readonly ledger: Awaited<ReturnType<typeof fixture>>['ledger'];
  readonly database: Awaited<ReturnType<typeof fixture>>['database'];
  readonly time: { nowMs: number };
  readonly lessor: QuotaLessor;
  readonly quota: LeasedQuota;
  readonly lessorMessages: ToLessor[];
  readonly used: string[];
  /** Unexpected faults; a test removes the expected ones. */
  readonly faults: string[];
  /** The caller whose token may act. */
  readonly may: { callerOf: typeof caller | undefined };
  connect(): void;
  /** Advances the clocks of both nodes. */
  pass(ms: number): void;
  /** Its connection ends. */
  leave(): void;
  /** Waits until pending requests are answered. */
  settle(): Promise<void>;
}

async function play(who = caller): Promise<Played> {
  const f = await fixture();
  let nowMs = 0;
  const may: Played['may'] = { callerOf: who };
  const [used, lessorMessages, faults]: [string[], ToLessor[], string[]] = [[], [], []];
  const lessor = await QuotaLessor.open({
    ledger: f.ledger,
    database: f.database,
    clock: () => f.time.nowMs,
    nowMs: () => (nowMs += 0.01),
    share: 0.5,
    permits: {
      address: (_address, most) => Math.min(most, 2),
      token: (_caller, most) => most,
    },
    callerOf: () => {
      if (may.callerOf === undefined) throw new Failure('DisabledKey');
      return may.callerOf;
    },
    knownCaller: () => who,
    used: (tokenId) => used.push(tokenId),
    onFault: (reason) => faults.push(String(reason)),
  });
  const quota = new LeasedQuota({ lessee: 'run', nowMs: () => nowMs });
  let leave = (): void => undefined;
  const connect = (): void => {
    const { left, take } = lessor.join('n', (message: ToLessee) =>
      quota.handle(structuredClone(message)),
    );
    leave = left;
    quota.connect((message) => {
      lessorMessages.push(message);
      take(structuredClone(message));
    });
  };
  connect();
  const dispose = async (): Promise<void> => {
    await quota.close();
    lessor.close();
    await f[Symbol.asyncDispose]();
    assert.deepEqual(faults, []);
  };
  return {
    ledger: f.ledger,
    database: f.database,
    time: f.time,
    lessor,
    quota,
    lessorMessages,
    used,
    may,
    faults,
    pass: (ms: number) => void (nowMs += ms),
    connect,
    leave: () => leave(),
    settle: () => sleep(20),
    [Symbol.asyncDispose]: dispose,
  };
}

test('a node spends its lease, and its calls are in the journal like local calls', async () => {
  await using p = await play();
  assert.throws(() => p.quota.findStop(caller), ELSEWHERE);
  assert.throws(() => p.quota.hold(caller, K, 30), ELSEWHERE);
  await p.settle();
  assert.equal(p.quota.findStop(caller), undefined);
  const hold = p.quota.hold(caller, { ...K, requestId: 'first' }, 30);
  const charge = p.quota.settle(hold, 7);
  assert.deepEqual([charge.messages, charge.premium], [7, 0]);
  charge.confirm();
  charge.confirm();
  p.quota.settle(p.quota.hold(caller, K, 30), 30).cancel();
  p.quota.release(p.quota.hold(caller, K, 30));
  p.quota.settle(p.quota.hold(caller, { ...K, requestId: 'free', weight: 0 }, 9), 9).confirm();
  assert.equal(p.quota.unackedCalls, 2);
  await p.settle();
  await p.ledger.flush();
  assert.deepEqual([p.quota.unackedCalls, p.used], [0, ['t']]);
  const lines = (await readJournal(p.database)).flatMap(({ text }) => parseLines(text));
  assert.deepEqual(
    lines.map(({ messages, objects, requestId, weight }) => [requestId, objects, weight, messages]),
    [
      ['first', 7, 1, 7],
      ['free', 9, 0, 0],
    ],
  );
  assert.deepEqual(p.ledger.balance('a'), { used: 7, held: 0 });
  assert.deepEqual(p.ledger.allowance(caller), { used: 7, remaining: QUOTA - 7 });
  assert.ok(p.ledger.leasedMessages('a') > 0);
  await p.quota.close();
  assert.equal(p.ledger.leasedMessages('a'), 0, 'the end returns the lease');
  assert.throws(() => p.quota.findStop(caller), ELSEWHERE);
});

/** Whether a node can spend a message; if not, it requests a lease. */
function isHere(quota: LeasedQuota): boolean {
  try {
    quota.release(quota.hold(caller, K, 1));
    return true;
  } catch {
    return false;
  }
}

test('leases beyond a lowered limit, or of a token that may not act, are recalled immediately', async () => {
  await using p = await play();
  assert.throws(() => p.quota.hold(caller, K, 30), ELSEWHERE);
  await p.settle();
  p.quota.settle(p.quota.hold(caller, K, 30), 7).confirm();
  p.may.callerOf = callerWith({ budget: QUOTA });
  p.lessor.recallExcess();
  assert.ok(isHere(p.quota), 'a lease within the limit stays');
  for (const lowered of [callerWith({ budget: 5 }), undefined]) {
    p.may.callerOf = lowered;
    p.lessor.recallExcess();
    assert.throws(() => p.quota.hold(caller, K, 1), ELSEWHERE);
    await p.settle();
    assert.equal(p.ledger.leasedMessages('a'), 0);
    p.may.callerOf = caller;
    p.pass(1_000);
    await until(() => isHere(p.quota));
  }
});

test('a node reports its deliveries before any answer about usage', async () => {
  await using p = await play();
  assert.throws(() => p.quota.hold(caller, K, 30), ELSEWHERE);
  await p.settle();
  // A report has just been sent: the next one follows later.
  p.quota.settle(p.quota.hold(caller, K, 30), 7).confirm();
  p.quota.settle(p.quota.hold(caller, K, 30), 30).confirm();
  await p.ledger.collectReports();
  assert.equal(p.ledger.balance('a').used, 37);
  assert.ok(p.ledger.leasedMessages('a') > 0, 'and it keeps its lease');
  p.quota.settle(p.quota.hold(caller, K, 30), 5).confirm();
  await p.ledger.flushAll();
  const lines = (await readJournal(p.database)).flatMap(({ text }) => parseLines(text));
  assert.deepEqual(
    lines.map(({ messages }) => messages),
    [7, 30, 5],
  );
  // The ledger does not wait for a disconnected node.
  p.leave();
  await p.ledger.collectReports();
});

test('leases are recalled before a call is refused, except the holds of running calls', async () => {
  await using p = await play();
  assert.throws(() => p.quota.hold(caller, K, 100), ELSEWHERE);
  await p.settle();
  const running = p.quota.hold(caller, K, 100);
  assert.ok(p.ledger.left(caller, false) < QUOTA - 100);
  await p.ledger.waitForRoom(caller, K, QUOTA);
  assert.equal(p.ledger.left(caller, false), QUOTA - 100);
  assert.throws(() => p.quota.hold(caller, K, 1), ELSEWHERE);
  p.quota.settle(running, 40).confirm();
  await p.settle();
  assert.deepEqual([p.ledger.balance('a').used, p.ledger.leasedMessages('a')], [40, 0]);
});

test('a token that may not act gets no lease, nor does one whose account is stopped', async () => {
  const stopped = callerWith({ budget: 5 });
  await using p = await play(stopped);
  p.ledger.settle(p.ledger.hold(stopped, K, 5), 5).confirm();
  assert.throws(() => p.quota.findStop(stopped), ELSEWHERE);
  await p.settle();
  assert.throws(() => p.quota.findStop(stopped), ELSEWHERE);
  p.may.callerOf = undefined;
  assert.throws(() => p.quota.hold({ ...stopped, tokenId: 'other' }, K, 0), ELSEWHERE);
  await p.settle();
  assert.equal(p.lessor.blocks, 0);
  assert.throws(() => p.quota.hold({ ...caller, isOperator: true }, K, 0), ELSEWHERE);
});

test('a lease ends with its month', async () => {
  await using p = await play();
  p.time.nowMs = Date.UTC(2026, 1, 1, 5) - 300;
  assert.throws(() => p.quota.hold(caller, K, 1), ELSEWHERE);
  await p.settle();
  assert.throws(() => p.quota.hold(caller, K, 1), ELSEWHERE);
});

test('calls of a lost connection are reported over the next one, and charged once', async () => {
  await using p = await play();
  assert.throws(() => p.quota.hold(caller, K, 10), ELSEWHERE);
  await p.settle();
  const open = p.quota.settle(p.quota.hold(caller, { ...K, requestId: 'late' }, 10), 3);
  const hold = p.quota.hold(caller, K, 10);
  p.quota.settle(p.quota.hold(caller, { ...K, requestId: 'told' }, 10), 2).confirm();
  await p.settle();
  p.quota.disconnect();
  assert.throws(() => p.quota.hold(caller, K, 0), ELSEWHERE);
  p.connect();
  assert.throws(
    () => p.quota.settle(hold, 1),
    ELSEWHERE,
    'the lease of its hold is no longer here',
  );
  assert.ok(
    !p.lessorMessages.some(({ kind }, at) => kind === 'clean' && at > 2),
    'a call is in flight',
  );
  open.confirm();
  await p.settle();
  assert.equal(p.lessorMessages.at(-1)?.kind, 'clean');
  await p.ledger.flush();
  assert.deepEqual([p.ledger.balance('a').used, p.ledger.leasedMessages('a')], [5, 0]);
  assert.equal(p.quota.unackedCalls, 0);
});

test('requests of an address and a token are granted for a second', () => {
  const permits = new RateGrants();
  const grant = (nowMs: number, count: number): void => {
    for (const { key, kind, most } of permits.takeRequests(nowMs)) {
      permits.applyGrant({ key, kind, count: Math.min(most, count) }, nowMs);
    }
  };
  assert.equal(permits.take('t', '192.0.2.1', 0), false);
  grant(0, 3);
  const permissions = [1, 2, 3, 4].map((nowMs) => permits.take('t', '192.0.2.1', nowMs));
  assert.deepEqual(permissions, [true, true, true, false]);
  grant(5, 9);
  assert.equal(permits.take('t', '192.0.2.1', 1_004), true);
  assert.equal(permits.take('t', '192.0.2.1', 1_006), false);
  assert.equal(permits.take('t', '192.0.2.2', 1_007), false, 'another address has none');
  permits.sweep(5_000);
  grant(5_001, 9);
  permits.sweep(9_000);
  assert.equal(permits.isEmpty, true);
});

test('of calls in one report the covered ones are charged', async () => {
  await using p = await play();
  const left = 20;
  p.ledger.settle(p.ledger.hold(caller, K, QUOTA), QUOTA - left).confirm();
  await p.ledger.flush();
  const acknowledged: ToLessee[] = [];
  const { take } = p.lessor.join('other', (message) => acknowledged.push(message));
  take({ kind: 'hello', lessee: 'another run' });
  const unackedCharges = new UnackedCharges();
  const call = { block: 77, accountId: 'a', tokenId: 't', ...K };
  for (const id of ['b', 'c', '"d"']) unackedCharges.add({ ...call, objects: 9 }, id);
  for (const id of ['e', 'f']) unackedCharges.add({ ...call, objects: 1 }, id);
  const [report] = unackedCharges.takeReports(0);
  assert.deepEqual(
    report?.alike.map(({ objects, requestIds }) => [objects, ...requestIds]),
    [
      [9, 'b', 'c', '"d"'],
      [1, 'e', 'f'],
    ],
  );
  for (let again = 0; again < 2; again += 1) take({ kind: 'report', ...report });
  await p.ledger.flush();
  const lines = (await readJournal(p.database)).flatMap(({ text }) => parseLines(text));
  assert.deepEqual(
    lines.slice(1).map(({ messages, requestId }) => [requestId, messages]),
    [
      ['e', 1],
      ['f', 1],
      ['b', 9],
      ['c', 9],
    ],
  );
  assert.equal(p.ledger.balance('a').used, QUOTA);
  assert.deepEqual(acknowledged.at(-1), { kind: 'ack', sequence: 1 });
  assert.deepEqual(p.lessor.uncovered, { calls: 1, messages: 9 });
  assert.match(p.faults.pop() ?? '', /1 calls of 9 messages of a are not charged/);
});

test('nothing is spent while too many calls are unacknowledged, or one is for over a second', () => {
  const unackedCharges = new UnackedCharges();
  const line = { block: 1, accountId: 'a', tokenId: 't', objects: 1, ...K };
  unackedCharges.add(line, 'r');
  assert.equal(unackedCharges.hasRoom(9_999), true, 'it was not reported yet');
  assert.equal(unackedCharges.takeReports(10_000).length, 1);
  assert.deepEqual([unackedCharges.hasRoom(11_000), unackedCharges.hasRoom(11_001)], [true, false]);
  assert.equal(unackedCharges.repeatReports(20_000).length, 1);
  assert.equal(unackedCharges.hasRoom(20_500), true);
  unackedCharges.acknowledge(1);
  assert.equal(unackedCharges.hasRoom(90_000), true);
  for (let at = 0; at < UNACKED_MAX; at += 1) unackedCharges.add(line, 'r');
  assert.equal(unackedCharges.hasRoom(90_000), false);
  assert.equal(unackedCharges.takeReports(90_000).length, 100);
  unackedCharges.acknowledge(2);
  assert.equal(unackedCharges.hasRoom(90_000), true);
});

test('a lease is large while much is left, small near a limit, and never everything', () => {
  const request = { need: 30, left: 0, perSecond: 0 };
  assert.equal(computeGrant(2, 1e9, request), 1_000);
  assert.equal(computeGrant(2, 1e9, { ...request, perSecond: 5_000 }), 50_000);
  assert.equal(computeGrant(2, 1e9, { ...request, perSecond: 1e9 }), 100_000);
  assert.equal(computeGrant(2, 1e9, { ...request, need: 250_000 }), 250_000);
  assert.equal(computeGrant(2, 1e9, { ...request, left: 900 }), 100);
  assert.equal(computeGrant(2, 400, request), 100);
  assert.equal(computeGrant(2, 100, request), 30);
  assert.equal(computeGrant(2, 59, request), 0, 'half of it stays with the ledger');
  assert.equal(computeGrant(2, 2, { ...request, need: 1 }), 1);
  assert.equal(computeGrant(2, 1, { ...request, need: 1 }), 0);
  assert.equal(computeGrant(2, -5, { ...request, need: 0 }), 0);
});
