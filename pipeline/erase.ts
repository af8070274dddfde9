// Deleting records: positional deletes in one commit. Earlier versions keep what they had.
import type { SeriesPlan } from '../query/seriesPlan.ts';
import { printConditions, prunedFiles } from '../query/seriesSql.ts';
import type { Dataset } from '../store/datasets.ts';
import { inWorkFolder } from '../store/workFolder.ts';
import { deletesWhere } from './against.ts';
import { publishDeletes } from './ingest.ts';
import { uniqueIndexOf } from './uniqueIndex.ts';
import type { IngestServices } from './load.ts';
import { literal } from '../store/duckdb/sqlText.ts';

/** Deletes what the plan's key, subkey and dates find; how many records that were. */
export async function eraseRecords(
  plan: SeriesPlan,
  dataset: Dataset,
  author: string,
  services: IngestServices,
): Promise<number> {
  const { lake, pool, deadlineMs } = services;
  const { table } = plan;
  return inWorkFolder(services.temporary, async (folder) => {
    const bench = { pool, folder, deadlineMs, onProgress: () => undefined };
    const place = { bench, files: lake.files, table, index: uniqueIndexOf(dataset, table) };
    const condition = printConditions(plan, literal);
    const { deletes, replaced } = await deletesWhere(condition, prunedFiles(plan), place);
    const edits = await publishDeletes(deletes, table, lake);
    const message = `${replaced} records deleted from ${dataset.workspace}.${dataset.dataset}`;
    await lake.commit(edits, { author, message });
    return replaced;
  });
}
