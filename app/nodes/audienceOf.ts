// What nodes hear that answer reads beside this one, which serves, and what they may spend.
import type { Throttle } from '../../api/request/throttle.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { randomShare } from '../../store/base/random.ts';
import { QuotaLessor } from '../../store/ledger/leases/lessor.ts';
import { Audience } from '../../store/replica/audience.ts';
import type { Core } from '../core.ts';

/** One that lost its place loses it after ten seconds of silence: it stops well before. */
const UNSURE_MS = 5_000;

/** @param unsureMs how long ago it was known for sure that this node serves */
export async function audienceOf(
  { log, services }: Core,
  { permits }: Throttle,
  unsureMs: () => number,
): Promise<{ readonly audience: Audience; readonly lessor: QuotaLessor }> {
  const { accounts, clock, database, lake, ledger, pending, queries } = services;
  const lessor = await QuotaLessor.open({
    ledger,
    database,
    clock,
    permits,
    nowMs: monotonicMs,
    share: randomShare(),
    callerOf: (tokenId) => accounts.callerOf(tokenId),
    knownCaller: (_, tokenId) => accounts.known(tokenId),
    used: (tokenId, timeMs) => accounts.used(tokenId, timeMs),
    onFault: (reason) => log.error({ reason: reasonOf(reason) }, 'quota of other nodes'),
  });
  const audience = new Audience({
    clockMs: monotonicMs,
    isSure: () => unsureMs() < UNSURE_MS,
    snapshot: () => lake.snapshot,
    pending: (tableId) => ({ tableId, rows: pending.rows(tableId) }),
    lessor,
  });
  lake.changes.whileQuiet(audience.quiet);
  lake.onChange((change) => audience.changed(change));
  pending.whileQuiet(audience.quiet);
  pending.onPush((made) => audience.pushed(made));
  pending.onFlush((...flushed) => audience.flushed(...flushed));
  accounts.changes.whileQuiet(audience.quiet, () => {
    // Both are heard before the nodes answer again.
    lessor.limitsChanged();
    audience.accounts();
  });
  lake.files.onRemoved?.((paths) => audience.removed(paths));
  queries.changes.whileQuiet(audience.quiet, () => audience.queries());
  return { audience, lessor };
}
