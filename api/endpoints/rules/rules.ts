// Creates, edits, pauses and lists rules (SPEC.md "Rules engine", INTERFACE.md 4).
import type { Static } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
import { Failure } from '../../../store/base/failure.ts';
import { newUuid } from '../../../store/base/random.ts';
import { listAlerts } from '../../../store/work/alerts.ts';
import { findRule, type Rule, listRules as readRules } from '../../../store/work/rules.ts';
import { requireManager } from '../../../reads/rights/access.ts';
import { answerBacktest, BACKTEST_BODY } from '../../rules/backtesting.ts';
import { answerLookup } from '../../rules/lookups.ts';
import { FIXED_FORMATS, FIXED_PARAMETERS } from '../../../reads/market/reference/fixedPrice.ts';
import { resolveTickers } from '../../../reads/stock/symbology.ts';
import { RULE_BODY, checkRule } from '../../rules/ruleBodies.ts';
import { createOutputDataset } from '../../rules/datasetOutput.ts';
import { buildRuleReader } from '../../../jobs/rules/ruleReaders.ts';
import { refuseUnknownSymbol } from '../../rules/ruleSymbol.ts';
import { outputView, ruleView, schemaView } from '../../rules/ruleViews.ts';
import type { Endpoint, Services } from '../../request/endpoint.ts';
import { type Parameter, textOf, truthOf } from '../../../reads/request/parameters.ts';
import { ANY, toFreeAnswer } from '../../request/rows.ts';
import { newSecret, ownRule, RULE_ROW } from './ruleRow.ts';

const BOOLEAN = Type.Boolean();
/** Latest outputs of a rule in one list. */
const OUTPUTS_MAX = 1_000;

export const rulesSchema: Endpoint = {
  ...RULE_ROW,
  id: 'rulesSchema',
  method: 'GET',
  path: '/rules/schema',
  summary: 'Values that rules read, their operators, and where alerts may go.',
  answer: ANY,
  handle: (call, { settings }) => {
    requireManager(call.caller);
    return Promise.resolve(toFreeAnswer(schemaView(settings.smtp !== '')));
  },
};

export const rulesLookup: Endpoint = {
  ...RULE_ROW,
  id: 'rulesLookup',
  method: 'GET',
  path: '/rules/lookup/:name',
  summary: 'The choices with which a value may be compared, if it has a list.',
  answer: Type.Array(ANY),
  handle: async (call, services) =>
    toFreeAnswer(await answerLookup(call.path['name'] ?? '', call, services)),
};

const DRY_RUN: Parameter = {
  kind: 'boolean',
  name: 'dryRun',
  help: 'true: creates nothing, and answers as POST /rules/backtest does for the last week.',
};

export const createRule: Endpoint = {
  ...RULE_ROW,
  id: 'createRule',
  method: 'POST',
  path: '/rules/create',
  summary: 'Creates a rule, or edits the one of the id; it runs immediately. The call is free.',
  parameters: [DRY_RUN],
  body: { kind: 'json', schema: RULE_BODY },
  answer: Type.Object({ id: Type.String(), weight: Type.Integer() }),
  handle: async (call, services) => {
    const { clock, rules, secrets, settings } = services;
    const caller = requireManager(call.caller);
    if (truthOf(call.query, 'dryRun')) return answerBacktest(call, services);
    const ruleBody = call.json as Static<typeof RULE_BODY>;
    const { propertyKind } = buildRuleReader(caller, services);
    const {
      body: requestedBody,
      event: symbol,
      name,
    } = checkRule(ruleBody, propertyKind, settings);
    const [event = ''] = symbol === '' ? [] : await resolveTickers([symbol], call, services);
    await refuseUnknownSymbol(event, call, services);
    const { accountId, tokenId } = caller;
    const others = rules.ofAccount(accountId).filter(({ id }) => id !== ruleBody.id);
    const { body, undo } = await createOutputDataset(requestedBody, others, caller, services);
    const members = { name, event, body, tokenId, note: '', updatedMs: clock() };
    if (ruleBody.id !== undefined) {
      const before = ownRule(ruleBody.id, accountId, services);
      const changed = { ...before, ...members };
      await rules.change(changed);
      return toFreeAnswer({ id: before.id, weight: rules.weigh(changed) });
    }
    const rule: Rule = {
      id: newUuid(),
      accountId,
      ...members,
      isActive: true,
      createdMs: clock(),
      sealed: secrets.seal(newSecret()),
      evaluated: 0,
      passed: 0,
      sent: 0,
    };
    await rules.add(rule).catch(async (error: unknown) => {
      await undo();
      throw error;
    });
    return toFreeAnswer({ id: rule.id, weight: rules.weigh(rule) });
  },
};

