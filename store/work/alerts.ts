// Alerts of rules: the outbox of what is still to be told, and the log of what was. An alert is written in
// the transaction that charges it, so that none is lost, and none is sent that was not charged.
import type { Selectable } from 'kysely';
import type { Database } from '../catalog/database.ts';
import type { AlertCallTable, AlertTable } from '../catalog/tables/rules.ts';

export type Alert = Selectable<AlertTable>;
type AlertCall = Selectable<AlertCallTable>;

/** Alerts kept of one rule, the newest; what is still to be told is kept in any case. */
const KEPT_MAX = 10_000;
/** Calls kept of one alert. */
const CALLS_SHOWN = 100;

/** Rows of one statement. */
const ROWS_AT_ONCE = 50;

export async function insertAlerts(transaction: Database, alerts: readonly Alert[]): Promise<void> {
  for (let at = 0; at < alerts.length; at += ROWS_AT_ONCE) {
    const some = alerts.slice(at, at + ROWS_AT_ONCE);
    await transaction.insertInto('alert').values(some).execute();
  }
}

/** Newest first. */
export const alertsOf = (
  database: Database,
  ruleId: string,
  most: number,
): Promise<readonly Alert[]> =>
  database
    .selectFrom('alert')
    .selectAll()
    .where('rule_id', '=', ruleId)
    .orderBy('time_ms', 'desc')
    .orderBy('alert_id', 'desc')
    .limit(most)
    .execute();

export const findAlert = (database: Database, alertId: string): Promise<Alert | undefined> =>
  database.selectFrom('alert').selectAll().where('alert_id', '=', alertId).executeTakeFirst();

/** Oldest first. */
export const callsOf = (database: Database, alertId: string): Promise<readonly AlertCall[]> =>
  database
    .selectFrom('alert_call')
    .selectAll()
    .where('alert_id', '=', alertId)
    .orderBy('time_ms')
    .limit(CALLS_SHOWN)
    .execute();

/**
 * Those whose time has come, and the next ones after; the longest waiting first.
 * @param skipped alerts and rules that are left out
 */
export const nextAlerts = (
  database: Database,
  most: number,
  skipped: { readonly ids: readonly string[]; readonly groups: readonly string[] },
): Promise<readonly Alert[]> =>
  database
    .selectFrom('alert')
    .selectAll()
    .where('state', '=', 'waiting')
    .$if(skipped.ids.length > 0, (query) => query.where('alert_id', 'not in', skipped.ids))
    .$if(skipped.groups.length > 0, (query) => query.where('rule_id', 'not in', skipped.groups))
    .orderBy('next_ms')
    .limit(most)
    .execute();

/** What came of a call; a delivery is counted. @param answer the first of what the receiver said */
export async function saveCall(
  database: Database,
  alert: Pick<Alert, 'alert_id' | 'rule_id' | 'attempts' | 'next_ms' | 'outcome' | 'state'>,
  timeMs: number,
  answer: string,
): Promise<void> {
  const { alert_id, attempts, next_ms, outcome, state } = alert;
  await database.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('alert')
      .set({ attempts, next_ms, outcome, state })
      .where('alert_id', '=', alert_id)
      .execute();
    if (alert.state === 'delivered') {
      await transaction
        .updateTable('rule')
        .set((one) => ({ sent: one('sent', '+', 1) }))
        .where('rule_id', '=', alert.rule_id)
        .execute();
    }
    await transaction
      .insertInto('alert_call')
      .values({ alert_id, time_ms: timeMs, outcome, answer })
      .execute();
  });
}

/** Not called: it waits for its receiver's turn. */
export async function putOff(database: Database, alertId: string, nextMs: number): Promise<void> {
  const update = database.updateTable('alert').set({ next_ms: nextMs });
  await update.where('alert_id', '=', alertId).execute();
}

/** To be told once more, from now on. False where it waits already. */
export async function sendAgain(
  database: Database,
  alertId: string,
  nowMs: number,
): Promise<boolean> {
  const done = await database
    .updateTable('alert')
    .set({ state: 'waiting', attempts: 0, next_ms: nowMs })
    .where('alert_id', '=', alertId)
    .where('state', 'in', ['dead', 'delivered'])
    .executeTakeFirst();
  return Number(done.numUpdatedRows) > 0;
}

/** The oldest alerts of rules that hold more than are kept. */
export async function dropOldAlerts(database: Database): Promise<void> {
  const full = await database
    .selectFrom('alert')
    .select(['rule_id'])
    .groupBy('rule_id')
    .having((having) => having.fn.countAll<number>(), '>', KEPT_MAX)
    .execute();
  for (const { rule_id } of full) {
    const last = await database
      .selectFrom('alert')
      .select('time_ms')
      .where('rule_id', '=', rule_id)
      .orderBy('time_ms', 'desc')
      .offset(KEPT_MAX)
      .limit(1)
      .executeTakeFirst();
    if (last === undefined) continue;
    await database.transaction().execute(async (transaction) => {
      const old = transaction
        .selectFrom('alert')
        .select('alert_id')
        .where('rule_id', '=', rule_id)
        .where('state', '!=', 'waiting')
        .where('time_ms', '<=', last.time_ms);
      await transaction.deleteFrom('alert_call').where('alert_id', 'in', old).execute();
      await transaction
        .deleteFrom('alert')
        .where('rule_id', '=', rule_id)
        .where('state', '!=', 'waiting')
        .where('time_ms', '<=', last.time_ms)
        .execute();
    });
  }
}
