// What leased quota costs a call at the node that reads it, and the node that serves when it is told of it.
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

/** Calls at once: those of a turn where many come. */
const TURN_CALLS = 500;
const TURNS = 400;
/** Accounts that a message asks for, where many are asked for. */
const QUESTIONS = 20;
/** Turns before, which are not counted. */
const WARM = 50;
const ADDRESS = '192.0.2.1';

interface Lending extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly lessor: QuotaLessor;
}

/** A node that serves and lends to whoever asks. */
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
  const joined = here.lessor.join('bench', (message: ToLessee) => quota.handle(message));
  let tellMs = 0;
  quota.connect((message) => {
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
    `of a call there: ${each(spent.ms)} µs, telling it ${each(tellMs)} µs`,
    `at the node that serves: ${each(taken.ms)} µs`,
    `a question, beside its message: ${micros(asked)} µs, its answer ${micros(answered)} µs`,
  ];
}

/** Milliseconds of one of several questions that go together, at the node that asks and at the one asked. */
export async function measureQuestions(
  folder: string,
): Promise<{ readonly asked: number; readonly answered: number }> {
  await using here = await lending(join(folder, 'questions.db'));
  const quota = new LeasedQuota({ lessee: 'bench', nowMs: monotonicMs });
  const [toLessor, toLessee]: [Buffer[], Buffer[]] = [[], []];
  const joined = here.lessor.join('bench', (message) => toLessee.push(serialize(message)));
  let [askedMs, answeredMs] = [0, 0];
  quota.connect((message) => {
    const fromMs = monotonicMs();
    toLessor.push(serialize(message));
    askedMs += monotonicMs() - fromMs;
  });
  for (let turn = 0; turn < WARM + TURNS; turn += 1) {
    if (turn === WARM) [askedMs, answeredMs] = [0, 0];
    for (let at = 0; at < QUESTIONS; at += 1) tried(quota, callerOf(`t${turn}-${at}`));
    // Its turn comes by itself.
    await sleep(6);
    const sentMs = monotonicMs();
    for (const bytes of toLessor.splice(0)) joined.take(deserialize(bytes) as ToLessor);
    answeredMs += monotonicMs() - sentMs;
    const heardMs = monotonicMs();
    for (const bytes of toLessee.splice(0)) quota.handle(deserialize(bytes) as ToLessee);
    askedMs += monotonicMs() - heardMs;
  }
  const all = TURNS * QUESTIONS;
  return { asked: askedMs / all, answered: answeredMs / all };
}

/** A call that finds nothing, and is asked for. */
function tried(quota: LeasedQuota, by: Caller): void {
  try {
    quota.hold(by, { ...NAMED, requestId: 'r' }, 30);
  } catch {
    // It is not here.
  }
}

const NAMED = { endpoint: 'queryData', usageKey: 'WS.D', weight: 1, premium: false };
const caller = callerOf('t');

/** Whether the node could charge it. */
function called(quota: LeasedQuota, at: number): boolean {
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
