// Serves `_SYSTEM.LOGS` to SQL: a dataset without files whose records are the current log lines of the
// caller's account.
import type { SelectPlan } from '../../query/sql/plan/selectPlan.ts';
import { isoTime } from '../../store/base/clock.ts';
import type { Database } from '../../store/catalog/database.ts';
import { createDataset, createSystemWorkspace } from '../../store/lake/datasetEdits.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { LEVELS, listLatestLines } from '../../store/work/jobs.ts';
import type { PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import { LOGS, SYSTEM_WORKSPACE } from '../../store/lake/systemTables.ts';
import type { ReadServices } from '../request/readServices.ts';

/** Maximum lines of one query, latest first: they are bound as one parameter of about 3 MB. */
const LINES_MAX = 10_000;

export const isLogs = ({ dataset, workspace }: Dataset): boolean =>
  workspace === SYSTEM_WORKSPACE && dataset === LOGS.dataset;

/** Creates the dataset when a query first names it, because most servers never need it. */
export async function openLogs(
  { tables }: SelectPlan,
  { clock, lake }: Pick<ReadServices, 'clock' | 'lake'>,
): Promise<void> {
  const named = tables.some(
    ({ name, workspace }) =>
      workspace?.toUpperCase() === SYSTEM_WORKSPACE && name.toUpperCase() === LOGS.dataset,
  );
  if (!named || lake.directory.dataset(SYSTEM_WORKSPACE, LOGS.dataset) !== undefined) return;
  if (lake.directory.workspace(SYSTEM_WORKSPACE) === undefined) {
    await createSystemWorkspace(lake, SYSTEM_WORKSPACE, clock());
  }
  await createDataset(lake, LOGS, 'tapedeck logs');
}

export async function logRows(
  database: Database,
  accountId: string,
): Promise<readonly PendingRow[]> {
  const lines = await listLatestLines(database, accountId, LINES_MAX);
  return lines.map((line, at) => {
    const time = isoTime(line.time_ms).slice(0, -1);
    const document = {
      accountId,
      lineId: line.log_id,
      time,
      workspace: line.workspace,
      severity: line.severity,
      level: LEVELS[line.severity] ?? LEVELS['info'],
      jobId: line.job_id,
      message: line.message,
    };
    const index = JSON.stringify([accountId, line.log_id, time]);
    return { index, replaces: false, document, sequence: at + 1, timeMs: line.time_ms };
  });
}
