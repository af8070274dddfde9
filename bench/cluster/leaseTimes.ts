// What leased quota costs a call at the node that reads it, and the node that serves when it is told of it.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { monotonicMs, systemClock } from '../../store/base/clock.ts';
import { survive } from '../../store/base/crashPoints.ts';
import { migrate } from '../../store/catalog/migrate.ts';
import { LeasedQuota } from '../../store/leases/leasedQuota.ts';
import type { ToLessee, ToLessor } from '../../store/leases/leaseMessages.ts';
import { QuotaLessor } from '../../store/leases/lessor.ts';
import { billingDays } from '../../store/ledger/billingDays.ts';
import { Ledger } from '../../store/ledger/ledger.ts';
import { openDatabase } from '../../store/sqlite/sqliteDatabase.ts';
import { callerOf } from '../money.ts';

/** Calls at once: those of a turn where many come. */
const TURN_CALLS = 500;
const TURNS = 400;
/** Turns before, which are not counted. */
const WARM = 50;
const ADDRESS = '192.0.2.1';

export async function benchLeases(folder: string): Promise<readonly string[]> {
  const database = openDatabase(join(folder, 'leases.db'));
  await migrate(database);
  const days = billingDays('America/New_York');
  const onFault = (reason: unknown): void => {
    throw reason;
  };
  const ledger = await Ledger.open({ database, clock: systemClock, days, at: survive, onFault });
  const lessor = await QuotaLessor.open({
    ...{ ledger, database, clock: systemClock, nowMs: monotonicMs, share: 0, onFault },
    permits: { address: (_address, most) => most, token: (_caller, most) => most },
    ...{ callerOf: () => caller, knownCaller: () => caller, used: () => undefined },
  });
  const quota = new LeasedQuota({ lessee: 'bench', nowMs: monotonicMs });
  const waiting: Buffer[] = [];
  const joined = lessor.join('bench', (message: ToLessee) => quota.take(message));
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
  await ledger.flush();
  lessor.close();
  await database.destroy();
  const each = (ms: number): string => ((ms * 1_000) / spent.calls).toFixed(2);
  return [
    `${spent.calls} of ${TURNS * TURN_CALLS} calls were charged at the node that reads`,
    `of a call there: ${each(spent.ms)} µs, telling it ${each(tellMs)} µs`,
    `at the node that serves: ${each(taken.ms)} µs`,
  ];
}

const caller = callerOf('t');

/** Whether the node could charge it. */
function called(quota: LeasedQuota, at: number): boolean {
  const named = { requestId: `r${at}`, endpoint: 'queryData', usageKey: 'WS.D' };
  try {
    quota.admit(caller, ADDRESS);
    quota.stopped(caller);
    const hold = quota.hold(caller, { ...named, weight: 1, premium: false }, 30);
    quota.settle(hold, 30).delivered();
    return true;
  } catch {
    return false;
  }
}
