// Automatic work of a running server, and its intervals.
import { FLUSH_AGE_MS, FLUSH_ROWS } from '../jobs/run/flush.ts';
import { rollWhenDue } from '../jobs/upkeep/journalRoll.ts';
import { makeUpkeep } from '../jobs/upkeep/upkeep.ts';
import { dropOldAlerts } from '../store/work/alerts.ts';
import type { Services } from '../api/request/endpoint.ts';

type WatchServices = Pick<
  Services,
  | 'clock'
  | 'database'
  | 'fileCheck'
  | 'ingestion'
  | 'journal'
  | 'lake'
  | 'lakeClock'
  | 'pending'
  | 'publications'
  | 'runner'
  | 'scrub'
  | 'settings'
  | 'writeKeys'
>;

/** Creates a logger of failures for a kind of work. */
export type FaultLog = (what: string) => (reason: unknown, jobId?: string) => void;

/** Interval between two checks whether the journal is to be rolled to Parquet. */
const ROLL_LOOK_MS = 60_000;
/** Interval between two compactions of changed datasets. */
const UPKEEP_LOOK_MS = 30_000;
/** Interval between two removals of old versions. */
const THIN_LOOK_MS = 600_000;
/** Interval between two checks whether a file of the lake is due for verification. */
const CHECK_LOOK_MS = 1_000;
/** Interval between two removals of the oldest alerts of rules with very many, and of old write keys. */
const OLD_LOOK_MS = 600_000;
/** Interval between two removals of ended published files. */
const ENDED_LOOK_MS = 10_000;
/** Interval between two checks whether pushed records are to be flushed. */
const FLUSH_LOOK_MS = 1_000;

/** Runs the automatic work of a server; one run of each kind at a time. */
export function watchLake(services: WatchServices, faultLog: FaultLog): { stop(): Promise<void> } {
  const { keepAllMs, keepHourlyMs, keepDailyMs } = services.settings;
  const keep = { allMs: keepAllMs, hourlyMs: keepHourlyMs, dailyMs: keepDailyMs };
  const upkeep = makeUpkeep({ ...services, keep });
  const watches = [
    { name: 'journal', everyMs: ROLL_LOOK_MS, look: () => rollWhenDue(services.journal) },
    { name: 'flush', everyMs: FLUSH_LOOK_MS, look: () => flushDue(services) },
    { name: 'upkeep', everyMs: UPKEEP_LOOK_MS, look: () => upkeep.compactChanged() },
    { name: 'retention', everyMs: THIN_LOOK_MS, look: () => upkeep.expireVersions() },
    { name: 'old alerts', everyMs: OLD_LOOK_MS, look: () => dropOldAlerts(services.database) },
    { name: 'write keys', everyMs: OLD_LOOK_MS, look: () => services.writeKeys.expire() },
    {
      name: 'published',
      everyMs: ENDED_LOOK_MS,
      look: () => services.publications.removeExpired(),
    },
    { name: 'file check', everyMs: CHECK_LOOK_MS, look: () => services.fileCheck.checkNext() },
  ];
  const running = new Map<string, Promise<unknown>>();
  // Earlier damage is detected from the start on.
  const first = services.fileCheck.checkDamaged().catch(faultLog('file check'));
  running.set(
    'file check',
    first.finally(() => running.delete('file check')),
  );
  const timers = watches.map(({ name, everyMs, look }) =>
    setInterval(() => {
      if (running.has(name)) return;
      const work = look()
        .catch(faultLog(name))
        .finally(() => running.delete(name));
      running.set(name, work);
    }, everyMs).unref(),
  );
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running.values());
    },
  };
}

/** Every turn of a dataset begins with its flush: an empty turn suffices. */
async function flushDue({
  database,
  lake,
  lakeClock,
  pending,
  runner,
}: Pick<Services, 'database' | 'lake' | 'lakeClock' | 'pending' | 'runner'>): Promise<void> {
  await lakeClock.updateMarks(database);
  for (const tableId of pending.listDue(FLUSH_ROWS, FLUSH_AGE_MS)) {
    const dataset = lake.directory.datasetById(tableId);
    if (dataset === undefined) pending.removeTable(tableId);
    else await runner.inTurn(dataset.workspace, dataset.dataset, async () => undefined);
  }
}
