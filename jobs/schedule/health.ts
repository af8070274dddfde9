// Health of schedules: whether their last runs succeeded, since when they fail, and why.
import { listLastRuns } from '../../store/work/runHistory.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { JobEnd } from '../run/jobLife.ts';

export interface ScheduleHealth {
  /** Runs that ended since the server started, by status. */
  readonly ended: Readonly<Record<JobEnd['status'], number>>;
  readonly lastSuccessMs: number | null;
  readonly lastFailureMs: number | null;
  /** Of the last failure; null when the last run succeeded. */
  readonly reason: string | null;
  /** Failed runs since the last success; those before the start count as one. */
  readonly failedInARow: number;
}

const UNTRIED: ScheduleHealth = {
  ended: {
    INGESTED: 0,
    ERROR: 0,
    CANCELLED: 0,
  },
  lastSuccessMs: null,
  lastFailureMs: null,
  reason: null,
  failedInARow: 0,
};

export class ScheduleHealths {
  readonly #healths = new Map<string, ScheduleHealth>();

  /** Restores the health from the stored runs. */
  static async open(database: Database): Promise<ScheduleHealths> {
    const healths = new ScheduleHealths();
    for (const { error, failedMs, isFailed, scheduleId, succeededMs } of await listLastRuns(
      database,
    )) {
      healths.#healths.set(scheduleId, {
        ...UNTRIED,
        lastSuccessMs: succeededMs,
        lastFailureMs: failedMs,
        reason: isFailed ? error : null,
        failedInARow: isFailed ? 1 : 0,
      });
    }
    return healths;
  }

  of(scheduleId: string): ScheduleHealth {
    return this.#healths.get(scheduleId) ?? UNTRIED;
  }

  ended(scheduleId: string, { reason, status, timeMs }: JobEnd): void {
    const before = this.of(scheduleId);
    const ended = { ...before.ended, [status]: before.ended[status] + 1 };
    this.#healths.set(scheduleId, { ...before, ended, ...outcomeOf() });
    function outcomeOf(): Partial<ScheduleHealth> {
      if (status === 'INGESTED') return { lastSuccessMs: timeMs, reason: null, failedInARow: 0 };
      // A cancelled run is neither a success nor a failure.
      if (status === 'CANCELLED') return {};
      const failureReason = reason ?? 'it failed';
      return {
        lastFailureMs: timeMs,
        reason: failureReason,
        failedInARow: before.failedInARow + 1,
      };
    }
  }

  remove(scheduleId: string): void {
    this.#healths.delete(scheduleId);
  }
}
