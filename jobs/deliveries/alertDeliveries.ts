// Delivers alerts of rules at least once each, retried with growing waits until the receiver accepts it or no
// retry is left; then it is kept as a dead letter, to be resent by hand.
import { openOutgoing, type OutgoingRules } from '../../pipeline/sources/http/outgoing.ts';
import { SourceFailure } from '../../pipeline/sources/base/source.ts';
import type { Clock } from '../../store/base/clock.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import { randomFraction } from '../../store/base/random.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { Secrets } from '../../store/catalog/secrets/secrets.ts';
import { type Alert, nextAlerts, postponeAlert, saveCall } from '../../store/work/alerts.ts';
import type { Rule } from '../../store/work/rules.ts';
import {
  chatBody,
  signatureHeaders,
  subjectLine,
  alertText,
  webhookBody,
} from './alertMessages.ts';
import type { SendMail } from './mail.ts';
import { Lanes, ADDRESS_CONCURRENCY } from './lanes.ts';
import { Rounds } from './rounds.ts';

interface AlertDeliveryParts {
  readonly clock: Clock;
  readonly database: Database;
  readonly secrets: Secrets;
  readonly rules: OutgoingRules;
  /** Undefined where no mail server is configured. */
  readonly sendMail: SendMail | undefined;
  /** Writes an alert into the dataset of its rule. @throws Failure */
  readonly saveRecord: (rule: Rule, alert: Alert) => Promise<void>;
  readonly ruleOf: (id: string) => Rule | undefined;
  /** The receiver answered 410 Gone. */
  readonly onGone: (rule: Rule) => Promise<void>;
  readonly onFault: (reason: unknown) => void;
}

/** Waits before each retry: 13 hours in all. */
const WAITS_MS = [10, 60, 300, 1_800, 3_600, 3_600 * 4, 3_600 * 8].map((s) => s * 1_000);
/** A receiver that failed this often in a row is paused; afterwards one call probes it. */
const FAILURES_MAX = 5;
const CIRCUIT_OPEN_MS = 30_000;
/** Longest `Retry-After` that is honored. */
const RETRY_AFTER_MAX_MS = 86_400_000;
const ANSWER_BYTES_MAX = 65_536;
/** Bytes of an answer in the log of deliveries. */
const ANSWER_LOG_BYTES = 1_024;

interface Receiver {
  failures: number;
  untilMs: number;
}

/** Outcome of one call. */
interface CallOutcome {
  readonly outcome: string;
  readonly answer: string;
  readonly isTaken: boolean;
  /** Whether a retry may succeed. */
  readonly isTransient: boolean;
  readonly isGone: boolean;
  readonly retryMs: number;
}

export class AlertDeliveries {
  readonly #parts: AlertDeliveryParts;
  readonly #rounds: Rounds;
  /** Receivers whose last call failed, by address. */
  readonly #receivers = new Map<string, Receiver>();

  constructor(parts: AlertDeliveryParts) {
    this.#parts = parts;
    const lanes = new Lanes<Alert>({
      clock: parts.clock,
      next: (most, skipped) => nextAlerts(parts.database, most, skipped),
      toWaiting: (alert) => ({
        id: alert.alert_id,
        account: alert.account_id,
        address: this.#addressOf(alert),
        group: alert.rule_id,
        dueMs: alert.next_ms,
      }),
      slotsFor: (address) => this.#slotsFor(address),
      postpone: (alert) => this.#postpone(alert),
      deliver: (alert, signal) => this.#deliver(alert, signal),
    });
    this.#rounds = new Rounds({ ...parts, round: (signal, woken) => lanes.round(signal, woken) });
  }

  /** Starts the automatic rounds. */
  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  poke(): void {
    this.#rounds.poke();
  }

  /** Delivers what is due; returns when the next delivery is due, infinity for never. */
  deliverDue(): Promise<number> {
    return this.#rounds.runRound();
  }

  /** A receiver that failed is paused, and then probed by one call. */
  #slotsFor(address: string): number {
    const receiver = this.#receivers.get(address);
    if (receiver === undefined) return ADDRESS_CONCURRENCY;
    if (receiver.untilMs > this.#parts.clock()) return 0;
    return receiver.failures >= FAILURES_MAX ? 1 : ADDRESS_CONCURRENCY;
  }

