// How many messages a caller may still use, and which rule says so: exact at every limit.
import type { Account } from '../accounts/accountRows.ts';
import type { Caller } from '../accounts/callers.ts';
import type { FailureType } from '../base/failure.ts';

/** Messages of a month: those used, and those set aside for calls that run. */
export interface Purse {
  readonly used: number;
  readonly held: number;
}

/** With those that other nodes may spend by themselves. */
export interface Spending extends Purse {
  readonly lent: number;
}

/** How a limit that was reached is told; without a detail by the sentence of its type. */
export interface Stop {
  readonly type: FailureType;
  readonly detail?: string;
}

/** A bound on the messages of a month. */
interface Bound extends Stop {
  readonly most: number;
}

const OF_BUDGET: Stop = {
  type: 'OverLimit',
  detail:
    'The message budget of the account is reached: raise it with POST /account/messagebudget, or remove it ' +
    'with DELETE',
};
const OF_CEILING: Stop = {
  type: 'OverLimit',
  detail:
    'The message budget that the operator set for this account is reached: only the operator can raise it',
};
const OF_TOKEN: Stop = {
  type: 'OverLimit',
  detail: 'The message limit of this token is reached; the account has others, and may raise it',
};
const OF_PREMIUM: Stop = {
  type: 'OverLimit',
  detail: 'The account has no premium messages left in this month',
};

const NO_BOUND: Bound = { most: Number.MAX_SAFE_INTEGER, type: 'OverLimit' };

const buysMore = ({ payAsYouGo, tier }: Account): boolean => payAsYouGo && tier.payAsYouGo;

/**
 * Where the account's own messages end: its quota unless it buys more, then its circuit breaker, and in any
 * case its budget, which is a total of the month (SPEC.md "Message budget", "Limits"), and the operator's
 * ceiling. The lowest applies; of equal ones the first that is listed, which the account can least change.
 */
function accountBound(account: Account): Bound {
  const { budget, ceiling, circuitBreaker, tier } = account;
  const quota = tier.messagesMonthly;
  const bounds: Bound[] = [];
  if (ceiling !== undefined) bounds.push({ most: ceiling, ...OF_CEILING });
  if (budget !== undefined) bounds.push({ most: budget, ...OF_BUDGET });
  if (!buysMore(account)) bounds.push({ most: quota, type: 'OverLimit' });
  else if (circuitBreaker !== undefined) {
    bounds.push({ most: quota + circuitBreaker, type: 'CircuitBreaker' });
  }
  return bounds.reduce((lowest, one) => (one.most < lowest.most ? one : lowest), NO_BOUND);
}

/** The most messages of a kind that the account may spend in a month. */
export const messagesMost = (account: Account, premium: boolean): number =>
  premium ? account.premiumMessages : accountBound(account).most;

/**
 * What is left for one more call.
 * @param own the account's purse of the kind of messages that the call costs
 * @param token the token's purse, of both kinds
 */
export function leftOf(
  caller: Caller,
  premium: boolean,
  own: Spending,
  token: Spending,
): Stop & { readonly messages: number } {
  const { most, ...stop }: Bound = premium
    ? { most: caller.account.premiumMessages, ...OF_PREMIUM }
    : accountBound(caller.account);
  const ofAccount = most - own.used - own.held - own.lent;
  const { messageLimit } = caller.token;
  const ofToken =
    messageLimit === undefined
      ? NO_BOUND.most
      : messageLimit - token.used - token.held - token.lent;
  if (ofToken < ofAccount) return { messages: ofToken, ...OF_TOKEN };
  return { messages: ofAccount, ...stop };
}

/**
 * Why all calls of an account stop, free ones too: its budget or its circuit breaker was reached.
 * Over quota alone stops only what costs messages.
 */
export function stoppedBy(account: Account, used: number): Stop | undefined {
  const { budget, ceiling, circuitBreaker, tier } = account;
  if (ceiling !== undefined && used >= ceiling) return OF_CEILING;
  if (budget !== undefined && used >= budget) return OF_BUDGET;
  if (circuitBreaker === undefined || !buysMore(account)) return undefined;
  return used >= tier.messagesMonthly + circuitBreaker ? { type: 'CircuitBreaker' } : undefined;
}
