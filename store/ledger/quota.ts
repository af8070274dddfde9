// Computes the messages that a caller may still use, and the limit that applies: exact at every limit.
import type { Account } from '../accounts/accountRows.ts';
import type { Caller } from '../accounts/callers.ts';
import type { FailureType } from '../base/failure.ts';

/** Messages of a month: used ones, and those held for running calls. */
export interface Purse {
  readonly used: number;
  readonly held: number;
}

/** Includes messages that other nodes may spend without this one. */
export interface Spending extends Purse {
  readonly leased: number;
}

/** Error of a reached limit; without a detail the message of its type. */
export interface Stop {
  readonly type: FailureType;
  readonly detail?: string;
}

/** A bound on the messages of a month. */
interface Bound extends Stop {
  readonly most: number;
}

const BUDGET_STOP: Stop = {
  type: 'OverLimit',
  detail:
    'The message budget of the account is reached: raise it with POST /account/messagebudget, or remove it ' +
    'with DELETE',
};
const CEILING_STOP: Stop = {
  type: 'OverLimit',
  detail:
    'The message budget that the operator set for this account is reached: only the operator can raise it',
};
const TOKEN_STOP: Stop = {
  type: 'OverLimit',
  detail: 'The message limit of this token is reached; the account has others, and may raise it',
};
const PREMIUM_STOP: Stop = {
  type: 'OverLimit',
  detail: 'The account has no premium messages left in this month',
};

const NO_BOUND: Bound = { most: Number.MAX_SAFE_INTEGER, type: 'OverLimit' };

const isPayAsYouGo = ({ payAsYouGo, tier }: Account): boolean => payAsYouGo && tier.payAsYouGo;

/**
 * Returns the limit of the account's messages: its quota unless it buys more, then its circuit breaker, and
 * always its budget, which is a total of the month (SPEC.md "Message budget", "Limits"), and the operator's
 * ceiling. The lowest applies; of equal ones the first in the list, which the account can influence least.
 */
function accountBound(account: Account): Bound {
  const { budget, ceiling, circuitBreaker, tier } = account;
  const quota = tier.messagesMonthly;
  const bounds: Bound[] = [];
  if (ceiling !== undefined) bounds.push({ most: ceiling, ...CEILING_STOP });
  if (budget !== undefined) bounds.push({ most: budget, ...BUDGET_STOP });
  if (!isPayAsYouGo(account)) bounds.push({ most: quota, type: 'OverLimit' });
  else if (circuitBreaker !== undefined) {
    bounds.push({ most: quota + circuitBreaker, type: 'CircuitBreaker' });
  }
  return bounds.reduce((lowest, bound) => (bound.most < lowest.most ? bound : lowest), NO_BOUND);
}

/** Returns the maximum messages of a kind that the account may spend in a month. */
export const maxMessages = (account: Account, premium: boolean): number =>
  premium ? account.premiumMessages : accountBound(account).most;

/**
 * Computes the remaining messages for one more call.
 * @param own the account's purse of the kind of messages that the call costs
 * @param token the token's purse, of both kinds
 */
export function computeRemaining(
  caller: Caller,
  premium: boolean,
  own: Spending,
  token: Spending,
): Stop & { readonly messages: number } {
  const { most, ...stop }: Bound = premium
    ? { most: caller.account.premiumMessages, ...PREMIUM_STOP }
    : accountBound(caller.account);
  const accountLeft = most - own.used - own.held - own.leased;
  const { messageLimit } = caller.token;
  const tokenLeft =
    messageLimit === undefined
      ? NO_BOUND.most
      : messageLimit - token.used - token.held - token.leased;
  if (tokenLeft < accountLeft) return { messages: tokenLeft, ...TOKEN_STOP };
  return { messages: accountLeft, ...stop };
}

/**
 * Returns why all calls of an account stop, including free ones: its budget or circuit breaker was reached. A
 * reached quota alone stops only calls that cost messages.
 */
export function findAccountStop(account: Account, used: number): Stop | undefined {
  const { budget, ceiling, circuitBreaker, tier } = account;
  if (ceiling !== undefined && used >= ceiling) return CEILING_STOP;
  if (budget !== undefined && used >= budget) return BUDGET_STOP;
  if (circuitBreaker === undefined || !isPayAsYouGo(account)) return undefined;
  return used >= tier.messagesMonthly + circuitBreaker ? { type: 'CircuitBreaker' } : undefined;
}
