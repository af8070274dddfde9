// Counts the local times of a file that its zone skipped or repeated at a clock change.
import { oddTimes } from '../dates/timeZones.ts';
import type { Column } from '../../store/lake/versions/columns.ts';
import { fromClause, localTime, type Relation } from '../values/relation.ts';
import type { Workbench } from '../bytes/workbench.ts';
import { runStatements } from './batchStatements.ts';

/** Notes for the load, if there are such times. */
export async function zoneNotes(
  relation: Relation,
  columns: readonly Column[],
  bench: Workbench,
): Promise<readonly string[]> {
  const { zone } = relation;
  const odd = zone === undefined ? undefined : oddTimes('local', zone);
  if (zone === undefined || odd === undefined) return [];
  const locals = columns.flatMap((column) => localTime(relation, column) ?? []);
  if (locals.length === 0) return [];
  const from = fromClause(relation, columns, false);
  const rows = `SELECT unnest([${locals.join(', ')}]) AS local FROM ${from}`;
  const counts = `SELECT count(*) FILTER (WHERE ${odd.missing}) AS missing,
    count(*) FILTER (WHERE ${odd.twice}) AS twice FROM (${rows})`;
  const [[tally] = []] = await runStatements(bench, relation, [counts]);
  const [missing, twice] = [Number(tally?.['missing']), Number(tally?.['twice'])];
  return [
    ...(missing > 0
      ? [
          `${missing} times do not exist in ${zone}: they are read with the offset before the change`,
        ]
      : []),
    ...(twice > 0
      ? [`${twice} times exist twice in ${zone}: they are read as the first of both`]
      : []),
  ];
}
