// Rules, their state, and their alerts.
import type { Kysely } from 'kysely';
import { createTable, type SqlBoolean } from './createTable.ts';

export interface RuleTable {
  readonly rule_id: string;
  readonly account_id: string;
  /** The token that created it: it defines the rule's read rights, and its alerts are charged to it. */
  readonly token_id: string;
  readonly name: string;
  /** A symbol, or ANYEVENT. */
  readonly event: string;
  /** JSON: a `RuleBody`. */
  readonly body_json: string;
  /** The secret that signs its deliveries, sealed under the data key. */
  readonly sealed: string;
  readonly is_active: SqlBoolean;
  /** Why it was paused, if not by its owner; '' otherwise. */
  readonly note: string;
  readonly created_ms: number;
  readonly updated_ms: number;
  readonly evaluated: number;
  readonly passed: number;
  readonly sent: number;
}

/** When a rule fired last for a symbol. */
export interface RuleStandTable {
  readonly rule_id: string;
  readonly symbol: string;
  readonly fired_ms: number;
}

/** Counts of a rule on one day of the billing zone. */
export interface RuleDayTable {
  readonly account_id: string;
  readonly rule_id: string;
  /** `YYYYMMDD`. */
  readonly day: string;
  readonly evaluated: number;
  readonly passed: number;
  readonly sent: number;
  /** Number of values in alerts. */
  readonly told: number;
}

export interface AlertTable {
  readonly alert_id: string;
  readonly rule_id: string;
  readonly account_id: string;
  readonly symbol: string;
  readonly time_ms: number;
  /** JSON: the values that it contains. */
  readonly values_json: string;
  /** The rule's method when it fired. */
  readonly method: string;
  readonly messages: number;
  /** `logged`, `shadow`, `waiting`, `delivered`, `dead` or `unsent`. */
  readonly state: string;
  /** Why it was not sent, or the result of its last call; '' if there is none yet. */
  readonly outcome: string;
  readonly attempts: number;
  /** When the next call is due; 0: never. */
  readonly next_ms: number;
}

/** One call of an alert's receiver. */
export interface AlertCallTable {
  readonly alert_id: string;
  readonly time_ms: number;
  readonly outcome: string;
  /** The beginning of the receiver's response. */
  readonly answer: string;
}

export async function addRules(database: Kysely<unknown>): Promise<void> {
  const counts = 'evaluated bigint, passed bigint, sent bigint';
  const rule =
    'rule_id! text, account_id text, token_id text, name text, event text, body_json text, ' +
    'sealed text, is_active boolean, note text, created_ms bigint, updated_ms bigint';
  const alert =
    'alert_id! text, rule_id text, account_id text, symbol text, time_ms bigint, values_json text, ' +
    'method text, messages bigint, state text, outcome text, attempts bigint, next_ms bigint';
  await createTable(database, 'rule', `${rule}, ${counts}`);
  await createTable(database, 'rule_stand', 'rule_id text, symbol text, fired_ms bigint');
  const day = `account_id text, rule_id text, day text, ${counts}, told bigint`;
  await createTable(database, 'rule_day', day);
  await createTable(database, 'alert', alert);
  await createTable(
    database,
    'alert_call',
    'alert_id text, time_ms bigint, outcome text, answer text',
  );
  const unique = [
    ['rule_stand', ['rule_id', 'symbol']],
    ['rule_day', ['account_id', 'day', 'rule_id']],
  ] as const;
  for (const [table, columns] of unique) {
    const index = database.schema
      .createIndex(`${table}_of`)
      .on(table)
      .columns([...columns]);
    await index.unique().execute();
  }
  const indexes = [
    ['rule_by_account', 'rule', ['account_id', 'created_ms']],
    ['alert_by_rule', 'alert', ['rule_id', 'time_ms']],
    ['alert_by_due', 'alert', ['state', 'next_ms']],
    ['alert_call_by_alert', 'alert_call', ['alert_id', 'time_ms']],
  ] as const;
  for (const [name, table, columns] of indexes) {
    await database.schema
      .createIndex(name)
      .on(table)
      .columns([...columns])
      .execute();
  }
}
