// The tables of a query as its caller reads them. What it may not know of does not exist, whatever
// the spelling; what it may not read is refused before a file is opened.
import type { BoundTable } from '../query/sql/boundTable.ts';
import type { SelectPlan, TableName } from '../query/sql/selectPlan.ts';
import { refuseAt } from '../query/sql/tokens.ts';
import type { Caller } from '../store/callers.ts';
import type { Dataset } from '../store/datasets.ts';
import { Failure } from '../store/failure.ts';
import type { AsOf } from '../store/history.ts';
import type { Lake } from '../store/lake.ts';
import { SYSTEM_WORKSPACE } from '../store/systemTables.ts';
import { CORE, datasetOf, visibilityOf } from './access.ts';
import type { Services } from './endpoint.ts';

interface Asked {
  readonly caller: Caller;
  /** Where names without a workspace are looked for first; then CORE. */
  readonly workspace: string;
  /** The text that the places of the plan are of. */
  readonly source: string;
  readonly asOf: AsOf | undefined;
}

/** @throws Failure InvalidParameter naming a table that is not there; what `datasetOf` throws else. */
export async function bindTables(
  plan: SelectPlan,
  asked: Asked,
  { lake, pending }: Services,
): Promise<readonly BoundTable[]> {
  // Rights first, of all: nothing is opened for a query that may not run.
  const datasets = plan.tables.map((name) => tableOf(name, asked, lake));
  checkNames(plan, datasets, asked.source);
  const bound: BoundTable[] = [];
  for (const dataset of datasets) {
    const table = await lake.table(dataset.tableId, asked.asOf);
    if (table === undefined) throw new Failure('NotFound');
    const { snapshot, tableId } = table;
    bound.push({
      dataset,
      table,
      pending: asked.asOf === undefined ? pending.beside(tableId, snapshot) : [],
      visibility: visibilityOf(asked.caller, dataset),
    });
  }
  return bound;
}

/** A name that is no column would be a whole record, or a function of the engine. */
function checkNames({ doubtful }: SelectPlan, datasets: readonly Dataset[], source: string): void {
  const known = new Set(
    datasets.flatMap(({ schema }) =>
      Object.keys(schema.properties).map((name) => name.toLowerCase()),
    ),
  );
  const [first] = doubtful.filter(({ name }) => !known.has(name.toLowerCase()));
  if (first !== undefined) refuseAt(source, first.at, `${first.name} is no column: name one`);
}

function tableOf(table: TableName, { caller, source, workspace }: Asked, lake: Lake): Dataset {
  const places = table.workspace === undefined ? [workspace, CORE] : [table.workspace];
  for (const place of places) {
    try {
      return datasetOf(caller, place, table.name, lake);
    } catch (error) {
      if (!(error instanceof Failure) || error.type !== 'NotFound') throw error;
    }
  }
  const where = table.workspace === undefined ? workspace : table.workspace;
  return refuseAt(source, table.at, `there is no dataset ${where}.${table.name}`.slice(0, 400));
}

/** @throws Failure NotFound for a workspace that the caller knows nothing of. */
export function sqlWorkspace({ accountId }: Caller, name: string, lake: Lake): string {
  const known = lake.catalogue.workspace(name);
  const isShared = known?.workspace === CORE || known?.workspace === SYSTEM_WORKSPACE;
  if (known === undefined || (known.accountId !== accountId && !isShared)) {
    throw new Failure('NotFound');
  }
  return known.workspace;
}
