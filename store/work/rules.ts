// Stores rules: definition, latest firings and counters.
import { type Selectable, sql } from 'kysely';
import type { Database } from '../catalog/database.ts';
import type { BatchStatement } from '../catalog/statements.ts';
import { toBatchStatement } from '../catalog/statementBatch.ts';
import type { RuleTable } from '../catalog/tables/rules.ts';
import type { Secrets } from '../catalog/secrets/secrets.ts';
import { Failure } from '../base/failure.ts';

/** Validated definition of a rule. */
export interface RuleBody {
  readonly match: 'any' | 'all';
  /** Lists of a value's name, an operator and a right side, as received. */
  readonly conditions: readonly (readonly unknown[])[];
  readonly additionalKeys: readonly string[];
  /** Names of records or symbols that conditions reference by position: `$index[0]`. */
  readonly index: readonly string[];
  readonly additionalIndex: readonly string[];
  readonly trigger: 'level' | 'edge';
  /** The rule records its alerts without sending them. */
  readonly isShadow: boolean;
  readonly output: RuleOutput;
}

export interface RuleOutput {
  readonly method: string;
  /** Minimum interval between two alerts for one symbol. */
  readonly frequencySeconds: number;
  /** Members of the method: `url`, `to`, `subject`, `message` and so on. */
  readonly members: Readonly<Record<string, string>>;
}

export interface Rule {
  readonly id: string;
  readonly accountId: string;
  readonly tokenId: string;
  readonly name: string;
  readonly event: string;
  readonly body: RuleBody;
  readonly sealed: string;
  readonly isActive: boolean;
  readonly note: string;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly evaluated: number;
  readonly passed: number;
  readonly sent: number;
}

/** Limit of rules of one account. */
const RULES_MAX = 10_000;

/** @throws Failure LimitReached at the limit of the account. */
export async function insertRule(database: Database, rule: Rule): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const row = await transaction
      .selectFrom('rule')
      .select((select) => select.fn.countAll<number>().as('held'))
      .where('account_id', '=', rule.accountId)
      .executeTakeFirst();
    if (Number(row?.held ?? 0) >= RULES_MAX) {
      const message = `the account holds ${RULES_MAX} rules, the most there may be`;
      throw new Failure('LimitReached', message);
    }
    await transaction.insertInto('rule').values(toRow(rule)).execute();
  });
}

/** Saves the definition; counters and firings stay. */
export async function saveRule(database: Database, rule: Rule): Promise<void> {
  const { evaluated, passed, sent, ...values } = toRow(rule);
  await database.updateTable('rule').set(values).where('rule_id', '=', rule.id).execute();
}

/** Removes a rule with its data, except its daily counts, which were reported to the account as usage. */
export async function removeRule(database: Database, id: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction
      .deleteFrom('alert_call')
      .where('alert_id', 'in', (select) =>
        select.selectFrom('alert').select('alert_id').where('rule_id', '=', id),
      )
      .execute();
    for (const table of ['alert', 'rule_stand', 'rule'] as const) {
      await transaction.deleteFrom(table).where('rule_id', '=', id).execute();
    }
  });
}

/** Lists rules of every account, oldest first. */
export async function listAllRules(database: Database): Promise<readonly Rule[]> {
  const rows = await database
    .selectFrom('rule')
    .selectAll()
    .orderBy('created_ms')
    .orderBy('rule_id')
    .execute();
  return rows.map(toRule);
}

/** Lists rules of an account, oldest first. */
export async function listRules(database: Database, accountId: string): Promise<readonly Rule[]> {
  const rows = await database
    .selectFrom('rule')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_ms')
    .orderBy('rule_id')
    .execute();
  return rows.map(toRule);
}

export async function findRule(database: Database, id: string): Promise<Rule | undefined> {
  const row = await database
    .selectFrom('rule')
    .selectAll()
    .where('rule_id', '=', id)
    .executeTakeFirst();
  return row === undefined ? undefined : toRule(row);
}

/** Latest firing of a rule for a symbol, with the values of its alert. */
interface RuleFiring {
  readonly symbol: string;
  readonly firedMs: number;
  /** Undefined when that alert was removed. */
  readonly values: Readonly<Record<string, string | number | boolean | null>> | undefined;
}

export async function listFirings(database: Database, id: string): Promise<readonly RuleFiring[]> {
  const rows = await database
    .selectFrom('rule_stand')
    .leftJoin('alert', (join) =>
      join
        .onRef('alert.rule_id', '=', 'rule_stand.rule_id')
        .onRef('alert.time_ms', '=', 'rule_stand.fired_ms')
        .onRef('alert.symbol', '=', 'rule_stand.symbol'),
    )
    .select(['rule_stand.symbol', 'rule_stand.fired_ms', 'alert.values_json'])
    .where('rule_stand.rule_id', '=', id)
    .execute();
  return rows.map(({ fired_ms, symbol, values_json }) => ({
    symbol,
    firedMs: fired_ms,
    values: values_json === null ? undefined : (JSON.parse(values_json) as RuleFiring['values']),
  }));
}

