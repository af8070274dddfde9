// Runs the check of a dataset's place on the records of a load (PlaceCheck), before any are stored.
import { Failure } from '../../store/base/failure.ts';
import type { CrossCheck } from '../../store/lake/datasets/defaults.ts';
import { withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import { runStatements } from '../batch/batchStatements.ts';
import type { Relation } from '../values/relation.ts';
import type { Conformed, Load, LoadContext } from './load.ts';

/** Maximum records of a load that are compared with each other; a larger load gets a note. */
const RECORDS_MAX = 5_000_000;

interface Checking {
  readonly run: LoadContext;
  readonly relation: Relation;
  readonly conformed: Conformed;
}

/**
 * @returns lines for the notes of the load
 * @throws Failure InvalidBody if its records contradict stored ones without a confirmation
 */
export async function checkPlace(checking: Checking): Promise<readonly string[]> {
  const { conformed, run } = checking;
  const { load, services } = run;
  const check = services.defaultsOf(load)?.check;
  const { records } = conformed.batch.stats;
  if (check === undefined || load.standIn !== undefined || records === 0) return [];
  if (records > RECORDS_MAX)
    return [`note: over ${RECORDS_MAX} records are not compared with others`];
  const own = ownRows(checking, check);
  if (own === undefined) return [];
  const { contradiction, notes } = await runCheck(checking, check, own);
  if (contradiction === undefined) return notes;
  if (load.reading?.confirmAdjustment === true) return [...notes, `warning: ${contradiction}`];
  const rule = 'or confirm it with confirmAdjustment=true (--confirm-adjustment)';
  throw new Failure('InvalidBody', `${contradiction}, ${rule}`);
}

/** Whether a load's records are compared with another dataset: the load then runs where both are stored. */
export const needsOtherDataset = (load: Load, { defaultsOf }: LoadContext['services']): boolean =>
  defaultsOf(load)?.check !== undefined;

async function runCheck(
  { relation, run }: Checking,
  check: CrossCheck,
  own: string,
): Promise<ReturnType<CrossCheck['report']>> {
  const { lake } = run.services;
  const dataset = lake.directory.dataset(run.load.workspace, check.otherDataset);
  const table = dataset === undefined ? undefined : await lake.table(dataset.tableId);
  const read = async (
    other: string | undefined,
    files: readonly string[],
  ): Promise<ReturnType<CrossCheck['report']>> => {
    const statements = check.statements(own, other);
    if (statements.length === 0) return { notes: [] };
    return check.report(await runStatements({ ...run.bench, files }, relation, statements));
  };
  if (table === undefined || table.files.length === 0) return read(undefined, []);
  const names = table.columns.map(({ name }) => name);
  if (!check.other.required.every((name) => names.includes(name))) return read(undefined, []);
  const needed = [...check.other.required, ...Object.keys(check.other.optional)];
  const columns = table.columns.filter(({ name }) => needed.includes(name));
  return withOpenFiles(lake.files, table.files, ({ paths, pathOf }) => {
    const rows = visibleRows(table.files, columns, pathOf);
    return read(selectColumns(`${rows}`, names, check.other), paths);
  });
}

/** Undefined if a column that the check needs is missing. */
function ownRows({ conformed }: Checking, { own }: CrossCheck): string | undefined {
  const change = conformed.kind === 'known' ? conformed.change : undefined;
  const target = conformed.kind === 'known' ? conformed.dataset : conformed.draft;
  const names = Object.keys((change?.schema ?? target.schema).properties);
  if (!own.required.every((name) => names.includes(name))) return undefined;
  return selectColumns(`read_parquet(${literal(conformed.batch.path)})`, names, own);
}

/** Selects rows, with null for each missing optional column. */
function selectColumns(
  rows: string,
  names: readonly string[],
  { optional, required }: CrossCheck['own'],
): string {
  const terms = Object.entries(optional).map(([name, type]) =>
    names.includes(name) ? identifier(name) : `CAST(NULL AS ${type}) AS ${identifier(name)}`,
  );
  return `(SELECT ${[...required.map(identifier), ...terms].join(', ')} FROM ${rows})`;
}
