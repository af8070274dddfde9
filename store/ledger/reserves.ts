// Calls reserves of open streams back when something else of their account is short of messages. A reserve
// keeps what it has spent; nothing is refused while another one holds messages that it may never need.

import { Failure } from '../base/failure.ts';
import type { Hold } from './metering.ts';
import type { Purse, Stop } from './quota.ts';

/** Calls and streams that a refusal names. */
const NAMED_MAX = 3;

/** A reserve that outlives a call. */
export interface Reserve {
  /** Gives back all that is not spent. */
  readonly giveBack: () => void;
}

export class Reserves {
  readonly #byAccount = new Map<string, Set<Reserve>>();

  /** From now on it may be called back. @returns forgets it */
  add(accountId: string, reserve: Reserve): () => void {
    const all = this.#byAccount.get(accountId) ?? new Set();
    this.#byAccount.set(accountId, all.add(reserve));
    return () => {
      all.delete(reserve);
      if (all.size === 0) this.#byAccount.delete(accountId);
    };
  }

  /** One after the other, the oldest first, until there is enough. */
  callBack(accountId: string, isEnough: () => boolean): void {
    for (const reserve of this.#byAccount.get(accountId) ?? []) {
      if (isEnough()) return;
      reserve.giveBack();
    }
  }
}

/** A refusal that names what is reserved meanwhile: it may come back. */
export function refusalOf<P extends Purse>(
  { detail, type }: Stop,
  own: P,
  all: Iterable<Hold & { readonly own: P }>,
): Failure {
  const holds = [...all].filter((hold) => hold.own === own && hold.messages > 0);
  if (holds.length === 0) return new Failure(type, detail);
  const some = holds
    .slice(0, NAMED_MAX)
    .map(({ messages, order }) => `${messages} by ${order.endpoint} (${order.requestId})`);
  const more = holds.length > NAMED_MAX ? `, and by ${holds.length - NAMED_MAX} more` : '';
  const reserved = `${own.held} messages are reserved: ${some.join(', ')}${more}`;
  return new Failure(type, detail === undefined ? reserved : `${detail}; ${reserved}`);
}
