// Alerts of rules and their deliveries, with manual redelivery.
import { Type } from '../../../reads/request/schema.ts';
import { parseInstant } from '../../../query/time/dates.ts';
import { Failure } from '../../../store/base/failure.ts';
import {
  listAlerts as readAlerts,
  listCalls,
  findAlert,
  requeueAlert,
} from '../../../store/work/alerts.ts';
import { requireManager } from '../../../reads/rights/access.ts';
import {
  answerFixed,
  FIXED_FORMATS,
  FIXED_PARAMETERS,
} from '../../../reads/market/reference/fixedPrice.ts';
import { evaluateRuleAt } from '../../rules/backtesting.ts';
import { alertView } from '../../rules/ruleViews.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { numberOf, type Parameter, refuse, textOf } from '../../../reads/request/parameters.ts';
import { ANY, toFreeAnswer } from '../../request/rows.ts';
import { newSecret, ownRule, RULE_ROW } from './ruleRow.ts';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;
const STATES = ['logged', 'shadow', 'waiting', 'delivered', 'dead', 'unsent'] as const;

const LIMIT: Parameter = {
  kind: 'integer',
  name: 'limit',
  least: 1,
  most: LIMIT_MAX,
  help: `At most n; ${LIMIT_DEFAULT} by default.`,
};

export const listAlerts: Endpoint = {
  ...RULE_ROW,
  id: 'listAlerts',
  method: 'GET',
  path: '/rules/alerts/:id',
  summary: `Alerts of a rule, the newest first: ${STATES.join(', ')}, with the reason.`,
  parameters: [LIMIT],
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const rule = ownRule(call.path['id'] ?? '', requireManager(call.caller).accountId, services);
    await services.rules.recorded();
    const limit = numberOf(call.query, 'limit') ?? LIMIT_DEFAULT;
    return toFreeAnswer((await readAlerts(services.database, rule.id, limit)).map(alertView));
  },
};

export const listDeliveries: Endpoint = {
  ...RULE_ROW,
  id: 'listDeliveries',
  method: 'GET',
  path: '/rules/deliveries/:id',
  summary: 'The delivery attempts of one alert: time, outcome and answer of the receiver.',
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const { accountId } = requireManager(call.caller);
    const alertId = call.path['id'] ?? '';
    const alert = await findAlert(services.database, alertId);
    if (alert === undefined) throw new Failure('NotFound');
    ownRule(alert.rule_id, accountId, services);
    const calls = await listCalls(services.database, alertId);
    return toFreeAnswer(
      calls.map(({ answer, outcome, time_ms }) => ({ timestamp: time_ms, outcome, answer })),
    );
  },
};

const ALERT_ID: Parameter = { kind: 'text', name: 'alertId', help: 'The alert.' };

export const redeliverAlert: Endpoint = {
  ...RULE_ROW,
  id: 'redeliverAlert',
  method: 'POST',
  path: '/rules/redeliver',
  summary: 'Sends an alert again, free of charge: false if it waits already or was never sent.',
  parameters: [ALERT_ID],
  body: { kind: 'form' },
  answer: Type.Boolean(),
  handle: async (call, services) => {
    const { accountId } = requireManager(call.caller);
    const id = textOf(call.query, 'alertId');
    if (id === undefined) throw new Failure('InvalidParameter', 'alertId is required');
    const alert = await findAlert(services.database, id);
    if (alert === undefined) throw new Failure('NotFound');
    ownRule(alert.rule_id, accountId, services);
    const isRequeued = await requeueAlert(services.database, id, services.clock());
    if (isRequeued) services.alertDeliveries.poke();
    return toFreeAnswer(isRequeued);
  },
};

const RULE_ID: Parameter = { kind: 'text', name: 'ruleId', help: 'The rule.' };
const ROTATE: Parameter = {
  kind: 'boolean',
  name: 'rotate',
  help: 'true: creates a new secret, with which alerts are signed from now on.',
};

export const ruleSecret: Endpoint = {
  ...RULE_ROW,
  id: 'ruleSecret',
  method: 'POST',
  path: '/rules/secret',
  summary: 'The secret that signs the alerts of a rule (standardwebhooks.com).',
  parameters: [RULE_ID, ROTATE],
  body: { kind: 'form' },
  answer: Type.Object({ secret: Type.String() }),
  handle: async (call, services) => {
    const { accountId } = requireManager(call.caller);
    const id = textOf(call.query, 'ruleId');
    if (id === undefined) throw new Failure('InvalidParameter', 'ruleId is required');
    const rule = ownRule(id, accountId, services);
    const { secrets } = services;
    if (call.query['rotate'] !== true) return toFreeAnswer({ secret: secrets.unseal(rule.sealed) });
    const secret = newSecret();
    await services.rules.change({ ...rule, sealed: secrets.seal(secret) });
    return toFreeAnswer({ secret });
  },
};

export const whyRule: Endpoint = {
  ...RULE_ROW,
  id: 'whyRule',
  method: 'GET',
  path: '/rules/why/:id',
  summary: 'Each condition of a rule with what it reads now, and whether it holds.',
  weight: 'weight of the values that it reads',
  parameters: [
    ...FIXED_PARAMETERS,
    {
      kind: 'text',
      name: 'symbol',
      help: 'The symbol, for a rule on all symbols.',
    },
    {
      kind: 'text',
      name: 'at',
      help: 'A past time, evaluated from minute and day bars; paused rules answer it too.',
    },
  ],
  formats: FIXED_FORMATS,
  answer: ANY,
  handle: (call, services) => {
    const rule = ownRule(call.path['id'] ?? '', requireManager(call.caller).accountId, services);
    const symbol = textOf(call.query, 'symbol')?.toUpperCase() ?? rule.event;
    const weight = services.rules.weighValues(rule);
    const timeMs = parsePast(textOf(call.query, 'at'), services.clock(), services.settings.zone);
    return answerFixed(call, services, { usageKey: 'RULES_WHY', weight }, async () => {
      if (timeMs !== undefined) {
        const values = await evaluateRuleAt(rule, { symbol, timeMs }, call, services);
        return { id: rule.id, event: symbol, timestamp: timeMs, ...values };
      }
      const why = services.rules.explain(rule.id, symbol);
      const reason = 'the rule does not run: resume it first';
      if (why === undefined) throw new Failure('Conflict', reason);
      return { id: rule.id, event: symbol, ...why };
    });
  },
};

/** Parses a past time. @throws Failure InvalidParameter for no time or a future one. */
function parsePast(text: string | undefined, nowMs: number, zone: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseInstant(text, zone);
  if (ms === undefined) {
    return refuse('at', 'must be a time, YYYY-MM-DDTHH:MM:SSZ, or epoch milliseconds');
  }
  return ms > nowMs ? refuse('at', 'must not be in the future') : ms;
}
