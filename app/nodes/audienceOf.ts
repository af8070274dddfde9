// Publishes changes, and quota, from this serving node to nodes that answer reads.
import type { Throttle } from '../../api/request/throttle.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { randomShare } from '../../store/base/random.ts';
import { QuotaLessor } from '../../store/ledger/leases/lessor.ts';
import { Audience } from '../../store/replica/audience.ts';
import type { Core } from '../core.ts';

/** A serving node loses its place after ten seconds of silence: this one stops publishing well before. */
const UNSURE_MS = 5_000;

/** @param unsureMs time since this node was last confirmed to be serving */
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
  pending.onPush((pushes) => audience.pushed(pushes));
  pending.onFlush((...flushed) => audience.flushed(...flushed));
  accounts.changes.whileQuiet(audience.quiet, () => {
    // Both are published before the nodes answer again.
    lessor.limitsChanged();
    audience.accounts();
  });
  lake.files.onRemoved?.((paths) => audience.removed(paths));
  queries.changes.whileQuiet(audience.quiet, () => audience.queries());
  return { audience, lessor };
}
