// What is lent to whom, at the node that serves.
import type { Caller } from '../../accounts/callers.ts';
import type { Ledger } from '../ledger.ts';

/** Blocks that are lent at once; at it no more are. 30 MB. */
const LENT_MAX = 100_000;

export interface Lent {
  readonly id: number;
  readonly lessee: string;
  /** The connection over which it was lent. */
  readonly session: object;
  readonly premium: boolean;
  readonly block: ReturnType<Ledger['newBlock']>;
  /** As it was when messages were lent last. */
  caller: Caller;
  /** Monotonic: whoever has it stopped before. */
  untilMs: number;
  /** Called: it was called home. Held: what is left of it is held by calls that run. */
  state: 'lent' | 'called' | 'held';
}

export class LentBlocks {
  readonly #ledger: Ledger;
  readonly #byId = new Map<number, Lent>();
  readonly #byAccount = new Map<string, Set<Lent>>();
  /** By who has it, token and kind. */
  readonly #byKey = new Map<string, Lent>();
  #nextId: number;

  /** @param firstId other than those of a node that served before: blocks of both may be told of */
  constructor(ledger: Ledger, firstId: number) {
    this.#ledger = ledger;
    this.#nextId = firstId;
  }

  get count(): number {
    return this.#byId.size;
  }

  get(id: number): Lent | undefined {
    return this.#byId.get(id);
  }

  of(lessee: string, tokenId: string, premium: boolean): Lent | undefined {
    return this.#byKey.get(keyOf(lessee, tokenId, premium));
  }

  ofAccount(accountId: string): readonly Lent[] {
    return [...(this.#byAccount.get(accountId) ?? [])];
  }

  all(): readonly Lent[] {
    return [...this.#byId.values()];
  }

  /** A block of no messages in place of another one of the same key; undefined at `LENT_MAX`. */
  open(to: Pick<Lent, 'lessee' | 'session' | 'premium' | 'caller' | 'untilMs'>): Lent | undefined {
    if (this.count >= LENT_MAX) return undefined;
    const { caller, lessee, premium } = to;
    const block = this.#ledger.newBlock(caller, premium);
    const lent: Lent = { ...to, id: this.#nextId, block, state: 'lent' };
    this.#nextId += 1;
    this.#byId.set(lent.id, lent);
    const own = this.#byAccount.get(caller.accountId) ?? new Set();
    this.#byAccount.set(caller.accountId, own.add(lent));
    this.#byKey.set(keyOf(lessee, caller.tokenId, premium), lent);
    return lent;
  }

  /** What is left of it is here again. */
  close(lent: Lent): void {
    if (!this.#byId.delete(lent.id)) return;
    this.#ledger.lend(lent.block, -lent.block.messages);
    const { accountId, tokenId } = lent.caller;
    const own = this.#byAccount.get(accountId);
    own?.delete(lent);
    if (own?.size === 0) this.#byAccount.delete(accountId);
    const key = keyOf(lent.lessee, tokenId, lent.premium);
    if (this.#byKey.get(key) === lent) this.#byKey.delete(key);
  }
}

const keyOf = (lessee: string, tokenId: string, premium: boolean): string =>
  `${lessee} ${tokenId} ${premium}`;
