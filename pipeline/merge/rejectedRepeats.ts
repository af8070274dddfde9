// Finds the records of a load that repeat a value of the unique index, in the file or in what is stored, with
// their lines: the choice `duplicates=reject` reports each.
import type { Reject } from '../../store/work/jobs.ts';
import { REJECTS_KEPT_MAX } from '../../store/work/jobs.ts';
import { withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import { lineOf, NUMBER, selection } from '../batch/batchStatements.ts';
import type { Batch, BatchRequest } from '../batch/batchRequest.ts';
import { overlapping } from '../batch/uniqueIndex.ts';
import { fromClause } from '../values/relation.ts';
import { type MergeBench, same, withTerms } from './reconcile.ts';

/** @param request what the batch was made of */
export async function findRejectedRepeats(
  batch: Batch,
  request: BatchRequest,
  { bench, files, index, table }: MergeBench,
): Promise<readonly Reject[]> {
  const candidates = overlapping(table.files, batch.stats, index);
  const { columns, relation } = request;
  return withOpenFiles(files, candidates, async ({ paths, pathOf }) => {
    const stored = withTerms(visibleRows(candidates, table.columns, pathOf), index, 's');
    const read = `SELECT row_number() OVER () AS ${NUMBER}, * FROM
      (SELECT ${selection({ ...request, sharesRow: true }, false)}
        FROM ${fromClause(relation, columns, false)})`;
    const numbered = withTerms(`(${read})`, index, 'n');
    const terms = index.terms.map((_, at) => `n${at}`).join(', ');
    const shown = index.terms.map((_, at) => `CAST(n${at} AS VARCHAR)`).join(`, ', ', `);
    const isStored = `EXISTS (FROM ${stored} AS s WHERE ${same(index)})`;
    const statement = `SELECT ${NUMBER} AS n, concat(${shown}) AS shown, isStored FROM
      (SELECT *, ${isStored} AS isStored,
        row_number() OVER (PARTITION BY ${terms} ORDER BY ${NUMBER}) AS place FROM ${numbered} AS n)
      WHERE isStored OR place > 1 ORDER BY 1 LIMIT ${REJECTS_KEPT_MAX}`;
    const [rows = []] = await bench.pool.rows({
      files: [relation.path, ...paths],
      folder: bench.folder,
      below: bench.below,
      statements: [statement],
      deadlineMs: bench.deadlineMs,
    });
    return rows.map((row) => {
      const where = row['isStored'] === true ? 'is stored already' : 'is in the file already';
      return {
        line: lineOf(Number(row['n']), relation, batch.rejects),
        error: `index value (${String(row['shown'])}) ${where}: duplicates=reject`,
      };
    });
  });
}
