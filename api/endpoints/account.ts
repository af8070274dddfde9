// What an account used, in real time.
import { Type } from 'typebox';
import type { TokenShown } from '../../store/accounts.ts';
import { readUsage, type Usage } from '../../store/usage.ts';
import { callerOf } from '../access.ts';
import type { Endpoint } from '../endpoint.ts';

const counts = Type.Record(Type.String(), Type.Integer());

export const getUsage: Endpoint = {
  id: 'getUsage',
  method: 'GET',
  path: '/account/usage/messages',
  token: 'secret',
  summary: 'Messages used this month: in all, by day, by token and by usage key.',
  weight: 'free',
  parameters: [],
  answer: Type.Object({
    monthlyUsage: Type.Integer(),
    monthlyPayAsYouGo: Type.Integer(),
    dailyUsage: counts,
    tokenUsage: counts,
    keyUsage: counts,
  }),
  failures: 'data',
  handle: async (call, { accounts, clock, database, days, ledger }) => {
    const { accountId, tier } = callerOf(call.caller);
    await ledger.flush();
    const usage = await readUsage(database, accountId, days, clock());
    const value = usageView(usage, await accounts.tokens(accountId), tier.messagesMonthly);
    return { kind: 'json', value, metering: 'free' };
  },
};

function usageView(usage: Usage, tokens: readonly TokenShown[], included: number): object {
  const shown = new Map(tokens.map((token) => [token.tokenId, showToken(token)]));
  const byToken = [...usage.byToken].map(([id, messages]) => [shown.get(id) ?? id, messages]);
  return {
    monthlyUsage: usage.month,
    monthlyPayAsYouGo: Math.max(0, usage.month - included),
    dailyUsage: Object.fromEntries(usage.byDay),
    tokenUsage: Object.fromEntries(byToken),
    keyUsage: Object.fromEntries(usage.byKey),
  };
}

/** A secret token is told by its last four characters only (DESIGN.md "Secrets"). */
const showToken = ({ kind, token }: TokenShown): string =>
  kind === 'publishable' ? token : `sk_…${token.slice(-4)}`;
