// Finds the records of a load that repeat a value of the unique index, in the file or in stored records, with
// their lines: `duplicates=reject` reports each.
import type { Reject } from '../../store/work/jobs.ts';
import { REJECTS_MAX } from '../../store/work/jobs.ts';
import { withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import { FAULT, fileLineOf, RECORD_NUMBER, selectList } from '../batch/batchStatements.ts';
import { faultExpression } from '../batch/exactBatch.ts';
import type { Batch, BatchRequest } from '../batch/batchRequest.ts';
import { findOverlapping } from '../batch/uniqueIndex.ts';
import { UNREAD_LINES } from '../values/rejectedLines.ts';
import { fromClause, withExponents } from '../values/relation.ts';
import { type MergeTarget, sameTerms, withTerms } from './reconcile.ts';

/** @param request the request that produced the batch */
export async function findRejectedRepeats(
  batch: Batch,
  request: BatchRequest,
  { bench, files, index, table }: MergeTarget,
): Promise<readonly Reject[]> {
  const candidates = findOverlapping(table.files, batch.stats, index);
  const { columns } = request;
  const relation = withExponents(request.relation);
  const exactRequest = { ...request, relation, sharesRow: true };
  return withOpenFiles(files, candidates, async ({ paths, pathOf }) => {
    const stored = withTerms(visibleRows(candidates, table.columns, pathOf), index, 's');
    const read = `SELECT row_number() OVER () AS ${RECORD_NUMBER}, * FROM
      (SELECT ${faultExpression(exactRequest)} AS ${FAULT}, ${selectList(exactRequest, false)}
        FROM ${fromClause(relation, columns, false)})`;
    const valid = `(SELECT * FROM (${read}) WHERE ${FAULT} IS NULL)`;
    const numbered = withTerms(valid, index, 'n');
    const terms = index.terms.map((_, at) => `n${at}`).join(', ');
    const texts = index.terms.map((_, at) => `CAST(n${at} AS VARCHAR)`).join(`, ', ', `);
    const isStored = `EXISTS (FROM ${stored} AS s WHERE ${sameTerms(index)})`;
    const statement = `SELECT ${RECORD_NUMBER} AS n, concat(${texts}) AS repeated, isStored FROM
      (SELECT *, ${isStored} AS isStored,
        row_number() OVER (PARTITION BY ${terms} ORDER BY ${RECORD_NUMBER}) AS place FROM ${numbered} AS n)
      WHERE isStored OR place > 1 ORDER BY 1 LIMIT ${REJECTS_MAX}`;
    const [rows = [], unread = []] = await bench.pool.rows({
      files: [relation.path, ...paths],
      folder: bench.folder,
      below: bench.below,
      statements: relation.kind === 'csv' ? [statement, UNREAD_LINES] : [statement],
      deadlineMs: bench.deadlineMs,
    });
    const lines = unread.map((row) => ({ line: Number(row['line']) }));
    return rows.map((row) => {
      const where = row['isStored'] === true ? 'is stored already' : 'is in the file already';
      return {
        line: fileLineOf(Number(row['n']), relation, lines),
        error: `index value (${String(row['repeated'])}) ${where}: duplicates=reject`,
      };
    });
  });
}
