// Refuses columns that a frozen schema does not have, with the first value of each, so that the sender can
// find it.
import { Failure } from '../../store/base/failure.ts';
import { runStatements, fileLineOf, RECORD_NUMBER } from '../batch/batchStatements.ts';
import { fromClause, hasValueTest, type Relation } from '../values/relation.ts';
import { identifier } from '../../store/duckdb/sqlText.ts';
import type { Workbench } from '../bytes/workbench.ts';

/** Maximum columns that the error lists. */
const COLUMNS_LISTED_MAX = 20;

/** @throws Failure InvalidBody, always. */
export async function refuseUnknown(
  names: readonly string[],
  relation: Relation,
  bench: Workbench,
): Promise<never> {
  const listed = names.slice(0, COLUMNS_LISTED_MAX);
  const terms = listed.flatMap((name, at) => [
    `min(${RECORD_NUMBER}) FILTER (WHERE ${hasValueTest(relation, name)}) AS n${at}`,
    `arg_min(CAST(${identifier(name)} AS VARCHAR), ${RECORD_NUMBER})
      FILTER (WHERE ${hasValueTest(relation, name)}) AS v${at}`,
  ]);
  const numbered = `(SELECT *, row_number() OVER () AS ${RECORD_NUMBER} FROM
    ${fromClause(relation, [], false)})`;
  const [rows] = await runStatements(bench, relation, [
    `SELECT ${terms.join(', ')} FROM ${numbered}`,
  ]);
  const row = rows?.[0] ?? {};
  const places = listed.map((name, at) => {
    const n = row[`n${at}`];
    if (n === null || n === undefined) return `'${name}'`;
    const example = JSON.stringify(String(row[`v${at}`]).slice(0, 100));
    return `'${name}' (line ${fileLineOf(Number(n), relation)} has ${example})`;
  });
  throw new Failure('InvalidBody', `the schema is frozen and has no ${places.join(', ')}`);
}