/** Limit of rows of one statement. */
const BATCH_SIZE = 100;

/** Runs in the transaction of the firings. */
export async function saveFirings(
  transaction: Database,
  firings: readonly {
    readonly rule_id: string;
    readonly symbol: string;
    readonly fired_ms: number;
  }[],
): Promise<void> {
  // No statement may change a row twice.
  const latest = new Map(firings.map((firing) => [`${firing.rule_id} ${firing.symbol}`, firing]));
  const rows = [...latest.values()];
  for (let at = 0; at < rows.length; at += BATCH_SIZE) {
    await transaction
      .insertInto('rule_stand')
      .values(rows.slice(at, at + BATCH_SIZE))
      .onConflict((conflict) =>
        conflict.columns(['rule_id', 'symbol']).doUpdateSet({ fired_ms: sql`excluded.fired_ms` }),
      )
      .execute();
  }
}

/**
 * Returns the subject of an indexed alert: the symbol of a first name CORE:STOCK:AAPL:high, else that name.
 */
export function parseSubject([first = '']: readonly string[]): string {
  const [, namespace = '', entity = ''] = first.split(':');
  return namespace.toUpperCase() === 'STOCK' ? entity.toUpperCase() : first;
}

/** Activity of a rule since the latest count. */
export interface RuleCounts {
  readonly evaluated: number;
  readonly passed: number;
  /** Deliveries, and outputs that were stored. */
  readonly sent: number;
  /** Alerts that were charged. */
  readonly alerts: number;
  /** Values in its alerts. */
  readonly told: number;
}

/** Builds the statements that add counts to the rule and to its day. */
export function buildCountStatements(
  database: Database,
  { accountId, id }: Pick<Rule, 'accountId' | 'id'>,
  day: string,
  { alerts, evaluated, passed, sent, told }: RuleCounts,
): readonly BatchStatement[] {
  const rule = database
    .updateTable('rule')
    .set((one) => ({
      evaluated: one('evaluated', '+', evaluated),
      passed: one('passed', '+', passed),
      sent: one('sent', '+', sent),
    }))
    .where('rule_id', '=', id);
  const ofDay = database
    .insertInto('rule_day')
    .values({ account_id: accountId, rule_id: id, day, evaluated, passed, sent: alerts, told })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'day', 'rule_id']).doUpdateSet({
        evaluated: sql`rule_day.evaluated + excluded.evaluated`,
        passed: sql`rule_day.passed + excluded.passed`,
        sent: sql`rule_day.sent + excluded.sent`,
        told: sql`rule_day.told + excluded.told`,
      }),
    );
  return [toBatchStatement(rule), toBatchStatement(ofDay)];
}

/** Lists the activity of the rules of an account by rule and day, from a day on. */
export const listRuleDays = (
  database: Database,
  accountId: string,
  fromDay: string,
): Promise<
  readonly (Omit<RuleCounts, 'sent'> & { readonly rule_id: string; readonly day: string })[]
> =>
  database
    .selectFrom('rule_day')
    .select(['rule_id', 'day', 'evaluated', 'passed', 'sent as alerts', 'told'])
    .where('account_id', '=', accountId)
    .where('day', '>=', fromDay)
    .execute();

/** Seals all rules under another key, or none; returns their number. */
export async function resealRules(
  transaction: Database,
  old: Secrets,
  fresh: Secrets,
): Promise<number> {
  const rows = await transaction.selectFrom('rule').select(['rule_id', 'sealed']).execute();
  for (const { rule_id, sealed } of rows) {
    const set = { sealed: fresh.seal(old.unseal(sealed)) };
    await transaction.updateTable('rule').set(set).where('rule_id', '=', rule_id).execute();
  }
  return rows.length;
}

function toRow(rule: Rule): Selectable<RuleTable> & { readonly is_active: boolean } {
  return {
    rule_id: rule.id,
    account_id: rule.accountId,
    token_id: rule.tokenId,
    name: rule.name,
    event: rule.event,
    body_json: JSON.stringify(rule.body),
    sealed: rule.sealed,
    is_active: rule.isActive,
    note: rule.note,
    created_ms: rule.createdMs,
    updated_ms: rule.updatedMs,
    evaluated: rule.evaluated,
    passed: rule.passed,
    sent: rule.sent,
  };
}

const toRule = (row: Selectable<RuleTable>): Rule => ({
  id: row.rule_id,
  accountId: row.account_id,
  tokenId: row.token_id,
  name: row.name,
  event: row.event,
  body: JSON.parse(row.body_json) as RuleBody,
  sealed: row.sealed,
  isActive: Boolean(row.is_active),
  note: row.note,
  createdMs: row.created_ms,
  updatedMs: row.updated_ms,
  evaluated: row.evaluated,
  passed: row.passed,
  sent: row.sent,
});
