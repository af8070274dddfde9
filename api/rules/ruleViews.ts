// Renders rules for clients: the schema, list entries, outputs.
import { OUTPUT_METHODS } from '../../jobs/rules/outputs.ts';
import { RULE_VALUES } from '../../market/rules/ruleValues.ts';
import { OPERATORS } from '../../query/rules/operators.ts';
import type { Alert } from '../../store/work/alerts.ts';
import { type Rule, parseSubject } from '../../store/work/rules.ts';

/** Renders the schema. Clients pass the members as keywords: no other may be added (INTERFACE.md 4). */
export const schemaView = (isEmailSet: boolean): object => ({
  schema: RULE_VALUES.map(({ isLookup = false, kind, label, value, weight, weightKey }) => ({
    label,
    value,
    type: kind,
    scope: isLookup ? 'lookup' : 'state',
    isLookup,
    weight,
    weightKey,
  })),
  notificationTypes: OUTPUT_METHODS.map(({ label, members, value, weight }) => ({
    label,
    value,
    weight,
    enabled: value !== 'email' || isEmailSet,
    schema: {
      type: 'object',
      properties: {
        method: { const: value },
        frequency: {
          type: 'integer',
          minimum: 1,
          description: 'seconds between two alerts',
        },
        ...Object.fromEntries(
          members.map(({ charactersMax, description, name }) => [
            name,
            {
              type: 'string',
              maxLength: charactersMax,
              description,
            },
          ]),
        ),
      },
      required: [
        'method',
        'frequency',
        ...members.filter(({ isRequired }) => isRequired).map(({ name }) => name),
      ],
    },
  })),
  operators: OPERATORS,
});

/** Renders a rule. @param weight messages of one alert; undefined while it can't run */
export const ruleView = (rule: Rule, weight: number | undefined): object => ({
  id: rule.id,
  name: rule.name,
  event: rule.event === '' ? (rule.body.index[0] ?? '') : rule.event,
  dateCreated: new Date(rule.createdMs).toISOString(),
  dateUpdated: new Date(rule.updatedMs).toISOString(),
  isActive: rule.isActive,
  ran: rule.evaluated,
  passed: rule.passed,
  sent: rule.sent,
  failed: rule.evaluated - rule.passed,
  evaluated: rule.evaluated,
  weight: weight ?? null,
  type: rule.body.match,
  conditions: rule.body.conditions,
  outputs: [
    {
      method: rule.body.output.method,
      frequency: rule.body.output.frequencySeconds,
      ...rule.body.output.members,
    },
  ],
  additionalKeys: rule.body.additionalKeys,
  ...(rule.body.index.length === 0 ? {} : { index: rule.body.index }),
  ...(rule.body.additionalIndex.length === 0 ? {} : { additionalIndex: rule.body.additionalIndex }),
  trigger: rule.body.trigger,
  ...(rule.body.isShadow ? { shadow: true } : {}),
  ...(rule.note === '' ? {} : { note: rule.note }),
});

/** Renders an alert of the method logs: its values as members (SPEC.md), and in `data`, as in webhooks. */
export function outputView({ symbol, time_ms, values_json }: Alert, rule: Rule): object {
  const data = JSON.parse(values_json) as Readonly<Record<string, unknown>>;
  return {
    ...data,
    id: rule.id,
    event: symbol === '' ? parseSubject(rule.body.index) : symbol,
    name: rule.name,
    timestamp: time_ms,
    data,
  };
}

/** Renders an alert with the state of its delivery. */
export const alertView = (alert: Alert): object => ({
  alertId: alert.alert_id,
  ruleId: alert.rule_id,
  event: alert.symbol,
  timestamp: alert.time_ms,
  data: JSON.parse(alert.values_json) as unknown,
  method: alert.method,
  messages: alert.messages,
  state: alert.state,
  outcome: alert.outcome,
  attempts: alert.attempts,
  next: alert.state === 'waiting' && alert.next_ms > 1 ? alert.next_ms : null,
});