export const backtestRule: Endpoint = {
  ...RULE_ROW,
  id: 'backtestRule',
  method: 'POST',
  path: '/rules/backtest',
  summary: 'When a rule would have fired over past minutes or days, and what it would have cost.',
  weight: 'weight of the bars that it runs over',
  parameters: FIXED_PARAMETERS,
  formats: FIXED_FORMATS,
  body: { kind: 'json', schema: BACKTEST_BODY },
  answer: ANY,
  handle: (call, services) => {
    requireManager(call.caller);
    return answerBacktest(call, services);
  },
};

const RULE_ID: Parameter = { kind: 'text', name: 'ruleId', help: 'The rule.' };

/** Answers false for an unknown rule, or one that has the state already. */
const setActive = (isActive: boolean): Endpoint['handle'] => {
  return async (call, services) => {
    const { accountId } = requireManager(call.caller);
    const id = textOf(call.query, 'ruleId');
    if (id === undefined) throw new Failure('InvalidParameter', 'ruleId is required');
    const rule = services.rules.find(id);
    if (rule?.accountId !== accountId || rule.isActive === isActive) return toFreeAnswer(false);
    await services.rules.change({ ...rule, isActive, note: '', updatedMs: services.clock() });
    return toFreeAnswer(true);
  };
};

export const pauseRule: Endpoint = {
  ...RULE_ROW,
  id: 'pauseRule',
  method: 'POST',
  path: '/rules/pause',
  summary: 'Stops a rule until it is resumed: true when it ran before.',
  parameters: [RULE_ID],
  body: { kind: 'form' },
  answer: BOOLEAN,
  handle: setActive(false),
};

export const resumeRule: Endpoint = {
  ...RULE_ROW,
  id: 'resumeRule',
  method: 'POST',
  path: '/rules/resume',
  summary: 'Lets a rule run again: true when it was paused before.',
  parameters: [RULE_ID],
  body: { kind: 'form' },
  answer: BOOLEAN,
  handle: setActive(true),
};

export const deleteRule: Endpoint = {
  ...RULE_ROW,
  id: 'deleteRule',
  method: 'DELETE',
  path: '/rules/:id',
  summary: 'Deletes a rule with its alerts: true when there was one.',
  answer: BOOLEAN,
  handle: async (call, services) => {
    const { accountId } = requireManager(call.caller);
    const rule = services.rules.find(call.path['id'] ?? '');
    if (rule?.accountId !== accountId) return toFreeAnswer(false);
    await services.rules.remove(rule.id);
    return toFreeAnswer(true);
  },
};

export const ruleInfo: Endpoint = {
  ...RULE_ROW,
  id: 'ruleInfo',
  method: 'GET',
  path: '/rules/info/:id',
  summary: 'A list of one rule, with what it did so far.',
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const { id } = ownRule(call.path['id'] ?? '', requireManager(call.caller).accountId, services);
    await services.rules.recorded();
    const rule = await findRule(services.database, id);
    return toFreeAnswer(rule === undefined ? [] : [toView(rule, services)]);
  },
};

export const listRules: Endpoint = {
  ...RULE_ROW,
  id: 'listRules',
  method: 'GET',
  path: '/rules',
  summary: 'The rules of the account, with what they did so far.',
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const { accountId } = requireManager(call.caller);
    await services.rules.recorded();
    const rules = await readRules(services.database, accountId);
    return toFreeAnswer(rules.map((rule) => toView(rule, services)));
  },
};

export const ruleOutput: Endpoint = {
  ...RULE_ROW,
  id: 'ruleOutput',
  method: 'GET',
  path: '/rules/output/:id',
  summary: `What a rule with the method logs stored, the newest ${OUTPUTS_MAX} first.`,
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const rule = ownRule(call.path['id'] ?? '', requireManager(call.caller).accountId, services);
    await services.rules.recorded();
    const alerts = await listAlerts(services.database, rule.id, OUTPUTS_MAX);
    const logged = alerts.filter(({ state }) => state === 'logged');
    return toFreeAnswer(logged.map((alert) => outputView(alert, rule)));
  },
};

function toView(rule: Rule, { rules }: Pick<Services, 'rules'>): object {
  try {
    return ruleView(rule, rules.weigh(rule));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return ruleView(rule, undefined);
  }
}
