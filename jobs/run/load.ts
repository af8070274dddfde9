// One load of a received file, as a job: its end is part of its commit's transaction.
import { ingest } from '../../pipeline/merge/ingest.ts';
import { isProcessLost } from '../../store/base/failure.ts';
import { insertRejects, updateJob } from '../../store/work/jobs.ts';
import { retryWhileAway } from './retryWhileAway.ts';
import { endIngested, createJobEvents, type JobParts, writeJobLog } from './jobLife.ts';
import { jobCounts } from './jobCounts.ts';
import { recogniseFile, recognisedOutcome } from './recognise.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { LoadOrder } from './order.ts';

interface LoadRun {
  readonly jobId: string;
  readonly order: LoadOrder;
  readonly signal: AbortSignal;
  readonly onProgress: (percent: number) => void;
}

/**
 * Runs a load. After a lost child process, which may not be its fault, it is retried once; while the catalog,
 * or the store of the files, is unavailable it is retried for a while.
 * @throws Failure with the reason; then nothing of the load is visible.
 */
export async function runLoad(run: LoadRun, parts: JobParts): Promise<void> {
  const { jobId, order, signal } = run;
  const load = (): Promise<void> => retryWhileAway(() => loadOnce(run, parts), signal);
  try {
    await load();
  } catch (error) {
    if (!isProcessLost(error) || signal.aborted) throw error;
    await writeJobLog(jobId, order, 'its process was lost: the load starts again', parts, 'warn');
    await load();
  }
}

async function loadOnce(
  { jobId, onProgress, order, signal }: LoadRun,
  parts: JobParts,
): Promise<void> {
  const { services } = parts;
  const pool = services.pool.forAccount(order.accountId);
  await parts.checkRoom(order.accountId, order.workspace);
  const findDataset = (): Dataset | undefined =>
    services.lake.directory.dataset(order.workspace, order.dataset);
  const { loaded, remember } = await recogniseFile(order, jobId, findDataset(), parts);
  if (loaded !== undefined && !loaded.is_partial) {
    const outcome = recognisedOutcome(loaded);
    for (const note of outcome.notes) await writeJobLog(jobId, order, note, parts, 'warn');
    await parts.database.transaction().execute(async (tx) => {
      await updateJob(tx, jobId, jobCounts(outcome));
      await endIngested(tx, jobId, order, parts);
    });
    return;
  }
  // Stored records of a known file are skipped; the others are loaded again.
  const compared = loaded === undefined ? order : { ...order, skipsIdentical: 'of-all' as const };
  await ingest(
    { ...compared, jobId },
    `${order.accountId} job ${jobId}`,
    { ...services, pool, signal },
    createJobEvents(jobId, order, parts, onProgress),
    async (tx, outcome, committed) => {
      await insertRejects(tx, jobId, outcome.rejects);
      await updateJob(tx, jobId, { ...jobCounts(outcome), snapshot_id: committed.snapshot });
      const dataset = findDataset();
      if (dataset !== undefined) await remember(tx, dataset, outcome);
      await endIngested(tx, jobId, order, parts);
    },
  );
}
