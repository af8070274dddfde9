// Health overview for an operator: problems, each with advice, and the state of schedules, feeds, jobs and
// storage.
import { statfs } from 'node:fs/promises';
import type { Accounts } from '../../store/accounts/accounts.ts';
import type { Clock } from '../../store/base/clock.ts';
import { VERSION } from '../../store/base/version.ts';
import { ASLEEP, isAsleep } from '../../store/catalog/restoreGuard.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { Folder } from '../../store/catalog/folder.ts';
import type { FileProofs } from '../../store/files/fileProofs.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { Storage } from '../../store/lake/storage.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { DamagedPublications } from '../../store/publications/damagedPublications.ts';
import type { Upstreams } from '../feeds/upstreams.ts';
import type { Runner } from '../run/runner.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import { indexCommand } from '../../pipeline/conform/loadNotes.ts';
import { quoteWord } from '../../store/base/shellWord.ts';
import { lastBackup } from '../backup/lastBackup.ts';
import { REPEATS_NOT_KEPT } from '../../pipeline/conform/indexGuess.ts';

interface StandingParts {
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly damagedPublications: DamagedPublications;
  readonly database: Database;
  readonly folder: Folder;
  readonly lake: Lake;
  readonly ledger: Ledger;
  readonly proofs: FileProofs;
  readonly runner: Runner;
  readonly scheduler: Scheduler;
  readonly upstreams: Upstreams;
  readonly storage: Storage;
}

interface Problem {
  /** A fault needs someone now; a notice can wait. */
  readonly level: 'fault' | 'notice';
  readonly what: string;
  readonly advice: string;
}

interface ScheduleState {
  readonly workspace: string;
  readonly dataset: string;
  readonly schedule: string;
  readonly state: string;
  readonly next: number | null;
  readonly lastSuccess: number | null;
  readonly lastFailure: number | null;
  readonly failedInARow: number;
  readonly reason: string | null;
}

export interface HealthReport {
  readonly version: string;
  readonly time: number;
  /** Faults first. */
  readonly problems: readonly Problem[];
  /** Failing ones first. */
  readonly schedules: readonly ScheduleState[];
  /** Upstream feeds; those that do not run first. */
  readonly feeds: ReturnType<Upstreams['all']>;
  readonly jobs: { readonly running: number; readonly waiting: number };
  readonly ledger: { readonly waiting: number };
  readonly storage: readonly {
    readonly workspace: string;
    readonly live: number;
    readonly history: number;
    /** Quota of its account's tier; loads and pushes beyond it are refused. */
    readonly limit: number;
  }[];
  readonly disk: { readonly free: number; readonly size: number };
  readonly backup: { readonly made: number; readonly target: string } | null;
}

/** Schedules that are listed; the failing ones are among the first. */
const SCHEDULES_MAX = 1_000;
/** Workspaces whose storage is listed. */
const WORKSPACES_MAX = 1_000;
/** Problems of one kind that are listed. */
const LISTED_MAX = 20;
const DAY_MS = 86_400_000;
const BACKUP_DAYS = 7;
/** A disk with a smaller share of free bytes is nearly full. */
const FREE_SHARE = 0.05;
/** Charges are written every 50 ms: this many wait where the catalog can't be written. */
const WAITING_MAX = 10_000;

export async function readHealth(parts: StandingParts): Promise<HealthReport> {
  const { accounts, clock, database, folder, lake, ledger, runner, storage, upstreams } = parts;
  const { bavail, blocks, bsize } = await statfs(folder.root);
  const workspaces = lake.directory.allWorkspaces().slice(0, WORKSPACES_MAX);
  const stored = await Promise.all(
    workspaces.map(async ({ accountId, workspace }) => {
      const limit = accounts.account(accountId)?.tier.storageBytesMax ?? 0;
      return { workspace, ...(await storage.workspaceBytes(workspace)), limit };
    }),
  );
  const overview = {
    version: VERSION,
    time: clock(),
    schedules: listSchedules(parts),
    feeds: upstreams
      .all()
      .toSorted((one, other) => Number(one.isRunning) - Number(other.isRunning)),
    jobs: runner.load(),
    ledger: { waiting: ledger.pendingCharges },
    storage: stored,
    disk: { free: bavail * bsize, size: blocks * bsize },
    backup: await lastBackup(database),
  };
  const problems = [...findProblems(overview, parts)].sort((one, other) =>
    one.level === other.level ? 0 : one.level === 'fault' ? -1 : 1,
  );
  return { ...overview, problems };
}

