// Checks a catalog: its version, the clock, the ledger, the sources.
import { sql } from 'kysely';
import { type Clock, isoTime } from '../../store/base/clock.ts';
import { parseCatalogTime } from '../../store/catalog/catalogTime.ts';
import type { Database } from '../../store/catalog/database.ts';
import { folderVersion, FOLDER_VERSION } from '../../store/catalog/migrate.ts';
import { CLOCK_BEHIND_MS } from '../../store/catalog/lakeClock.ts';
import { billingDays } from '../../store/ledger/billingDays.ts';
import { listLastRuns } from '../../store/work/runHistory.ts';
import { fault, fine, type Finding, notice } from './finding.ts';

/** Findings of one kind that are listed. */
const FINDINGS_MAX = 20;
const HOUR_MS = 3_600_000;
/** Any earlier clock is wrong: this program did not exist. */
const CLOCK_LEAST = Date.UTC(2024, 0, 1);

interface CheckContext {
  readonly clock: Clock;
  /** Time zone of bills. */
  readonly zone: string;
}

export async function catalogFindings(
  database: Database,
  context: CheckContext,
): Promise<readonly Finding[]> {
  const version = await versionFinding(database);
  // The tables of a newer version may differ.
  if (version.level === 'fault') return [version];
  return [
    version,
    await clockFinding(database, context),
    ...(await ledgerFindings(database, context)),
    ...(await sourceFindings(database)),
  ];
}

async function versionFinding(database: Database): Promise<Finding> {
  const version = await folderVersion(database);
  const what = `the folder has version ${version}, this program knows ${FOLDER_VERSION}`;
  if (version > FOLDER_VERSION) {
    return fault('version', what, 'Use the Tapedeck that wrote it, or a newer one.');
  }
  if (version < FOLDER_VERSION) {
    const advice = 'The next start brings it up to date: `tapedeck backup` it before.';
    return notice('version', what, advice);
  }
  return fine('version', `the folder has version ${version}`);
}

async function clockFinding(database: Database, { clock }: CheckContext): Promise<Finding> {
  const row = await database
    .selectFrom('ducklake_snapshot')
    .select(({ fn }) => fn.max('snapshot_time').as('newest'))
    .executeTakeFirst();
  const newest = row?.newest as string | null | undefined;
  const newestMs = newest === null || newest === undefined ? 0 : parseCatalogTime(newest);
  const behindMs = newestMs - clock();
  if (behindMs > CLOCK_BEHIND_MS) {
    const behind = `${Math.round(behindMs / 1000)} s behind the newest commit`;
    const what = `the clock is ${behind}, of ${isoTime(newestMs)}`;
    return fault(
      'clock',
      what,
      'Set the clock right, and read "A wrong clock" in docs/guides/versions.md.',
    );
  }
  if (clock() < CLOCK_LEAST) {
    return fault(
      'clock',
      `the clock shows ${isoTime(clock())}`,
      'Set it right, by NTP if you can.',
    );
  }
  return fine('clock', 'the clock is past the newest commit');
}

/** Compares the balances of the current month with the counters of its hours. */
async function ledgerFindings(
  database: Database,
  { clock, zone }: CheckContext,
): Promise<readonly Finding[]> {
  const days = billingDays(zone);
  const month = days.month(clock());
  const from = Math.floor(clock() / HOUR_MS) - 32 * 24;
  // One statement, so that both are of the same moment.
  const rows = await database
    .selectFrom('balance')
    .select(['account_id', 'messages', 'premium'])
    .select(sql<number>`-1`.as('hour'))
    .where('month', '=', month)
    .unionAll((union) =>
      union
        .selectFrom('usage')
        .select(['account_id'])
        .select(({ fn }) => [
          fn.sum<number>('messages').as('messages'),
          fn.sum<number>('premium').as('premium'),
        ])
        .select('hour')
        .where('hour', '>=', from)
        .groupBy(['account_id', 'hour']),
    )
    .execute();
  const balances = rows.filter(({ hour }) => hour < 0);
  const counters = rows.filter(({ hour }) => hour >= 0);
  const sums = new Map<string, number>();
  for (const { account_id: account, hour, messages, premium } of counters) {
    if (days.month(hour * HOUR_MS) !== month) continue;
    sums.set(account, (sums.get(account) ?? 0) + messages + premium);
  }
  const wrong = balances.flatMap(({ account_id: account, messages, premium }) => {
    const counted = sums.get(account) ?? 0;
    if (messages + premium === counted) return [];
    const balance = messages + premium;
    const what = `account ${account} has a balance of ${balance} messages, its counters ${counted}`;
    return [fault('ledger', what, '`tapedeck verify-ledger` names each line that disagrees.')];
  });
  if (wrong.length > 0) return wrong.slice(0, FINDINGS_MAX);
  return [fine('ledger', `the balances of ${balances.length} accounts agree with their counters`)];
}

async function sourceFindings(database: Database): Promise<readonly Finding[]> {
  const failed = (await listLastRuns(database)).filter(({ isFailed }) => isFailed);
  const schedules = await database
    .selectFrom('schedule')
    .select(['schedule_id', 'workspace', 'dataset'])
    .execute();
  const failures = schedules.flatMap(({ dataset, schedule_id: id, workspace }) => {
    const run = failed.find(({ scheduleId }) => scheduleId === id);
    if (run === undefined) return [];
    const what = `the source of ${workspace}.${dataset} failed last time: ${run.error ?? 'it failed'}`;
    return [fault('sources', what, 'Fix its source; `tapedeck schedule run` tries it again.')];
  });
  if (failures.length > 0) return failures.slice(0, FINDINGS_MAX);
  return [fine('sources', `${schedules.length} schedules, and none failed last time`)];
}
