// Turns a firing into an alert: charged, recorded and queued for delivery in one transaction.
import type { Accounts } from '../../store/accounts/accounts.ts';
import { Failure, type FailureType, reasonOf } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { BillingDays } from '../../store/ledger/billingDays.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { Charge, ChargeOrder } from '../../store/ledger/metering.ts';
import type { ChargeWriter } from '../../store/ledger/usage.ts';
import { type Alert, insertAlerts } from '../../store/work/alerts.ts';
import { runBatch } from '../../store/catalog/statementBatch.ts';
import { type Rule, buildCountStatements, saveFirings } from '../../store/work/rules.ts';
import type { Firing } from './ruleEngine.ts';
import type { WeighedRule } from './ruleGroup.ts';

export interface AlertingParts {
  readonly accounts: Accounts;
  readonly database: Database;
  readonly days: BillingDays;
  readonly ledger: Ledger;
  /** Whether a rule reads data of another account: its passes are counted with their charges. */
  readonly isPaid: (ruleId: string) => boolean;
  /** An alert was queued for delivery. */
  readonly onWaiting: () => void;
  readonly onFault: (reason: unknown) => void;
}

/** Refused firings of one rule are recorded at most this often. */
const REFUSED_MS = 10_000;
const REFUSED_MAX = 100_000;

/** Why an alert is not sent, in words for its owner. */
const REASONS: Readonly<Partial<Record<FailureType, string>>> = {
  OverLimit: 'no messages were left',
  CircuitBreaker: 'the circuit breaker of pay-as-you-go is engaged',
  InvalidKey: 'the token that made the rule is gone',
  DisabledKey: 'the token that made the rule is disabled',
  Inactive: 'the account is inactive',
};

export class Alerting {
  readonly #parts: AlertingParts;
  readonly #open = new Set<Promise<void>>();
  /** Time of the last recorded refusal, by rule. */
  readonly #refusedMs = new Map<string, number>();

