// Usage, quota and budget of an account (SPEC.md "Account", INTERFACE.md 5).
import type { Static } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
import type { TokenWithText } from '../../../store/accounts/accounts.ts';
import type { Account } from '../../../store/accounts/accountRows.ts';
import type { Caller } from '../../../store/accounts/callers.ts';
import { Failure } from '../../../store/base/failure.ts';
import { readUsage, type Usage } from '../../../store/ledger/usage.ts';
import { requireManager } from '../../../reads/rights/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import { toFreeAnswer } from '../../request/rows.ts';
import { numberOf, type Parameter, refuse, truthOf } from '../../../reads/request/parameters.ts';
import { ruleUsage } from '../../rules/ruleUsage.ts';
import { tokenNames } from '../../auth/tokenView.ts';
import { choiceRule } from '../../../store/base/valueRules.ts';

/** Common members of the rows: they answer even when the budget is used up. */
const ROW = {
  token: 'secret',
  weight: 'free',
  always: true,
  failures: 'data',
} as const satisfies Partial<Endpoint>;

const counts = Type.Record(Type.String(), Type.Integer());

const USAGE = Type.Object({
  monthlyUsage: Type.Integer(),
  monthlyPayAsYouGo: Type.Integer(),
  monthlyPremium: Type.Integer(),
  dailyUsage: counts,
  tokenUsage: counts,
  keyUsage: counts,
});

const TYPES = ['messages', 'rules', 'rule-records', 'alerts', 'alert-records'] as const;

/** The lower of the account's budget and the operator's ceiling. */
function effectiveBudget({ budget, ceiling }: Account): number | null {
  const limits = [budget, ceiling].filter((limit) => limit !== undefined);
  return limits.length === 0 ? null : Math.min(...limits);
}

export const getUsage: Endpoint = {
  ...ROW,
  id: 'getUsage',
  method: 'GET',
  path: '/account/usage/:type?',
  summary: `Usage of this month in all, by day, token and key; type: ${TYPES.join(', ')}.`,
  parameters: [],
  answer: Type.Union([USAGE, Type.Object({ messages: USAGE, rules: Type.Array(Type.Unknown()) })]),
  handle: async (call, services) => {
    const caller = requireManager(call.caller);
    const { type } = call.path;
    const usageType = TYPES.find((item) => item === type?.toLowerCase());
    if (type !== undefined && usageType === undefined) {
      refuse('type', choiceRule(TYPES));
    }
    if (usageType !== undefined && usageType !== 'messages') {
      const { byDay, byRule, month } = await ruleUsage(caller.accountId, usageType, services);
      const ruleCounts = { monthlyUsage: month, dailyUsage: byDay, keyUsage: byRule };
      return toFreeAnswer({ ...NO_USAGE, ...ruleCounts });
    }
    const messages = await readMessageUsage(caller, services);
    if (type !== undefined) return toFreeAnswer(messages);
    const { byRule } = await ruleUsage(caller.accountId, 'rules', services);
    const rules = Object.entries(byRule).map(([id, ran]) => ({ id, ran }));
    return toFreeAnswer({ messages, rules });
  },
};

const NO_USAGE: Static<typeof USAGE> = {
  monthlyUsage: 0,
  monthlyPayAsYouGo: 0,
  monthlyPremium: 0,
  dailyUsage: {},
  tokenUsage: {},
  keyUsage: {},
};

async function readMessageUsage(
  { accountId, tier }: Caller,
  { accounts, database, days, ledger }: Pick<Services, 'accounts' | 'database' | 'days' | 'ledger'>,
): Promise<Static<typeof USAGE>> {
  await ledger.flushAll();
  const usage = await readUsage(database, accountId, days, ledger.timeMs());
  return usageView(usage, await accounts.tokens(accountId), tier.messagesMonthly);
}

function usageView(
  usage: Usage,
  tokens: readonly TokenWithText[],
  included: number,
): Static<typeof USAGE> {
  const byToken = [...tokenNames(tokens)].flatMap(([tokenId, name]) => {
    const messages = usage.byToken.get(tokenId);
    return messages === undefined ? [] : [[name, messages] as const];
  });
  return {
    monthlyUsage: usage.month,
    monthlyPayAsYouGo: Math.max(0, usage.month - included),
    monthlyPremium: usage.premium,
    dailyUsage: Object.fromEntries(usage.byDay),
    tokenUsage: Object.fromEntries(byToken),
    keyUsage: Object.fromEntries(usage.byKey),
  };
}

