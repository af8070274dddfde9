// Calls reserves of open streams back when something else of their account is short of messages. A reserve
// keeps what it has spent; nothing is refused while another one holds messages that it may never need.

import { Failure } from '../base/failure.ts';
import type { Hold } from './metering.ts';
import type { Purse, Stop } from './quota.ts';

/** Calls and streams that a refusal names. */
const NAMED_MAX = 3;

/** Gives back all of a reserve that is not spent. */
type GiveBack = () => void;

export class Reserves {
  readonly #byAccount = new Map<string, Set<GiveBack>>();

  /** From now on it may be called back. @returns forgets it */
  add(accountId: string, giveBack: GiveBack): () => void {
    const all = this.#byAccount.get(accountId) ?? new Set();
    this.#byAccount.set(accountId, all.add(giveBack));
    return () => {
      all.delete(giveBack);
      if (all.size === 0) this.#byAccount.delete(accountId);
    };
  }

  /** One after the other, the oldest first, until there is enough. */
  callBack(accountId: string, isEnough: () => boolean): void {
    for (const giveBack of this.#byAccount.get(accountId) ?? []) {
      if (isEnough()) return;
      giveBack();
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
