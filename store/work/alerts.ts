// Stores alerts of rules: the outbox of unsent alerts and the log of sent ones. An alert is written in the
// transaction that charges it, so that none is lost and none is sent uncharged.
import type { Selectable } from 'kysely';
import type { Database } from '../catalog/database.ts';
import type { AlertCallTable, AlertTable } from '../catalog/tables/rules.ts';

export type Alert = Selectable<AlertTable>;
type AlertCall = Selectable<AlertCallTable>;

/** Limit of stored alerts of one rule; the latest are kept, and unsent ones in any case. */
const ALERTS_MAX = 10_000;
/** Limit of listed calls of one alert. */
const CALLS_MAX = 100;

/** Rows of one statement. */
const BATCH_SIZE = 50;

export async function insertAlerts(transaction: Database, alerts: readonly Alert[]): Promise<void> {
  for (let at = 0; at < alerts.length; at += BATCH_SIZE) {
    const batch = alerts.slice(at, at + BATCH_SIZE);
    await transaction.insertInto('alert').values(batch).execute();
  }
}

/** Lists alerts of a rule, newest first. */
export const listAlerts = (
  database: Database,
  ruleId: string,
  limit: number,
): Promise<readonly Alert[]> =>
  database
    .selectFrom('alert')
    .selectAll()
    .where('rule_id', '=', ruleId)
    .orderBy('time_ms', 'desc')
    .orderBy('alert_id', 'desc')
    .limit(limit)
    .execute();

export const findAlert = (database: Database, alertId: string): Promise<Alert | undefined> =>
  database.selectFrom('alert').selectAll().where('alert_id', '=', alertId).executeTakeFirst();

/** Lists calls of an alert, oldest first. */
export const listCalls = (database: Database, alertId: string): Promise<readonly AlertCall[]> =>
  database
    .selectFrom('alert_call')
    .selectAll()
    .where('alert_id', '=', alertId)
    .orderBy('time_ms')
    .limit(CALLS_MAX)
    .execute();

/**
 * Lists waiting alerts by their next attempt, earliest first.
 * @param skipped alerts and rules to leave out
 */
export const nextAlerts = (
  database: Database,
  limit: number,
  skipped: { readonly ids: readonly string[]; readonly groups: readonly string[] },
): Promise<readonly Alert[]> =>
  database
    .selectFrom('alert')
    .selectAll()
    .where('state', '=', 'waiting')
    .$if(skipped.ids.length > 0, (query) => query.where('alert_id', 'not in', skipped.ids))
    .$if(skipped.groups.length > 0, (query) => query.where('rule_id', 'not in', skipped.groups))
    .orderBy('next_ms')
    .limit(limit)
    .execute();

/** Stores the outcome of a call and counts a delivery. @param answer the start of the receiver's answer */
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

/** Postpones an alert without a call: it waits for its receiver. */
export async function postponeAlert(
  database: Database,
  alertId: string,
  nextMs: number,
): Promise<void> {
  const update = database.updateTable('alert').set({ next_ms: nextMs });
  await update.where('alert_id', '=', alertId).execute();
}

/** Queues a finished alert again; false if it is still waiting. */
export async function requeueAlert(
  database: Database,
  alertId: string,
  nowMs: number,
): Promise<boolean> {
  const result = await database
    .updateTable('alert')
    .set({ state: 'waiting', attempts: 0, next_ms: nowMs })
    .where('alert_id', '=', alertId)
    .where('state', 'in', ['dead', 'delivered'])
    .executeTakeFirst();
  return Number(result.numUpdatedRows) > 0;
}

/** Removes the oldest alerts of rules above the limit. */
export async function dropOldAlerts(database: Database): Promise<void> {
  const oversized = await database
    .selectFrom('alert')
    .select(['rule_id'])
    .groupBy('rule_id')
    .having((having) => having.fn.countAll<number>(), '>', ALERTS_MAX)
    .execute();
  for (const { rule_id } of oversized) {
    const last = await database
      .selectFrom('alert')
      .select('time_ms')
      .where('rule_id', '=', rule_id)
      .orderBy('time_ms', 'desc')
      .offset(ALERTS_MAX)
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
