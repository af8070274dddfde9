// Texts and bodies of an alert, for each kind of receiver (SPEC.md "Rule output").
import { createHmac } from 'node:crypto';
import type { Alert } from '../../store/work/alerts.ts';
import { type Rule, parseSubject } from '../../store/work/rules.ts';

/** The symbol, or the subject of a rule without one. */
const alertEvent = ({ body }: Rule, { symbol }: Alert): string =>
  symbol === '' ? parseSubject(body.index) : symbol;

type Values = Readonly<Record<string, unknown>>;

const parseValues = ({ values_json }: Alert): Values => JSON.parse(values_json) as Values;

/** The body that the original posted. */
export const webhookBody = (rule: Rule, alert: Alert): string =>
  JSON.stringify({
    data: {
      id: rule.id,
      event: alertEvent(rule, alert),
      name: rule.name,
      data: parseValues(alert),
      timestamp: alert.time_ms,
    },
  });

/** The body that channels of Slack and Mattermost accept. */
export const chatBody = (rule: Rule, alert: Alert): string =>
  JSON.stringify({ text: alertText(rule, alert) });

const NAME_CHARACTERS_MAX = 500;

/** Replaces `{{name}}` by the result of `valueOf`; undefined leaves the placeholder unchanged. */
function fillTemplate(message: string, valueOf: (name: string) => unknown): string {
  const pieces = message.split('}}');
  const filledPieces = pieces.map((piece, at) => {
    if (at === pieces.length - 1) return piece;
    const start = piece.lastIndexOf('{{');
    const name = start < 0 ? '' : piece.slice(start + 2);
    const isName = name !== '' && name.length <= NAME_CHARACTERS_MAX && !/[{}]/.test(name);
    const value = isName ? valueOf(name.trim()) : undefined;
    return value === undefined ? `${piece}}}` : `${piece.slice(0, start)}${String(value)}`;
  });
  return filledPieces.join('');
}

function fillFromAlert(text: string, rule: Rule, alert: Alert): string {
  const values: Values = { ...parseValues(alert), event: alertEvent(rule, alert), name: rule.name };
  return fillTemplate(text, (name) => (Object.hasOwn(values, name) ? values[name] : undefined));
}

/** One line: a mail header can't have more. */
export const subjectLine = (rule: Rule, alert: Alert): string =>
  fillFromAlert(rule.body.output.members['subject'] ?? rule.name, rule, alert).replaceAll(
    /[\r\n]/g,
    ' ',
  );

/** The owner's message with its placeholders filled; a list of all values where there is none. */
export function alertText(rule: Rule, alert: Alert): string {
  const values = parseValues(alert);
  const { message } = rule.body.output.members;
  if (message !== undefined) return fillFromAlert(message, rule, alert);
  const list = Object.entries(values).map(([name, value]) => `${name} ${String(value)}`);
  const about = alert.symbol === '' ? '' : `${alert.symbol}: `;
  return `${rule.name}. ${about}${list.join(', ')}`;
}

/**
 * Headers by which a receiver verifies the sender, and drops duplicates (standardwebhooks.com).
 * @param secret `whsec_` and base64
 */
export function signatureHeaders(
  secret: string,
  { alert_id }: Pick<Alert, 'alert_id'>,
  nowMs: number,
  body: string,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = createHmac('sha256', key)
    .update(`${alert_id}.${timestamp}.${body}`)
    .digest('base64');
  return {
    'webhook-id': alert_id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signed}`,
  };
}
