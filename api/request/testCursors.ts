// Where named queries of the test environment stood: in memory, and apart from those of production,
// which an answer of the test environment must not move.
import { LruMap } from 'toad-cache';
import type { Moment } from '../../store/lake/history/history.ts';
import type { QueryName, QueryTurn } from '../../store/lake/history/queryCursors.ts';

export interface TestCursors {
  begin(name: QueryName): QueryTurn;
}

/** Named queries that are remembered; the one asked longest ago begins anew. */
const CURSORS_MAX = 1_000;

export function makeTestCursors(): TestCursors {
  const cursors = new LruMap<Moment>(CURSORS_MAX);
  return {
    begin: ({ accountId, queryId, tableId }) => {
      const name = `${accountId} ${tableId} ${queryId}`;
      return {
        cursor: cursors.get(name),
        end: (moment) => {
          if (moment !== undefined) cursors.set(name, moment);
        },
      };
    },
  };
}
