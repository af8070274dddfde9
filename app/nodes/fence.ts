// Decides whether this node may still answer. Another one replaces it when it is suspended or disconnected,
// which it only notices by a check. Its reads are answered only if it held the catalog a moment ago.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fence } from '../../api/auth/admission.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import type { NodeTable } from '../../store/postgres/nodeTable.ts';

/** Others wait longer before they take a free place after an outage. */
const LEASE_MS = 2_000;
/** Longest wait of an answer for PostgreSQL. */
const CHECK_MS = 5_000;
const AGAIN_MS = 100;

export function makeFence(table: Pick<NodeTable, 'confirm' | 'unconfirmedMs'>): Fence {
  let checking: Promise<void> | undefined;
  const isSure = (): boolean => table.unconfirmedMs < LEASE_MS;
  const check = async (): Promise<void> => {
    const untilMs = monotonicMs() + CHECK_MS;
    while (!(await table.confirm())) {
      if (monotonicMs() > untilMs) {
        throw new Failure('Busy', 'another node may serve the catalog: try again', AGAIN_MS);
      }
      await sleep(AGAIN_MS);
    }
  };
  return {
    isConfirmed: isSure,
    confirm: () => {
      checking ??= check().finally(() => (checking = undefined));
      return checking;
    },
  };
}
