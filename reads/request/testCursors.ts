// Stores positions of named queries of the test environment in memory, separate from those of production,
// which an answer of the test environment must not change.
import { LruMap } from 'toad-cache';
import type { Moment } from '../../store/lake/history/history.ts';
import type { QueryName, QueryTurn } from '../../store/lake/history/queryCursors.ts';

export interface TestCursors {
  begin(name: QueryName): QueryTurn;
}

/** Maximum tracked named queries; the least recently used one is evicted and starts again. */
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
