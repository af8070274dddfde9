// SQL at a node that does not serve: over what is stored now, of datasets and views that it is told of.
import { callerOf } from '../../auth/access.ts';
import { pictureOf } from '../../read/pictures.ts';
import { shownQuery } from '../../sql/shown.ts';
import { answerSql } from '../../sql/sql.ts';
import { refuse, textOf } from '../../request/parameters.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { type BoundTable, datasetsOf } from '../../../query/sql/plan/boundTable.ts';
import { SYSTEM_WORKSPACE } from '../../../store/lake/systemTables.ts';
import { sqlQuery } from '../read/sql.ts';
import { Changing, Elsewhere, type HereServices, notNow } from './readHere.ts';

/** Lines of the log are at the node that serves, and so is what makes their dataset. */
const isOfSystem = (text: string): boolean => text.toUpperCase().includes(SYSTEM_WORKSPACE);

export const SQL_HERE: readonly Endpoint<HereServices>[] = [
  {
    ...sqlQuery,
    handle: async (call, services) => {
      const text = textOf(call.query, 'sqlQuery');
      if (text === undefined) return refuse('sqlQuery', 'is required');
      const isOfPast = call.query['asOf'] !== undefined;
      if (isOfPast || isOfSystem(text) || pictureOf(call.query) !== undefined) {
        throw new Elsewhere();
      }
      services.admit(callerOf(call.caller), call.address);
      if (!services.isLive()) throw notNow(services);
      const { workspace = '' } = call.path;
      // Names of tables are told at once, as they are now.
      const question = await shownQuery(call, services, { workspace, text, parameters: {} });
      return answerSql(call, services, question);
    },
  },
];

/**
 * What a query finds is what is stored if none of its tables was changing as it began, and if this node knew
 * of them then.
 * @param moment names now; undefined while all is changing
 */
export const sureOf =
  <Known>(
    moment: () => Known | undefined,
    knew: (tableId: number, known: Known) => 'all' | 'changing' | 'nothing',
  ): NonNullable<HereServices['sure']> =>
  () => {
    const began = moment();
    if (began === undefined) throw new Changing();
    return (tables: readonly BoundTable[]) => {
      for (const { dataset, visibility } of datasetsOf(tables)) {
        // What is seen later by one clock may be seen earlier by another.
        const isAll = visibility.kind === 'all' && dataset.workspace !== SYSTEM_WORKSPACE;
        const known = isAll ? knew(dataset.tableId, began) : 'nothing';
        if (known !== 'all') throw known === 'changing' ? new Changing() : new Elsewhere();
      }
    };
  };
