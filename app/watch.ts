// What happens by itself while the server runs, and how often it is looked at.
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

/** Logs what failed, by what it was. */
export type Told = (what: string) => (reason: unknown, jobId?: string) => void;

/** How often it is looked whether the journal is to become Parquet. */
const ROLL_LOOK_MS = 60_000;
/** How often datasets that changed are looked at. */
const UPKEEP_LOOK_MS = 30_000;
/** How often old versions are let go. */
const THIN_LOOK_MS = 600_000;
/** How often it is looked whether a file of the lake is to be checked. */
const CHECK_LOOK_MS = 1_000;
/** How often the oldest alerts of rules with very many, and old keys of writes, are removed. */
const OLD_LOOK_MS = 600_000;
/** How often published files that have ended are removed. */
const ENDED_LOOK_MS = 10_000;
/** How often it is looked whether pushed records are to become a file. */
const FLUSH_LOOK_MS = 1_000;

/** What happens by itself while the server runs; one thing of each kind at a time. */
export function watchLake(services: WatchServices, told: Told): { stop(): Promise<void> } {
  const { keepAllMs, keepHourlyMs, keepDailyMs } = services.settings;
  const keep = { allMs: keepAllMs, hourlyMs: keepHourlyMs, dailyMs: keepDailyMs };
  const upkeep = makeUpkeep({ ...services, keep });
  const watches = [
    { name: 'journal', everyMs: ROLL_LOOK_MS, look: () => rollWhenDue(services.journal) },
    { name: 'flush', everyMs: FLUSH_LOOK_MS, look: () => flushDue(services) },
    { name: 'upkeep', everyMs: UPKEEP_LOOK_MS, look: () => upkeep.look() },
    { name: 'retention', everyMs: THIN_LOOK_MS, look: () => upkeep.thin() },
    { name: 'old alerts', everyMs: OLD_LOOK_MS, look: () => dropOldAlerts(services.database) },
    { name: 'write keys', everyMs: OLD_LOOK_MS, look: () => services.writeKeys.expire() },
    { name: 'published', everyMs: ENDED_LOOK_MS, look: () => services.publications.look() },
    { name: 'file check', everyMs: CHECK_LOOK_MS, look: () => services.fileCheck.look() },
  ];
  const running = new Map<string, Promise<unknown>>();
  // What was damaged before is known from the start on.
  const first = services.fileCheck.again().catch(told('file check'));
  running.set(
    'file check',
    first.finally(() => running.delete('file check')),
  );
  const timers = watches.map(({ name, everyMs, look }) =>
    setInterval(() => {
      if (running.has(name)) return;
      const work = look()
        .catch(told(name))
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

/** Every turn of a dataset begins with its flush: an empty one does nothing more. */
async function flushDue({
  database,
  lake,
  lakeClock,
  pending,
  runner,
}: Pick<Services, 'database' | 'lake' | 'lakeClock' | 'pending' | 'runner'>): Promise<void> {
  await lakeClock.meet(database);
  for (const tableId of pending.due(FLUSH_ROWS, FLUSH_AGE_MS)) {
    const dataset = lake.directory.datasetById(tableId);
    if (dataset === undefined) pending.dropped(tableId);
    else await runner.inTurn(dataset.workspace, dataset.dataset, async () => undefined);
  }
}