function listSchedules({ scheduler }: StandingParts): readonly ScheduleState[] {
  return scheduler
    .all()
    .map(({ body, dataset, id, nextMs, state, workspace }) => {
      const { failedInARow, lastFailureMs, lastSuccessMs, reason } = scheduler.health(id);
      return {
        workspace,
        dataset,
        schedule: body.name,
        state,
        next: nextMs,
        lastSuccess: lastSuccessMs,
        lastFailure: lastFailureMs,
        failedInARow,
        reason,
      };
    })
    .sort((one, other) => other.failedInARow - one.failedInARow)
    .slice(0, SCHEDULES_MAX);
}

/** Datasets of earlier versions whose unique index nobody declared. */
function* inferredIndexes({ directory }: Lake): Generator<Problem> {
  const all = directory
    .allWorkspaces()
    .flatMap(({ workspace }) => directory.datasets(workspace))
    .filter(({ inferred, numbered }) => inferred && !numbered);
  for (const { dataset, mapping, workspace } of all.slice(0, LISTED_MAX)) {
    const named = Object.values(mapping).join(', ') || 'the day of loading';
    const what = `${workspace}.${dataset} has a unique index (${named}) that was inferred, not declared`;
    const place = `${quoteWord(dataset)} --workspace ${quoteWord(workspace)}`;
    const keep = `keep every record with \`tapedeck dataset index ${place} --no-index\``;
    const command = indexCommand(workspace, dataset, mapping);
    const declare = Object.keys(mapping).length === 0 ? '' : `declare it with \`${command}\`, or `;
    const advice = `${REPEATS_NOT_KEPT}: ${declare}${keep}`;
    yield { level: 'notice', what, advice };
  }
  if (all.length > LISTED_MAX) {
    const what = `${all.length - LISTED_MAX} more datasets have an inferred unique index`;
    yield { level: 'notice', what, advice: '`tapedeck dataset list` names them' };
  }
}

function* findProblems(
  { backup, disk, feeds, ledger, schedules, time }: Omit<HealthReport, 'problems'>,
  { damagedPublications, folder, lake, proofs }: StandingParts,
): Generator<Problem> {
  yield* inferredIndexes(lake);
  const damaged = proofs.damagedCount + damagedPublications.count();
  if (damaged > 0) {
    const advice = 'see `tapedeck verify`, and heal them with `tapedeck repair --from <backup>`';
    yield { level: 'fault', what: `${damaged} files are damaged`, advice };
  }
  for (const one of schedules.slice(0, LISTED_MAX)) {
    const { dataset, failedInARow, reason, schedule, workspace } = one;
    if (failedInARow === 0) break;
    const times = failedInARow === 1 ? 'failed' : `failed ${failedInARow} times in a row`;
    const what = `schedule ${schedule} of ${workspace}.${dataset} ${times}: ${reason ?? ''}`;
    yield {
      level: 'fault',
      what,
      advice: 'repair its source; `tapedeck schedule run` retries it',
    };
  }
  for (const { fault, name, workspace } of feeds.slice(0, LISTED_MAX)) {
    if (fault === null) continue;
    const what = `feed ${name} of ${workspace} does not run: ${fault}`;
    yield { level: 'fault', what, advice: 'repair its source: it is retried automatically' };
  }
  if (disk.free < disk.size * FREE_SHARE) {
    const what = `the disk has ${disk.free} of ${disk.size} bytes free`;
    yield { level: 'fault', what, advice: 'make room: below 4 MB nothing is written' };
  }
  if (ledger.waiting > WAITING_MAX) {
    const what = `${ledger.waiting} charges wait to be written`;
    yield { level: 'fault', what, advice: 'see the log: the catalog may not be writable' };
  }
  if (isAsleep(folder.root)) {
    const what = `the folder ${ASLEEP}`;
    yield { level: 'notice', what, advice: '`tapedeck wake` resumes it' };
  }
  const age = backup === null ? undefined : Math.floor((time - backup.made) / DAY_MS);
  if (age === undefined || age > BACKUP_DAYS) {
    const what = age === undefined ? 'no backup was made' : `the last backup is ${age} days old`;
    yield { level: 'notice', what, advice: '`tapedeck backup <folder>`, on another disk' };
  }
}
