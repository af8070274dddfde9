// The services that reads use.
import type { Accounts } from '../../store/accounts/accounts.ts';
import type { Clock } from '../../store/base/clock.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { FailedTime } from './failedTime.ts';
import type { Hub } from '../../store/bus/hub.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { LiveBoard } from '../../market/live/liveBoard.ts';
import type { LiveQuotes } from '../../market/live/liveQuotes.ts';
import type { MarketMemory } from '../../market/board/marketMemory.ts';
import type { NamedQueries } from '../../store/lake/datasets/views.ts';
import type { Pending } from '../../store/lake/pushes/pending.ts';
import type { QueryCursors } from '../../store/lake/history/queryCursors.ts';
import type { RecordWatches } from '../live/recordWatches.ts';
import type { SeriesEngine } from '../../query/series/series.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { SqlEngine } from '../../query/sql/run/run.ts';
import type { WorkerPool } from '../../workers/workerPool.ts';

/** Created once, in the composition of the server. */
export interface ReadServices {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly database: Database;
  readonly lake: Lake;
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly pending: Pending;
  readonly cursors: QueryCursors;
  readonly series: SeriesEngine;
  readonly market: MarketMemory;
  readonly workers: WorkerPool;
  readonly sql: SqlEngine;
  readonly queries: NamedQueries;
  readonly failedTime: FailedTime;
  readonly filling: Filling;
  readonly streams: LiveServices;
}

/** The first fill of CORE: distinguishes pending inputs from inputs that nobody has. */
interface Filling {
  readonly isPending: (input: string) => boolean;
  /** Share of the inputs that it began with, in whole percent. */
  readonly percent: () => number;
}

/** Starts feeds that do not run yet. Resolves when their boards are current. */
interface Wakeable {
  wake(): Promise<void>;
}

/** Live data. */
export interface LiveServices {
  readonly hub: Hub;
  readonly board: LiveBoard;
  readonly quotes: LiveQuotes;
  readonly records: RecordWatches;
  readonly feeds: Wakeable;
  /** A replay of past data, which must not be mixed with current stored data. */
  readonly isReplay?: true;
}
