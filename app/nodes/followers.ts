// Publishes changes, and quota, from this serving node to nodes that answer reads.
import type { Throttle } from '../../api/request/throttle.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { randomFraction } from '../../store/base/random.ts';
import { QuotaLessor } from '../../store/ledger/leases/quotaLessor.ts';
import { Followers } from '../../store/replica/followers.ts';
import type { Core } from '../core.ts';

/** A serving node loses its place after ten seconds of silence: this one stops publishing well before. */
const UNSURE_MS = 5_000;

/** @param unsureMs time since this node was last confirmed to be serving */
export async function createFollowers(
  { log, services }: Core,
  { permits }: Throttle,
  unsureMs: () => number,
): Promise<{ readonly audience: Followers; readonly lessor: QuotaLessor }> {
  const { accounts, clock, database, lake, ledger, pending, queries } = services;
  const lessor = await QuotaLessor.open({
    ledger,
    database,
    clock,
    permits,
    nowMs: monotonicMs,
    share: randomFraction(),
    callerOf: (tokenId) => accounts.callerById(tokenId),
    knownCaller: (_, tokenId) => accounts.findCaller(tokenId),
    used: (tokenId, timeMs) => accounts.recordUse(tokenId, timeMs),
    onFault: (reason) => log.error({ reason: reasonOf(reason) }, 'quota of other nodes'),
  });
  const audience = new Followers({
    clockMs: monotonicMs,
    isSure: () => unsureMs() < UNSURE_MS,
    snapshot: () => lake.snapshot,
    pending: (tableId) => ({ tableId, rows: pending.pendingRows(tableId) }),
    lessor,
  });
  lake.changes.configure(audience.pause);
  lake.onChange((change) => audience.sendChange(change));
  pending.setReadBarrier(audience.pause);
  pending.onPush((pushes) => audience.sendPushed(pushes));
  pending.onFlush((...flushed) => audience.sendFlushed(...flushed));
  accounts.changes.configure(audience.pause, () => {
    // Both are published before the nodes answer again.
    lessor.recallExcess();
    audience.sendAccountsChanged();
  });
  lake.files.onRemoved?.((paths) => audience.sendRemoved(paths));
  queries.changes.configure(audience.pause, () => audience.sendQueriesChanged());
  return { audience, lessor };
}
