// Alerts of rules are delivered: each at least once, again with growing waits, until its receiver took it or
// nobody can hope for it any more; then it is kept as a dead letter, to be sent again by hand.
import { openOutgoing, type OutgoingRules } from '../../pipeline/sources/http/outgoing.ts';
import { SourceFailure } from '../../pipeline/sources/base/source.ts';
import type { Clock } from '../../store/base/clock.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import { randomShare } from '../../store/base/random.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { Secrets } from '../../store/catalog/secrets/secrets.ts';
import { type Alert, nextAlerts, putOff, saveCall } from '../../store/work/alerts.ts';
import type { Rule } from '../../store/work/rules.ts';
import { chatBody, signatureHeaders, subjectLineOf, textOf, webhookBody } from './alertMessages.ts';
import type { SendMail } from './mail.ts';
import { Lanes, OF_ADDRESS_AT_ONCE } from './lanes.ts';
import { Rounds } from './rounds.ts';

interface AlertDeliveryParts {
  readonly clock: Clock;
  readonly database: Database;
  readonly secrets: Secrets;
  readonly rules: OutgoingRules;
  /** Undefined where no mail server is set. */
  readonly sendMail: SendMail | undefined;
  /** Writes an alert into the dataset that its rule names. @throws Failure */
  readonly saveRecord: (rule: Rule, alert: Alert) => Promise<void>;
  readonly ruleOf: (id: string) => Rule | undefined;
  /** The receiver said that it is gone for ever. */
  readonly onGone: (rule: Rule) => Promise<void>;
  readonly onFault: (reason: unknown) => void;
}

/** Waits before the next call; after the last of them there is none: 13 hours in all. */
const WAITS_MS = [10, 60, 300, 1_800, 3_600, 3_600 * 4, 3_600 * 8].map((s) => s * 1_000);
/** A receiver that failed so often in a row is left alone for a while: one call tries it again then. */
const FAILURES_MAX = 5;
const LEFT_ALONE_MS = 30_000;
/** What `Retry-After` may ask for. */
const RETRY_AFTER_MAX_MS = 86_400_000;
const ANSWER_BYTES_MAX = 65_536;
/** Of an answer, for the log of deliveries. */
const ANSWER_KEPT = 1_024;

interface Receiver {
  failures: number;
  untilMs: number;
}

/** What came of one call. */
interface Answered {
  readonly outcome: string;
  readonly answer: string;
  readonly isTaken: boolean;
  /** Worth another try. */
  readonly isTransient: boolean;
  readonly isGone: boolean;
  readonly retryMs: number;
}

export class AlertDeliveries {
  readonly #parts: AlertDeliveryParts;
  readonly #rounds: Rounds;
  /** Those that failed last, by address. */
  readonly #receivers = new Map<string, Receiver>();

  constructor(parts: AlertDeliveryParts) {
    this.#parts = parts;
    const lanes = new Lanes<Alert>({
      clock: parts.clock,
      next: (most, skipped) => nextAlerts(parts.database, most, skipped),
      waitingOf: (alert) => ({
        id: alert.alert_id,
        account: alert.account_id,
        address: this.#addressOf(alert),
        group: alert.rule_id,
        dueMs: alert.next_ms,
      }),
      mostOf: (address) => this.#mostOf(address),
      putOff: (alert) => this.#putOff(alert),
      deliver: (alert, signal) => this.#one(alert, signal),
    });
    this.#rounds = new Rounds({ ...parts, round: (signal, woken) => lanes.round(signal, woken) });
  }

  /** Looks by itself from now on. */
  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  poke(): void {
    this.#rounds.poke();
  }

  /** Delivers what is due; when something is due next, infinity for never. */
  look(): Promise<number> {
    return this.#rounds.look();
  }

  /** A receiver that failed is left alone for a while, and then tried by one call. */
  #mostOf(address: string): number {
    const receiver = this.#receivers.get(address);
    if (receiver === undefined) return OF_ADDRESS_AT_ONCE;
    if (receiver.untilMs > this.#parts.clock()) return 0;
    return receiver.failures >= FAILURES_MAX ? 1 : OF_ADDRESS_AT_ONCE;
  }

