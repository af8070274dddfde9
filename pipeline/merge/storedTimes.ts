// Lists when the records of a dataset were stored: the time identifies the load of a record.
import { UPDATED_COLUMN } from '../../store/lake/versions/columns.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import { withWorkFolder } from '../bytes/workbench.ts';
import { tableOf } from '../conform/conform.ts';
import type { IngestServices } from '../conform/load.ts';
import { identifier } from '../../store/duckdb/sqlText.ts';

/** Maximum distinct times: one per load, and one per pushed record. */
const TIMES_MAX = 100_000;

interface StoredTime {
  readonly timeMs: number;
  readonly records: number;
}

/** Ascending. @throws Failure InvalidBody if they are too many to distinguish. */
export async function storedTimes(
  dataset: Dataset,
  services: IngestServices,
): Promise<readonly StoredTime[]> {
  const { deadlineMs, lake } = services;
  const { columns, files } = await tableOf(lake, dataset);
  const own = columns.filter(({ name }) => name === UPDATED_COLUMN);
  const rows = await withWorkFolder(dataset.workspace, services, ({ folder, pool }) =>
    withOpenFiles(lake.files, files, async ({ paths, pathOf }) => {
      const time = `epoch_ms(${identifier(UPDATED_COLUMN)})`;
      const statement = `SELECT ${time} AS t, count(*) AS n FROM ${visibleRows(files, own, pathOf)}
        GROUP BY 1 ORDER BY 1 LIMIT ${TIMES_MAX + 1}`;
      const question = { files: paths, folder, statements: [statement], deadlineMs };
      return (await pool.rows(question))[0] ?? [];
    }),
  );
  if (rows.length > TIMES_MAX) {
    const rule = `were stored at over ${TIMES_MAX} times: their loads cannot be distinguished`;
    throw new Failure('InvalidBody', `the records of the dataset ${rule}`);
  }
  return rows.map((row) => ({ timeMs: Number(row['t']), records: Number(row['n']) }));
}
