// Measures the cost of leased quota per call, at the reading node and at the serving node that receives the
// report.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import type { Caller } from '../../../store/accounts/callers.ts';
import { monotonicMs, systemClock } from '../../../store/base/clock.ts';
import { LeasedQuota } from '../../../store/ledger/leases/leasedQuota.ts';
import type { ToLessee, ToLessor } from '../../../store/ledger/leases/leaseMessages.ts';
import { QuotaLessor } from '../../../store/ledger/leases/quotaLessor.ts';
import type { Ledger } from '../../../store/ledger/ledger.ts';
import { callerOf, openLedger } from '../../money.ts';

/** Calls per turn under high load. */
const TURN_CALLS = 500;
const TURNS = 400;
/** Accounts per message under high load. */
const QUESTIONS = 20;
/** Warm-up turns, which are not counted. */
const WARM = 50;
const ADDRESS = '192.0.2.1';

interface ServingNode extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly lessor: QuotaLessor;
}

/** Opens a serving node that leases quota to any node. */
async function openServingNode(path: string): Promise<ServingNode> {
  const { database, ledger, onFault } = await openLedger(path);
  const lessor = await QuotaLessor.open({
    ledger,
    database,
    clock: systemClock,
    nowMs: monotonicMs,
    share: 0,
    onFault,
    permits: {
      address: (_address, most) => most,
      token: (_caller, most) => most,
    },
    callerOf,
    knownCaller: (_accountId, tokenId) => callerOf(tokenId),
    used: () => undefined,
  });
  const dispose = async (): Promise<void> => {
    await ledger.flush();
    lessor.close();
    await database.destroy();
  };
  return { ledger, lessor, [Symbol.asyncDispose]: dispose };
}

export async function benchLeases(folder: string): Promise<readonly string[]> {
  await using node = await openServingNode(join(folder, 'leases.db'));
  const quota = new LeasedQuota({ lessee: 'bench', nowMs: monotonicMs });
  const waiting: Buffer[] = [];
  const joined = node.lessor.join('bench', (message: ToLessee) => quota.handle(message));
  let reportMs = 0;
  quota.connect((message) => {
    const fromMs = monotonicMs();
    waiting.push(serialize(message));
    reportMs += monotonicMs() - fromMs;
  });
  const [callCost, receiveCost] = [{ ms: 0, calls: 0 }, { ms: 0 }];
  for (let turn = 0; turn < WARM + TURNS; turn += 1) {
    if (turn === WARM) [callCost.ms, callCost.calls, receiveCost.ms, reportMs] = [0, 0, 0, 0];
    const fromMs = monotonicMs();
    for (let at = 0; at < TURN_CALLS; at += 1) if (chargeCall(quota, at)) callCost.calls += 1;
    callCost.ms += monotonicMs() - fromMs;
    await sleep(6);
    const receiveFromMs = monotonicMs();
    for (const bytes of waiting.splice(0)) joined.take(deserialize(bytes) as ToLessor);
    receiveCost.ms += monotonicMs() - receiveFromMs;
  }
  const micros = (ms: number): string => (ms * 1_000).toFixed(2);
  const each = (ms: number): string => micros(ms / callCost.calls);
  const { lessorMs, senderMs } = await measureQuestions(folder);
  return [
    `${callCost.calls} of ${TURNS * TURN_CALLS} calls were charged at the node that reads`,
    `of a call there: ${each(callCost.ms)} µs, reporting it ${each(reportMs)} µs`,
    `at the node that serves: ${each(receiveCost.ms)} µs`,
    `a quota request, without its message: ${micros(senderMs)} µs, its answer ${micros(lessorMs)} µs`,
  ];
}

/**
 * Measures the milliseconds per quota request in a shared message, at the requesting node and at the lessor.
 */
export async function measureQuestions(
  folder: string,
): Promise<{ readonly senderMs: number; readonly lessorMs: number }> {
  await using node = await openServingNode(join(folder, 'questions.db'));
  const quota = new LeasedQuota({ lessee: 'bench', nowMs: monotonicMs });
  const [toLessor, toLessee]: [Buffer[], Buffer[]] = [[], []];
  const joined = node.lessor.join('bench', (message) => toLessee.push(serialize(message)));
  let [senderTotalMs, lessorTotalMs] = [0, 0];
  quota.connect((message) => {
    const fromMs = monotonicMs();
    toLessor.push(serialize(message));
    senderTotalMs += monotonicMs() - fromMs;
  });
  for (let turn = 0; turn < WARM + TURNS; turn += 1) {
    if (turn === WARM) [senderTotalMs, lessorTotalMs] = [0, 0];
    for (let at = 0; at < QUESTIONS; at += 1) tryCall(quota, callerOf(`t${turn}-${at}`));
    // The quota sends its message automatically.
    await sleep(6);
    const sentMs = monotonicMs();
    for (const bytes of toLessor.splice(0)) joined.take(deserialize(bytes) as ToLessor);
    lessorTotalMs += monotonicMs() - sentMs;
    const answerFromMs = monotonicMs();
    for (const bytes of toLessee.splice(0)) quota.handle(deserialize(bytes) as ToLessee);
    senderTotalMs += monotonicMs() - answerFromMs;
  }
  const all = TURNS * QUESTIONS;
  return { senderMs: senderTotalMs / all, lessorMs: lessorTotalMs / all };
}

/** Tries a call without quota, which starts a quota request. */
function tryCall(quota: LeasedQuota, by: Caller): void {
  try {
    quota.hold(by, { ...NAMED, requestId: 'r' }, 30);
  } catch {
    // No quota is available yet.
  }
}

const NAMED = { endpoint: 'queryData', usageKey: 'WS.D', weight: 1, premium: false };
const caller = callerOf('t');

/** Returns whether the node could charge the call. */
function chargeCall(quota: LeasedQuota, at: number): boolean {
  try {
    quota.admit(caller, ADDRESS);
    quota.findStop(caller);
    const hold = quota.hold(caller, { ...NAMED, requestId: `r${at}` }, 30);
    quota.settle(hold, 30).confirm();
    return true;
  } catch {
    return false;
  }
}