  async #putOff(alert: Alert): Promise<void> {
    const { clock, database } = this.#parts;
    const untilMs = this.#receivers.get(this.#addressOf(alert))?.untilMs ?? clock();
    await putOff(database, alert.alert_id, untilMs);
  }

  #addressOf({ rule_id }: Alert): string {
    const output = this.#parts.ruleOf(rule_id)?.body.output;
    if (output === undefined) return rule_id;
    const { dataset = '', to, url } = output.members;
    return url ?? to ?? dataset;
  }

  async #one(alert: Alert, signal: AbortSignal): Promise<void> {
    const { clock, database, onGone, ruleOf } = this.#parts;
    const rule = ruleOf(alert.rule_id);
    // It goes with its rule.
    if (rule === undefined) return putOff(database, alert.alert_id, clock() + LEFT_ALONE_MS);
    const answered = rule.isActive ? await this.#call(rule, alert, signal) : PAUSED;
    if (signal.aborted && !answered.isTaken) return;
    this.#remember(this.#addressOf(alert), answered);
    const attempts = alert.attempts + 1;
    const nowMs = clock();
    const again = answered.isTransient ? WAITS_MS[alert.attempts] : undefined;
    const state = answered.isTaken ? 'delivered' : again === undefined ? 'dead' : 'waiting';
    const waitMs = Math.max(answered.retryMs, (again ?? 0) * (0.75 + randomShare() / 2));
    const next_ms = state === 'waiting' ? Math.ceil(nowMs + waitMs) : 0;
    const { answer, outcome } = answered;
    const { alert_id, rule_id } = alert;
    const row = { alert_id, rule_id, attempts, next_ms, outcome, state };
    await saveCall(database, row, nowMs, answer);
    if (answered.isGone) await onGone(rule);
  }

  #remember(address: string, { isTaken, isTransient }: Answered): void {
    if (isTaken) {
      this.#receivers.delete(address);
      return;
    }
    if (!isTransient) return;
    const receiver = this.#receivers.get(address) ?? { failures: 0, untilMs: 0 };
    receiver.failures += 1;
    if (receiver.failures >= FAILURES_MAX) receiver.untilMs = this.#parts.clock() + LEFT_ALONE_MS;
    this.#receivers.set(address, receiver);
  }

  async #call(rule: Rule, alert: Alert, signal: AbortSignal): Promise<Answered> {
    try {
      if (alert.method === 'dataset') return await this.#save(rule, alert);
      return alert.method === 'email'
        ? await this.#mail(rule, alert)
        : await this.#post(rule, alert, signal);
    } catch (error) {
      if (!(error instanceof SourceFailure) && !signal.aborted) throw error;
      const isTransient = error instanceof SourceFailure && error.transient;
      return { ...FAILED, outcome: reasonOf(error).slice(0, ANSWER_KEPT), isTransient };
    }
  }

  async #mail(rule: Rule, alert: Alert): Promise<Answered> {
    const { sendMail } = this.#parts;
    if (sendMail === undefined) return { ...FAILED, outcome: 'no mail server is set' };
    const { to = '' } = rule.body.output.members;
    const subject = subjectLineOf(rule, alert);
    const text = textOf(rule, alert);
    const answer = await sendMail({ to, subject, text, id: alert.alert_id });
    return { ...FAILED, outcome: 'taken by the mail server', answer, isTaken: true };
  }

  /** A record that is there already is the same one: it is stored once, however often it is tried. */
  async #save(rule: Rule, alert: Alert): Promise<Answered> {
    try {
      await this.#parts.saveRecord(rule, alert);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const isTransient = error.type === 'Busy' || error.type === 'SystemError';
      const outcome = `not stored: ${reasonOf(error)}`.slice(0, ANSWER_KEPT);
      return { ...FAILED, outcome, isTransient };
    }
    return { ...FAILED, outcome: 'stored', isTaken: true };
  }

  async #post(rule: Rule, alert: Alert, signal: AbortSignal): Promise<Answered> {
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
      // What it says behind its status changes nothing.
      answer: await firstOf(bytes).catch(() => ''),
      isTaken,
      isTransient: !isTaken && (status >= 500 || status === 408 || status === 429),
      isGone: status === 410,
      retryMs: retryOf(headers.get('retry-after'), nowMs),
    };
  }
}

const FAILED: Answered = {
  outcome: '',
  answer: '',
  isTaken: false,
  isTransient: false,
  isGone: false,
  retryMs: 0,
};
const PAUSED: Answered = { ...FAILED, outcome: 'the rule was paused before it was delivered' };

async function firstOf(bytes: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of bytes) {
    if (length < ANSWER_KEPT) pieces.push(piece);
    length += piece.length;
  }
  return Buffer.concat(pieces).subarray(0, ANSWER_KEPT).toString('utf8');
}

function retryOf(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0;
  const asked = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isFinite(asked) ? Math.min(RETRY_AFTER_MAX_MS, Math.max(0, asked)) : 0;
}
