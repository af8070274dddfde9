// SQL on a replica over current records of datasets and views that it follows.
import { parseChartFormat } from '../../../reads/answer/charts.ts';
import { rewriteStatement } from '../../../reads/sql/statementRewrite.ts';
import { answerSql } from '../../../reads/sql/sql.ts';
import { refuse, textOf } from '../../../reads/request/parameters.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { type BoundTable, datasetsOf } from '../../../query/sql/plan/boundTable.ts';
import { SYSTEM_WORKSPACE } from '../../../store/lake/systemTables.ts';
import { sqlQuery } from '../read/sql.ts';
import {
  ChangeInProgress,
  ServingNodeRequired,
  type ReplicaServices,
  notCurrentError,
} from './replicaReads.ts';

/** Whether the query may read the system workspace, whose data only the serving node has. */
const readsSystem = (text: string): boolean => text.toUpperCase().includes(SYSTEM_WORKSPACE);

export const REPLICA_SQL: readonly Endpoint<ReplicaServices>[] = [
  {
    ...sqlQuery,
    handle: async (call, services) => {
      const text = textOf(call.query, 'sqlQuery');
      if (text === undefined) return refuse('sqlQuery', 'is required');
      const hasAsOf = call.query['asOf'] !== undefined;
      if (hasAsOf || readsSystem(text) || parseChartFormat(call.query) !== undefined) {
        throw new ServingNodeRequired();
      }
      services.admit(call.caller, call.address);
      if (!services.isDirectoryCurrent()) throw notCurrentError(services);
      const { workspace = '' } = call.path;
      // Table names resolve immediately to their current state.
      const sqlRequest = await rewriteStatement(call, services, {
        workspace,
        text,
        parameters: {},
      });
      return answerSql(call, services, sqlRequest);
    },
  },
];

/**
 * Confirms that the query's tables were up to date and unchanged when it began.
 * @param moment the current state of names; undefined while they change
 */
export const makeReadConfirmation =
  <State>(
    moment: () => State | undefined,
    findCoverage: (tableId: number, state: State) => 'all' | 'changing' | 'nothing',
  ): NonNullable<ReplicaServices['sure']> =>
  () => {
    const start = moment();
    if (start === undefined) throw new ChangeInProgress();
    return (tables: readonly BoundTable[]) => {
      for (const { dataset, visibility } of datasetsOf(tables)) {
        // Clocks of nodes differ, so delayed records could become visible too early.
        const isAll = visibility.kind === 'all' && dataset.workspace !== SYSTEM_WORKSPACE;
        const coverage = isAll ? findCoverage(dataset.tableId, start) : 'nothing';
        if (coverage !== 'all')
          throw coverage === 'changing' ? new ChangeInProgress() : new ServingNodeRequired();
      }
    };
  };
