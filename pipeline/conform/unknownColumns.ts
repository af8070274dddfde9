// Columns that a frozen schema does not have, with the first value of one, so that who sent it
// finds it.
import { Failure } from '../../store/base/failure.ts';
import { ask, fileLineOf, NUMBER } from '../batch/batchStatements.ts';
import { fromClause, given, type Relation } from '../values/relation.ts';
import { identifier } from '../../store/duckdb/sqlText.ts';
import type { Workbench } from '../bytes/workbench.ts';

/** Columns that are looked for and told. */
const COLUMNS_TOLD = 20;

/** @throws Failure InvalidBody, always. */
export async function refuseUnknown(
  names: readonly string[],
  relation: Relation,
  bench: Workbench,
): Promise<never> {
  const told = names.slice(0, COLUMNS_TOLD);
  const terms = told.flatMap((name, at) => [
    `min(${NUMBER}) FILTER (WHERE ${given(relation, name)}) AS n${at}`,
    `arg_min(CAST(${identifier(name)} AS VARCHAR), ${NUMBER})
      FILTER (WHERE ${given(relation, name)}) AS v${at}`,
  ]);
  const numbered = `(SELECT *, row_number() OVER () AS ${NUMBER} FROM
    ${fromClause(relation, [], false)})`;
  const [rows] = await ask(bench, relation, [`SELECT ${terms.join(', ')} FROM ${numbered}`]);
  const row = rows?.[0] ?? {};
  const places = told.map((name, at) => {
    const n = row[`n${at}`];
    if (n === null || n === undefined) return `'${name}'`;
    const shown = JSON.stringify(String(row[`v${at}`]).slice(0, 100));
    return `'${name}' (line ${fileLineOf(Number(n), relation)} has ${shown})`;
  });
  throw new Failure('InvalidBody', `the schema is frozen and has no ${places.join(', ')}`);
}
