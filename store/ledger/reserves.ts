// Recalls reserves of open streams when another call of their account lacks messages. A reserve keeps its
// spent messages; no call is refused while a stream holds messages that it may never need.

import { Failure } from '../base/failure.ts';
import type { Hold } from './metering.ts';
import type { Purse, Stop } from './quota.ts';

/** Limit of calls and streams that a refusal lists. */
const NAMED_MAX = 3;

/** Returns the unspent messages of a reserve. */
type GiveBack = () => void;

export class Reserves {
  readonly #byAccount = new Map<string, Set<GiveBack>>();

  /** Adds a reserve that may be recalled. @returns a function that removes it */
  add(accountId: string, giveBack: GiveBack): () => void {
    const reserves = this.#byAccount.get(accountId) ?? new Set();
    this.#byAccount.set(accountId, reserves.add(giveBack));
    return () => {
      reserves.delete(giveBack);
      if (reserves.size === 0) this.#byAccount.delete(accountId);
    };
  }

  /** Recalls reserves one after the other, the oldest first, until enough messages remain. */
  recall(accountId: string, isEnough: () => boolean): void {
    for (const giveBack of this.#byAccount.get(accountId) ?? []) {
      if (isEnough()) return;
      giveBack();
    }
  }
}

/** Builds a refusal that lists the current holds: their messages may be released. */
export function buildRefusal<P extends Purse>(
  { detail, type }: Stop,
  own: P,
  reserves: Iterable<Hold & { readonly own: P }>,
): Failure {
  const holds = [...reserves].filter((hold) => hold.own === own && hold.messages > 0);
  if (holds.length === 0) return new Failure(type, detail);
  const listed = holds
    .slice(0, NAMED_MAX)
    .map(({ messages, order }) => `${messages} by ${order.endpoint} (${order.requestId})`);
  const more = holds.length > NAMED_MAX ? `, and by ${holds.length - NAMED_MAX} more` : '';
  const reserved = `${own.held} messages are reserved: ${listed.join(', ')}${more}`;
  return new Failure(type, detail === undefined ? reserved : `${detail}; ${reserved}`);
}
