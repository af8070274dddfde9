// Keeps the blocks that the serving node has leased to replicas.
import type { Caller } from '../../accounts/callers.ts';
import type { Ledger } from '../ledger.ts';

/** Limit of leased blocks. 30 MB. */
const BLOCKS_MAX = 100_000;

export interface IssuedBlock {
  readonly id: number;
  readonly lessee: string;
  /** Connection of the lease. */
  readonly session: object;
  readonly premium: boolean;
  readonly block: ReturnType<Ledger['openBlock']>;
  /** Caller as of the latest grant. */
  caller: Caller;
  /** Monotonic end: the replica stops spending before it. */
  untilMs: number;
  /** Recalled: the block was recalled. Held: running calls hold the rest of it. */
  state: 'leased' | 'recalled' | 'held';
}

export class IssuedBlocks {
  readonly #ledger: Ledger;
  readonly #byId = new Map<number, IssuedBlock>();
  readonly #byAccount = new Map<string, Set<IssuedBlock>>();
  /** By lessee, token and kind. */
  readonly #byKey = new Map<string, IssuedBlock>();
  #nextId: number;

  /** @param firstId differs from the ids of earlier serving nodes: blocks of both may be reported */
  constructor(ledger: Ledger, firstId: number) {
    this.#ledger = ledger;
    this.#nextId = firstId;
  }

  get count(): number {
    return this.#byId.size;
  }

  get(id: number): IssuedBlock | undefined {
    return this.#byId.get(id);
  }

  find(lessee: string, tokenId: string, premium: boolean): IssuedBlock | undefined {
    return this.#byKey.get(blockKey(lessee, tokenId, premium));
  }

  listByAccount(accountId: string): readonly IssuedBlock[] {
    return [...(this.#byAccount.get(accountId) ?? [])];
  }

  all(): readonly IssuedBlock[] {
    return [...this.#byId.values()];
  }

  /** Opens an empty block that replaces the one of the same key; undefined at `BLOCKS_MAX`. */
  open(
    draft: Pick<IssuedBlock, 'lessee' | 'session' | 'premium' | 'caller' | 'untilMs'>,
  ): IssuedBlock | undefined {
    if (this.count >= BLOCKS_MAX) return undefined;
    const { caller, lessee, premium } = draft;
    const block = this.#ledger.openBlock(caller, premium);
    const issued: IssuedBlock = { ...draft, id: this.#nextId, block, state: 'leased' };
    this.#nextId += 1;
    this.#byId.set(issued.id, issued);
    const own = this.#byAccount.get(caller.accountId) ?? new Set();
    this.#byAccount.set(caller.accountId, own.add(issued));
    this.#byKey.set(blockKey(lessee, caller.tokenId, premium), issued);
    return issued;
  }

  /** Closes a block and takes its remaining messages back. */
  close(issued: IssuedBlock): void {
    if (!this.#byId.delete(issued.id)) return;
    this.#ledger.adjustBlock(issued.block, -issued.block.messages);
    const { accountId, tokenId } = issued.caller;
    const own = this.#byAccount.get(accountId);
    own?.delete(issued);
    if (own?.size === 0) this.#byAccount.delete(accountId);
    const key = blockKey(issued.lessee, tokenId, issued.premium);
    if (this.#byKey.get(key) === issued) this.#byKey.delete(key);
  }
}

const blockKey = (lessee: string, tokenId: string, premium: boolean): string =>
  `${lessee} ${tokenId} ${premium}`;
