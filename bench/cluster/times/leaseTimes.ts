// Measures the cost of leased quota per call, at the reading node and at the serving node that receives the
// report.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import type { Caller } from '../../../store/accounts/callers.ts';
import { monotonicMs, systemClock } from '../../../store/base/clock.ts';
import { LeasedQuota } from '../../../store/ledger/leases/leasedQuota.ts';
import type { ToLessee, ToLessor } from '../../../store/ledger/leases/leaseMessages.ts';
import { QuotaLessor } from '../../../store/ledger/leases/lessor.ts';
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

interface Lending extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly lessor: QuotaLessor;
}

/** Opens a serving node that leases quota to any node. */
async function lending(path: string): Promise<Lending> {
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
  await using here = await lending(join(folder, 'leases.db'));
  const quota = new LeasedQuota({ lessee: 'bench', nowMs: monotonicMs });
  const waiting: Buffer[] = [];
  const joined = here.lessor.join('bench', (message: ToLessee) => quota.take(message));
  let tellMs = 0;
  quota.connected((message) => {
    const fromMs = monotonicMs();
    waiting.push(serialize(message));
    tellMs += monotonicMs() - fromMs;
  });
  const [spent, taken] = [{ ms: 0, calls: 0 }, { ms: 0 }];
  for (let turn = 0; turn < WARM + TURNS; turn += 1) {
    if (turn === WARM) [spent.ms, spent.calls, taken.ms, tellMs] = [0, 0, 0, 0];
    const fromMs = monotonicMs();
    for (let at = 0; at < TURN_CALLS; at += 1) if (called(quota, at)) spent.calls += 1;
    spent.ms += monotonicMs() - fromMs;
    await sleep(6);
    const takenMs = monotonicMs();
    for (const bytes of waiting.splice(0)) joined.take(deserialize(bytes) as ToLessor);
    taken.ms += monotonicMs() - takenMs;
  }
  const micros = (ms: number): string => (ms * 1_000).toFixed(2);
  const each = (ms: number): string => micros(ms / spent.calls);
  const { answered, asked } = await measureQuestions(folder);
  return [
    `${spent.calls} of ${TURNS * TURN_CALLS} calls were charged at the node that reads`,
    `of a call there: ${each(spent.ms)} µs, reporting it ${each(tellMs)} µs`,
    `at the node that serves: ${each(taken.ms)} µs`,
    `a quota request, without its message: ${micros(asked)} µs, its answer ${micros(answered)} µs`,
  ];
}

/** Measures the milliseconds per quota request in a shared message, at the requesting node and at the lessor. */
export async function measureQuestions(
  folder: string,
): Promise<{ readonly asked: number; readonly answered: number }> {
  await using here = await lending(join(folder, 'questions.db'));
  const quota = new LeasedQuota({ lessee: 'bench', nowMs: monotonicMs });
  const [toLessor, toLessee]: [Buffer[], Buffer[]] = [[], []];
  const joined = here.lessor.join('bench', (message) => toLessee.push(serialize(message)));
  let [askedMs, answeredMs] = [0, 0];
  quota.connected((message) => {
    const fromMs = monotonicMs();
    toLessor.push(serialize(message));
    askedMs += monotonicMs() - fromMs;
  });
  for (let turn = 0; turn < WARM + TURNS; turn += 1) {
    if (turn === WARM) [askedMs, answeredMs] = [0, 0];
    for (let at = 0; at < QUESTIONS; at += 1) tried(quota, callerOf(`t${turn}-${at}`));
    // The quota sends its message automatically.
    await sleep(6);
    const sentMs = monotonicMs();
    for (const bytes of toLessor.splice(0)) joined.take(deserialize(bytes) as ToLessor);
    answeredMs += monotonicMs() - sentMs;
    const heardMs = monotonicMs();
    for (const bytes of toLessee.splice(0)) quota.take(deserialize(bytes) as ToLessee);
    askedMs += monotonicMs() - heardMs;
  }
  const all = TURNS * QUESTIONS;
  return { asked: askedMs / all, answered: answeredMs / all };
}

/** Tries a call without quota, which starts a quota request. */
function tried(quota: LeasedQuota, by: Caller): void {
  try {
    quota.hold(by, { ...NAMED, requestId: 'r' }, 30);
  } catch {
    // No quota is available yet.
  }
}

const NAMED = { endpoint: 'queryData', usageKey: 'WS.D', weight: 1, premium: false };
const caller = callerOf('t');

/** Returns whether the node could charge the call. */
function called(quota: LeasedQuota, at: number): boolean {
  try {
    quota.admit(caller, ADDRESS);
    quota.stopped(caller);
    const hold = quota.hold(caller, { ...NAMED, requestId: `r${at}` }, 30);
    quota.settle(hold, 30).delivered();
    return true;
  } catch {
    return false;
  }
}