  readonly #writer: ChargeWriter = {
    write: (transaction, rows) => this.#write(transaction, rows as readonly Alert[]),
    onWritten: (rows) => {
      const isWaiting = (rows as readonly Alert[]).some(({ state }) => state === 'waiting');
      if (isWaiting) this.#parts.onWaiting();
    },
  };

  constructor(parts: AlertingParts) {
    this.#parts = parts;
  }

  fired(weighed: WeighedRule, firing: Firing): void {
    const order = createOrder(weighed.rule, weighed.weight);
    const room = this.#waitForRoom(weighed.rule, order);
    if (room === undefined) this.#fire(weighed, firing, order);
    else this.#track(room.then(() => this.#fire(weighed, firing, order)));
  }

  /** Why an alert of a rule could not be paid now; undefined where it could. */
  unpaid({ rule, weight }: Pick<WeighedRule, 'rule' | 'weight'>): string | undefined {
    const { accounts, ledger } = this.#parts;
    try {
      ledger.release(
        ledger.hold(accounts.callerById(rule.tokenId), createOrder(rule, weight), 1, 1),
      );
      return undefined;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return REASONS[error.type] ?? reasonOf(error);
    }
  }

  #fire({ isPaid, rule }: WeighedRule, firing: Firing, order: ChargeOrder): void {
    const charge = this.#charge(rule, order);
    const row = toRow(rule, firing, charge, order.weight);
    if ('messages' in charge) charge.confirm({ writer: this.#writer, row });
    // An uncharged pass over data of others leaves no trace.
    else if (!isPaid && this.#shouldRecordRefusal(row)) this.#recordRefusal(row);
  }

  /** Resolves when earlier firings are recorded. */
  async settled(): Promise<void> {
    await Promise.all(this.#open);
    await this.#parts.ledger.flush();
    await Promise.all(this.#open);
  }

  /** A rule for all symbols may be refused many times a second: only one refusal in a while is recorded. */
  #shouldRecordRefusal({ rule_id, time_ms }: Alert): boolean {
    const last = this.#refusedMs.get(rule_id);
    if (last !== undefined && time_ms - last < REFUSED_MS && time_ms >= last) return false;
    if (this.#refusedMs.size >= REFUSED_MAX) this.#refusedMs.clear();
    this.#refusedMs.set(rule_id, time_ms);
    return true;
  }

  /** Undefined: no need to wait; the token is checked when it is charged. */
  #waitForRoom(rule: Rule, order: ChargeOrder): Promise<void> | undefined {
    const { accounts, ledger } = this.#parts;
    try {
      return ledger.waitForRoom(accounts.callerById(rule.tokenId), order, 1, 1);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return undefined;
    }
  }

  #charge(rule: Rule, order: ChargeOrder): Charge | { readonly unsent: string } {
    const { accounts, ledger } = this.#parts;
    try {
      const caller = accounts.callerById(rule.tokenId);
      return ledger.settle(ledger.hold(caller, order, 1, 1), 1);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { unsent: REASONS[error.type] ?? reasonOf(error) };
    }
  }

  async #write(transaction: Database, alerts: readonly Alert[]): Promise<void> {
    await insertAlerts(transaction, alerts);
    const states = alerts.map(({ rule_id, symbol, time_ms }) => ({
      rule_id,
      symbol,
      fired_ms: time_ms,
    }));
    await saveFirings(transaction, states);
    const charged = Map.groupBy(
      alerts.filter(({ state }) => state !== 'unsent'),
      ({ account_id, rule_id, time_ms }) =>
        JSON.stringify([account_id, rule_id, this.#parts.days.day(time_ms)]),
    );
    const pieces = [...charged].flatMap(([place, own]) => {
      const [accountId = '', id = '', day = ''] = JSON.parse(place) as readonly string[];
      const valueCount = own.reduce((sum, alert) => sum + countValues(alert), 0);
      const passed = this.#parts.isPaid(id) ? own.length : 0;
      // Others are counted as sent when their receiver accepts them.
      const sent = own.filter(({ state }) => state === 'logged').length;
      const counts = { evaluated: 0, passed, alerts: own.length, sent, told: valueCount };
      return buildCountStatements(transaction, { accountId, id }, day, counts);
    });
    await runBatch(transaction, pieces);
  }

  #recordRefusal(row: Alert): void {
    const { database } = this.#parts;
    this.#track(database.transaction().execute((transaction) => this.#write(transaction, [row])));
  }

  #track(work: Promise<void>): void {
    const done = work.catch(this.#parts.onFault).finally(() => this.#open.delete(done));
    this.#open.add(done);
  }
}

const createOrder = ({ body }: Rule, weight: number): ChargeOrder => ({
  requestId: newUuid(),
  endpoint: 'rule',
  usageKey: `ALERT_${body.output.method.toUpperCase()}`,
  weight,
  premium: false,
});

/** Count of the values of an alert. */
const countValues = ({ values_json }: Alert): number =>
  Object.keys(JSON.parse(values_json) as object).length;

function toRow(
  rule: Rule,
  { symbol, timeMs, values }: Firing,
  charge: Charge | { readonly unsent: string },
  weight: number,
): Alert {
  const { isShadow, output } = rule.body;
  const { method } = output;
  const isSent = 'messages' in charge;
  const finalState = isShadow ? 'shadow' : method === 'logs' ? 'logged' : undefined;
  return {
    alert_id: newUuid(),
    rule_id: rule.id,
    account_id: rule.accountId,
    symbol,
    time_ms: Math.floor(timeMs),
    // Unpaid values are not stored.
    values_json: isSent ? JSON.stringify(values) : '{}',
    method,
    messages: isSent ? weight : 0,
    state: isSent ? (finalState ?? 'waiting') : 'unsent',
    outcome: isSent ? '' : charge.unsent,
    attempts: 0,
    next_ms: isSent && finalState === undefined ? 1 : 0,
  };
}