export const getMetadata: Endpoint = {
  ...ROW,
  id: 'getAccountMetadata',
  method: 'GET',
  path: '/account/metadata',
  inTest: true,
  summary: 'Tier, quota and use of the account; circuitBreaker 0: none is set.',
  parameters: [],
  answer: Type.Object({
    payAsYouGoEnabled: Type.Boolean(),
    effectiveDate: Type.Integer(),
    endDateEffective: Type.Integer(),
    subscriptionTermType: Type.String(),
    tierName: Type.String(),
    messageLimit: Type.Integer(),
    messagesUsed: Type.Integer(),
    premiumMessageLimit: Type.Integer(),
    premiumMessagesUsed: Type.Integer(),
    messageBudget: Type.Union([Type.Integer(), Type.Null()]),
    circuitBreaker: Type.Integer(),
  }),
  handle: async (call, { days, ledger }) => {
    const { account, accountId, tier } = requireManager(call.caller);
    await ledger.collectReports();
    // Usage belongs to production.
    const isTest = call.environment === 'test';
    const value = {
      payAsYouGoEnabled: account.payAsYouGo && tier.payAsYouGo,
      effectiveDate: account.createdMs,
      endDateEffective: days.monthEnd(ledger.timeMs()),
      subscriptionTermType: 'monthly',
      tierName: tier.name,
      messageLimit: tier.messagesMonthly,
      messagesUsed: isTest ? 0 : ledger.balance(accountId).used,
      premiumMessageLimit: account.premiumMessages,
      premiumMessagesUsed: isTest ? 0 : ledger.premiumBalance(accountId).used,
      messageBudget: effectiveBudget(account),
      circuitBreaker: account.circuitBreaker ?? 0,
    };
    return toFreeAnswer(value);
  },
};

const COUNT = Type.Union([Type.Integer(), Type.Null()]);

export const getAllowance: Endpoint = {
  ...ROW,
  id: 'getAllowance',
  method: 'GET',
  path: '/account/allowance',
  token: 'publishable',
  inTest: true,
  summary:
    'Messages that the token may still spend this month; null: nothing bounds it, or only the account.',
  parameters: [],
  answer: Type.Object({ messageLimit: COUNT, messagesUsed: Type.Integer(), messagesLeft: COUNT }),
  handle: async (call, { ledger }) => {
    const { caller } = call;
    await ledger.collectReports();
    // Usage belongs to production.
    const isTest = call.environment === 'test';
    const { remaining: accountRemaining, used } = ledger.allowance(caller);
    const { kind, messageLimit = null } = caller.token;
    // A publishable token may be public, so it must not reveal the balance of its account.
    const tokenRemaining = messageLimit === null ? undefined : messageLimit - used;
    const remaining = kind === 'secret' ? accountRemaining : tokenRemaining;
    return toFreeAnswer({
      messageLimit,
      messagesUsed: isTest ? 0 : used,
      messagesLeft: isTest || remaining === undefined ? null : Math.max(0, remaining),
    });
  },
};

const ALLOW: Parameter = {
  kind: 'boolean',
  name: 'allow',
  help: 'Whether messages above the quota are allowed and charged.',
};

const SUCCESS = { ...ROW, method: 'POST', body: { kind: 'form' }, answer: Type.String() } as const;

export const setMessageBudget: Endpoint = {
  ...SUCCESS,
  id: 'setMessageBudget',
  path: '/account/messagebudget',
  summary: 'Sets the messages of a month at which all calls stop.',
  parameters: [
    {
      kind: 'integer',
      name: 'totalMessages',
      least: 0,
      most: 1_000_000_000_000,
      help: 'Total messages of a month; when they are used, all calls but those of the account are refused.',
    },
    // iexjs sets pay-as-you-go here.
    ALLOW,
  ],
  handle: async (call, services) => {
    const { accountId } = requireManager(call.caller);
    const budget = numberOf(call.query, 'totalMessages');
    if (budget === undefined && call.query['allow'] !== undefined)
      return changePayAsYouGo(call, services);
    if (budget === undefined) return refuse('totalMessages', 'is required');
    await services.accounts.changeAccount(accountId, { budget }, call.actor);
    return successAnswer(call);
  },
};

export const removeMessageBudget: Endpoint = {
  ...ROW,
  id: 'removeMessageBudget',
  method: 'DELETE',
  path: '/account/messagebudget',
  summary: 'Removes the message budget.',
  parameters: [],
  answer: Type.String(),
  handle: async (call, { accounts }) => {
    const { accountId } = requireManager(call.caller);
    await accounts.changeAccount(accountId, { budget: undefined }, call.actor);
    return successAnswer(call);
  },
};

export const setPayAsYouGo: Endpoint = {
  ...SUCCESS,
  id: 'setPayAsYouGo',
  path: '/account/payasyougo',
  summary: 'Allows messages above the quota, or stops at it.',
  parameters: [ALLOW],
  handle: (call, services) => {
    if (call.query['allow'] === undefined) refuse('allow', 'is required');
    return changePayAsYouGo(call, services);
  },
};

/** @throws Failure FreeTierNotAllowed: free accounts can't buy messages. */
async function changePayAsYouGo(
  call: Call,
  { accounts }: Pick<Services, 'accounts'>,
): Promise<Answer> {
  const { accountId, tier } = requireManager(call.caller);
  const payAsYouGo = truthOf(call.query, 'allow');
  if (payAsYouGo && !tier.payAsYouGo) throw new Failure('FreeTierNotAllowed');
  await accounts.changeAccount(accountId, { payAsYouGo }, call.actor);
  return successAnswer(call);
}

/**
 * `SUCCESS` as plain text (INTERFACE.md 5). iexjs, recognized by the body that it forgets to encode,
 * reads every answer as JSON and gets a JSON text.
 */
function successAnswer({ json }: Call): Answer {
  if (json === '[object Object]') return { kind: 'json', value: 'SUCCESS', metering: 'free' };
  return { kind: 'text', text: 'SUCCESS', contentType: 'text/html; charset=utf-8' };
}
