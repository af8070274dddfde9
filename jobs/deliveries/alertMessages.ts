// What an alert says, for each kind of receiver (SPEC.md "Rule output").
import { createHmac } from 'node:crypto';
import type { Alert } from '../../store/work/alerts.ts';
import { type Rule, subjectOf } from '../../store/work/rules.ts';

/** The symbol, or what stands in its place. */
const eventOf = ({ body }: Rule, { symbol }: Alert): string =>
  symbol === '' ? subjectOf(body.index) : symbol;

type Values = Readonly<Record<string, unknown>>;

const valuesOf = ({ values_json }: Alert): Values => JSON.parse(values_json) as Values;

/** As the original posted it. */
export const webhookBody = (rule: Rule, alert: Alert): string =>
  JSON.stringify({
    data: {
      id: rule.id,
      event: eventOf(rule, alert),
      name: rule.name,
      data: valuesOf(alert),
      timestamp: alert.time_ms,
    },
  });

/** As rooms of Slack and Mattermost take it. */
export const chatBody = (rule: Rule, alert: Alert): string =>
  JSON.stringify({ text: textOf(rule, alert) });

const NAME_CHARACTERS_MAX = 500;

/** `{{name}}` becomes what `valueOf` says; undefined leaves it as it stands. */
function filled(message: string, valueOf: (name: string) => unknown): string {
  const pieces = message.split('}}');
  const told = pieces.map((piece, at) => {
    if (at === pieces.length - 1) return piece;
    const start = piece.lastIndexOf('{{');
    const name = start < 0 ? '' : piece.slice(start + 2);
    const isName = name !== '' && name.length <= NAME_CHARACTERS_MAX && !/[{}]/.test(name);
    const value = isName ? valueOf(name.trim()) : undefined;
    return value === undefined ? `${piece}}}` : `${piece.slice(0, start)}${String(value)}`;
  });
  return told.join('');
}

function filledOf(text: string, rule: Rule, alert: Alert): string {
  const values: Values = { ...valuesOf(alert), event: eventOf(rule, alert), name: rule.name };
  return filled(text, (name) => (Object.hasOwn(values, name) ? values[name] : undefined));
}

/** In one line: a header of mail has no other. */
export const subjectLineOf = (rule: Rule, alert: Alert): string =>
  filledOf(rule.body.output.members['subject'] ?? rule.name, rule, alert).replaceAll(
    /[\r\n]/g,
    ' ',
  );

/** The owner's message, with values in their places; all values where they said none. */
export function textOf(rule: Rule, alert: Alert): string {
  const values = valuesOf(alert);
  const { message } = rule.body.output.members;
  if (message !== undefined) return filledOf(message, rule, alert);
  const list = Object.entries(values).map(([name, value]) => `${name} ${String(value)}`);
  const about = alert.symbol === '' ? '' : `${alert.symbol}: `;
  return `${rule.name}. ${about}${list.join(', ')}`;
}

/**
 * Headers by which a receiver sees who sent it, and drops what it has already (standardwebhooks.com).
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
