// Deletes records by positional deletes in one commit. Earlier versions keep their records.
import type { SeriesPlan } from '../../query/plan/seriesPlan.ts';
import { printConditions, prunedFiles } from '../../query/plan/seriesSql.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { withWorkFolder } from '../bytes/workbench.ts';
import type { Day } from '../../query/time/days.ts';
import { tableOf } from '../conform/conform.ts';
import { deleteMatching } from '../merge/reconcile.ts';
import { publishDeletes } from '../merge/ingest.ts';
import { buildUniqueIndex } from '../batch/uniqueIndex.ts';
import type { IngestServices } from '../conform/load.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

/**
 * Deletes the records that match the plan's key, subkey and dates; returns their number.
 * @param alongside runs in the transaction of the deletion
 */
export async function eraseRecords(
  plan: SeriesPlan,
  dataset: Dataset,
  author: string,
  services: IngestServices,
  alongside: (transaction: Database) => Promise<void>,
): Promise<number> {
  const { lake, deadlineMs } = services;
  const { table } = plan;
  return withWorkFolder(dataset.workspace, services, async (where) => {
    const bench = { ...where, deadlineMs, onProgress: () => undefined };
    const place = { bench, files: lake.files, table, index: buildUniqueIndex(dataset, table) };
    const condition = printConditions(plan, literal);
    const { deletes, replaced } = await deleteMatching(condition, prunedFiles(plan), place);
    const edits = await publishDeletes(deletes, table, lake);
    const message = `${replaced} records deleted from ${dataset.workspace}.${dataset.dataset}`;
    await lake.commit(edits, { author, message }, alongside);
    return replaced;
  });
}

/** Deletes the records before a day, of a dataset with a date, in the dataset's turn. */
export async function eraseBefore(
  day: Day,
  dataset: Dataset,
  author: string,
  services: IngestServices,
): Promise<void> {
  const { deadlineMs, lake } = services;
  const { date } = dataset.mapping;
  const table = await tableOf(lake, dataset);
  if (date === undefined || table.files.length === 0) return;
  await withWorkFolder(dataset.workspace, services, async (where) => {
    const bench = { ...where, deadlineMs, onProgress: () => undefined };
    const place = { bench, files: lake.files, table, index: buildUniqueIndex(dataset, table) };
    const condition = `${identifier(date)} < DATE ${literal(day)}`;
    const { deletes, replaced } = await deleteMatching(condition, table.files, place);
    if (replaced === 0) return;
    const edits = await publishDeletes(deletes, table, lake);
    const message = `${replaced} records before ${day} deleted from ${dataset.workspace}.${dataset.dataset}`;
    await lake.commit(edits, { author, message });
  });
}
