// One load of a file that has come, as a job: its end is part of its commit's transaction.
import { ingest } from '../../pipeline/merge/ingest.ts';
import { isLost } from '../../store/base/failure.ts';
import { insertRejects, updateJob } from '../../store/work/jobs.ts';
import { awaited } from './awaited.ts';
import { endIngested, eventsOf, type JobParts, tellLog } from './jobLife.ts';
import type { LoadOrder } from './order.ts';

interface LoadRun {
  readonly jobId: string;
  readonly order: LoadOrder;
  readonly signal: AbortSignal;
  readonly onProgress: (percent: number) => void;
}

/**
 * A child that was killed takes the load along, by no fault of its own: it is tried once more;
 * while the catalog, or the store of the files, is away it is tried for a while.
 * @throws Failure with the reason; then nothing of the load is visible.
 */
export async function runLoad(run: LoadRun, parts: JobParts): Promise<void> {
  const { jobId, order, signal } = run;
  const load = (): Promise<void> => awaited(() => loadOnce(run, parts), signal);
  try {
    await load();
  } catch (error) {
    if (!isLost(error) || signal.aborted) throw error;
    await tellLog(jobId, order, 'its process was lost: it begins again', parts, 'warn');
    await load();
  }
}

async function loadOnce(
  { jobId, onProgress, order, signal }: LoadRun,
  parts: JobParts,
): Promise<void> {
  const { services } = parts;
  const pool = services.pool.of(order.accountId);
  await parts.checkRoom(order.accountId, order.workspace);
  await ingest(
    { ...order, jobId },
    `${order.accountId} job ${jobId}`,
    { ...services, pool, signal },
    eventsOf(jobId, order, parts, onProgress),
    async (tx, outcome, made) => {
      await insertRejects(tx, jobId, outcome.rejects);
      await updateJob(tx, jobId, {
        records_validated: outcome.validated,
        records_ingested: outcome.ingested,
        records_invalid: outcome.invalid,
        records_duplicate: outcome.duplicates,
        records_quarantined: outcome.quarantined,
        snapshot_id: made.snapshot,
        notes_json: JSON.stringify(outcome.notes),
      });
      await endIngested(tx, jobId, order, parts);
    },
  );
}
