// Rules, and where they stand: what their owners asked for, when each fired last, what was counted.
import { type Selectable, sql } from 'kysely';
import type { Database } from '../catalog/database.ts';
import type { Piece } from '../catalog/statements.ts';
import { pieceOf } from '../catalog/together.ts';
import type { RuleTable } from '../catalog/tables/rules.ts';
import type { Secrets } from '../catalog/secrets/secrets.ts';
import { Failure } from '../base/failure.ts';

/** What a rule's owner asked for, as it was checked. */
export interface RuleBody {
  readonly match: 'any' | 'all';
  /** Lists of a value's name, an operator and a right side, as they came. */
  readonly conditions: readonly (readonly unknown[])[];
  readonly additionalKeys: readonly string[];
  /** Names of records or symbols that conditions read by their places: `$index[0]`. */
  readonly index: readonly string[];
  readonly additionalIndex: readonly string[];
  readonly trigger: 'level' | 'edge';
  /** It records its alerts, and sends none. */
  readonly isShadow: boolean;
  readonly output: RuleOutput;
}

export interface RuleOutput {
  readonly method: string;
  /** Between two alerts for one symbol. */
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

/** Rules of one account; one more is refused. */
const HELD_MAX = 10_000;

/** @throws Failure LimitReached when the account holds its most. */
export async function insertRule(database: Database, rule: Rule): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const row = await transaction
      .selectFrom('rule')
      .select((select) => select.fn.countAll<number>().as('held'))
      .where('account_id', '=', rule.accountId)
      .executeTakeFirst();
    if (Number(row?.held ?? 0) >= HELD_MAX) {
      const told = `the account holds ${HELD_MAX} rules, the most there may be`;
      throw new Failure('LimitReached', told);
    }
    await transaction.insertInto('rule').values(rowOf(rule)).execute();
  });
}

/** What its owner asked for; its counters and where it stands stay. */
export async function saveRule(database: Database, rule: Rule): Promise<void> {
  const { evaluated, passed, sent, ...values } = rowOf(rule);
  await database.updateTable('rule').set(values).where('rule_id', '=', rule.id).execute();
}

/** With all that is kept of it but what it did on past days, which its account was told as usage. */
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

/** Of every account, oldest first. */
export async function allRules(database: Database): Promise<readonly Rule[]> {
  const rows = await database
    .selectFrom('rule')
    .selectAll()
    .orderBy('created_ms')
    .orderBy('rule_id')
    .execute();
  return rows.map(ruleOf);
}

/** Oldest first. */
export async function rulesOf(database: Database, accountId: string): Promise<readonly Rule[]> {
  const rows = await database
    .selectFrom('rule')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_ms')
    .orderBy('rule_id')
    .execute();
  return rows.map(ruleOf);
}

export async function findRule(database: Database, id: string): Promise<Rule | undefined> {
  const row = await database
    .selectFrom('rule')
    .selectAll()
    .where('rule_id', '=', id)
    .executeTakeFirst();
  return row === undefined ? undefined : ruleOf(row);
}

/** When a rule fired last for a symbol, and what its alert told. */
interface RuleStand {
  readonly symbol: string;
  readonly firedMs: number;
  /** Undefined where that alert is kept no more. */
  readonly values: Readonly<Record<string, string | number | boolean | null>> | undefined;
}

export async function ruleStands(database: Database, id: string): Promise<readonly RuleStand[]> {
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
    values: values_json === null ? undefined : (JSON.parse(values_json) as RuleStand['values']),
  }));
}

/** Rows of one statement. */
const ROWS_AT_ONCE = 100;

/** In the transaction of firings. */
export async function saveStands(
  transaction: Database,
  stands: readonly {
    readonly rule_id: string;
    readonly symbol: string;
    readonly fired_ms: number;
  }[],
): Promise<void> {
  // No statement may change a row twice.
  const newest = new Map(stands.map((stand) => [`${stand.rule_id} ${stand.symbol}`, stand]));
  const rows = [...newest.values()];
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    await transaction
      .insertInto('rule_stand')
      .values(rows.slice(at, at + ROWS_AT_ONCE))
      .onConflict((conflict) =>
        conflict.columns(['rule_id', 'symbol']).doUpdateSet({ fired_ms: sql`excluded.fired_ms` }),
      )
      .execute();
  }
}

/** What an alert of an index is of: the symbol of a first name CORE:STOCK:AAPL:high, else that name. */
export function subjectOf([first = '']: readonly string[]): string {
  const [, namespace = '', entity = ''] = first.split(':');
  return namespace.toUpperCase() === 'STOCK' ? entity.toUpperCase() : first;
}

/** What a rule did since it was counted last. */
export interface RuleCounts {
  readonly evaluated: number;
  readonly passed: number;
  /** Deliveries, and outputs that were stored. */
  readonly sent: number;
  /** Alerts that were charged. */
  readonly alerts: number;
  /** Values that its alerts carried. */
  readonly told: number;
}

/** What adds them to the rule and to its day. */
export function ruleCountPieces(
  database: Database,
  { accountId, id }: Pick<Rule, 'accountId' | 'id'>,
  day: string,
  { alerts, evaluated, passed, sent, told }: RuleCounts,
): readonly Piece[] {
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
  return [pieceOf(rule), pieceOf(ofDay)];
}

/** What the rules of an account did, by rule and day, from a day on. */
export const ruleDays = (
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

/** Every sealed text under another key: all of them or none. How many there were. */
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

function rowOf(rule: Rule): Selectable<RuleTable> & { readonly is_active: boolean } {
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

const ruleOf = (row: Selectable<RuleTable>): Rule => ({
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
