// Ingestion schedules and their runs.
import type { Kysely } from 'kysely';
import { createTable } from './createTable.ts';

export interface ScheduleTable {
  readonly schedule_id: string;
  readonly workspace: string;
  readonly account_id: string;
  readonly source_id: string;
  readonly dataset: string;
  /** `ENABLED` or `PAUSED`. */
  readonly state: string;
  /** The next due time; null: none. */
  readonly next_ms: number | null;
  /** Time of the next retry of the run that was due at `due_ms`; null: none. */
  readonly retry_ms: number | null;
  readonly due_ms: number | null;
  /** Attempts of that run so far. */
  readonly attempt: number;
  /** JSON: a `ScheduleBody`. */
  readonly body_json: string;
  /** JSON: the position at the end of the last pull; null: there was none. */
  readonly position_json: string | null;
  readonly created_ms: number;
  readonly updated_ms: number;
}

export interface RunTable {
  readonly run_id: string;
  readonly schedule_id: string;
  readonly workspace: string;
  readonly dataset: string;
  /** The first due time that the run covers. */
  readonly due_ms: number;
  /** Due times that the run covers: more than one if runs were missed. */
  readonly dues: number;
  readonly attempt: number;
  /** `RUN`, `SKIPPED` or, for a run outside of this server, `NOTED`. */
  readonly outcome: string;
  readonly job_id: string | null;
  readonly note: string;
  readonly made_ms: number;
}

export async function addSchedules(database: Kysely<unknown>): Promise<void> {
  const schedule =
    'schedule_id! text, workspace text, account_id text, source_id text, dataset text, state text, ' +
    'next_ms bigint, retry_ms bigint, due_ms bigint, attempt bigint, body_json text, ' +
    'position_json text, created_ms bigint, updated_ms bigint';
  const run =
    'run_id! text, schedule_id text, workspace text, dataset text, due_ms bigint, dues bigint, ' +
    'attempt bigint, outcome text, job_id text, note text, made_ms bigint';
  await createTable(database, 'schedule', schedule);
  await createTable(database, 'ingestion_run', run);
  const indexes = [
    ['schedule_by_workspace', 'schedule', ['workspace', 'created_ms']],
    ['ingestion_run_by_schedule', 'ingestion_run', ['schedule_id', 'made_ms']],
    ['ingestion_run_by_workspace', 'ingestion_run', ['workspace', 'made_ms']],
  ] as const;
  for (const [name, table, columns] of indexes) {
    await database.schema
      .createIndex(name)
      .on(table)
      .columns([...columns])
      .execute();
  }
}