  async #postpone(alert: Alert): Promise<void> {
    const { clock, database } = this.#parts;
    const untilMs = this.#receivers.get(this.#addressOf(alert))?.untilMs ?? clock();
    await postponeAlert(database, alert.alert_id, untilMs);
  }

  #addressOf({ rule_id }: Alert): string {
    const output = this.#parts.ruleOf(rule_id)?.body.output;
    if (output === undefined) return rule_id;
    const { dataset = '', to, url } = output.members;
    return url ?? to ?? dataset;
  }

  async #deliver(alert: Alert, signal: AbortSignal): Promise<void> {
    const { clock, database, onGone, ruleOf } = this.#parts;
    const rule = ruleOf(alert.rule_id);
    // It is removed with its rule.
    if (rule === undefined)
      return postponeAlert(database, alert.alert_id, clock() + CIRCUIT_OPEN_MS);
    const result = rule.isActive ? await this.#call(rule, alert, signal) : PAUSED;
    if (signal.aborted && !result.isTaken) return;
    this.#recordOutcome(this.#addressOf(alert), result);
    const attempts = alert.attempts + 1;
    const nowMs = clock();
    const again = result.isTransient ? WAITS_MS[alert.attempts] : undefined;
    const state = result.isTaken ? 'delivered' : again === undefined ? 'dead' : 'waiting';
    const waitMs = Math.max(result.retryMs, (again ?? 0) * (0.75 + randomFraction() / 2));
    const next_ms = state === 'waiting' ? Math.ceil(nowMs + waitMs) : 0;
    const { answer, outcome } = result;
    const { alert_id, rule_id } = alert;
    const row = { alert_id, rule_id, attempts, next_ms, outcome, state };
    await saveCall(database, row, nowMs, answer);
    if (result.isGone) await onGone(rule);
  }

  #recordOutcome(address: string, { isTaken, isTransient }: CallOutcome): void {
    if (isTaken) {
      this.#receivers.delete(address);
      return;
    }
    if (!isTransient) return;
    const receiver = this.#receivers.get(address) ?? { failures: 0, untilMs: 0 };
    receiver.failures += 1;
    if (receiver.failures >= FAILURES_MAX) receiver.untilMs = this.#parts.clock() + CIRCUIT_OPEN_MS;
    this.#receivers.set(address, receiver);
  }

  async #call(rule: Rule, alert: Alert, signal: AbortSignal): Promise<CallOutcome> {
    try {
      if (alert.method === 'dataset') return await this.#saveRecord(rule, alert);
      return alert.method === 'email'
        ? await this.#sendMail(rule, alert)
        : await this.#post(rule, alert, signal);
    } catch (error) {
      if (!(error instanceof SourceFailure) && !signal.aborted) throw error;
      const isTransient = error instanceof SourceFailure && error.transient;
      return { ...FAILED, outcome: reasonOf(error).slice(0, ANSWER_LOG_BYTES), isTransient };
    }
  }

  async #sendMail(rule: Rule, alert: Alert): Promise<CallOutcome> {
    const { sendMail } = this.#parts;
    if (sendMail === undefined) return { ...FAILED, outcome: 'no mail server is set' };
    const { to = '' } = rule.body.output.members;
    const subject = subjectLine(rule, alert);
    const text = alertText(rule, alert);
    const answer = await sendMail({ to, subject, text, id: alert.alert_id });
    return { ...FAILED, outcome: 'taken by the mail server', answer, isTaken: true };
  }

  /** A record that already exists is the same one: it is stored once, however often it is retried. */
  async #saveRecord(rule: Rule, alert: Alert): Promise<CallOutcome> {
    try {
      await this.#parts.saveRecord(rule, alert);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const isTransient = error.type === 'Busy' || error.type === 'SystemError';
      const outcome = `not stored: ${reasonOf(error)}`.slice(0, ANSWER_LOG_BYTES);
      return { ...FAILED, outcome, isTransient };
    }
    return { ...FAILED, outcome: 'stored', isTaken: true };
  }

  async #post(rule: Rule, alert: Alert, signal: AbortSignal): Promise<CallOutcome> {
    const { clock, rules, secrets } = this.#parts;
    const isChat = alert.method === 'slack' || alert.method === 'mattermost';
    const body = isChat ? chatBody(rule, alert) : webhookBody(rule, alert);
    const nowMs = clock();
    await using outgoing = openOutgoing(rules);
    const {
      body: bytes,
      headers,
      status,
    } = await outgoing.send({
      method: 'POST',
      url: rule.body.output.members['url'] ?? '',
      headers: {
        'content-type': 'application/json',
        ...signatureHeaders(secrets.unseal(rule.sealed), alert, nowMs, body),
      },
      body,
      bytesMax: ANSWER_BYTES_MAX,
      signal,
    });
    const isTaken = status >= 200 && status < 300;
    return {
      outcome: `answered ${status}`,
      // A body that can't be read does not change the outcome.
      answer: await readStart(bytes).catch(() => ''),
      isTaken,
      isTransient: !isTaken && (status >= 500 || status === 408 || status === 429),
      isGone: status === 410,
      retryMs: parseRetryAfter(headers.get('retry-after'), nowMs),
    };
  }
}

const FAILED: CallOutcome = {
  outcome: '',
  answer: '',
  isTaken: false,
  isTransient: false,
  isGone: false,
  retryMs: 0,
};
const PAUSED: CallOutcome = { ...FAILED, outcome: 'the rule was paused before it was delivered' };

async function readStart(bytes: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of bytes) {
    if (length < ANSWER_LOG_BYTES) pieces.push(piece);
    length += piece.length;
  }
  return Buffer.concat(pieces).subarray(0, ANSWER_LOG_BYTES).toString('utf8');
}

function parseRetryAfter(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0;
  const delayMs = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isFinite(delayMs) ? Math.min(RETRY_AFTER_MAX_MS, Math.max(0, delayMs)) : 0;
}
