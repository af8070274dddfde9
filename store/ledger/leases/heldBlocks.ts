// What a node that reads was lent, by token and kind of messages, and what it is to ask for.
import { MARGIN_MS } from './blockSizes.ts';
import type { Grant, Homecoming, Lease, Want } from './leaseMessages.ts';

/** Tokens and kinds at once; calls of further ones are handed on. 5 MB. */
const PURSES_MAX = 20_000;
/** A token that nobody asks for, and that has no block, is forgotten. */
const FORGOTTEN_MS = 1_000;
/** After it got nothing, a node asks again so late. */
const AGAIN_MS = 250;
/** A pace is that of at least so long. */
const PACE_MS = 250;

/** A block of a connection. */
export interface HeldBlock {
  readonly id: number;
  readonly purse: HeldPurse;
  left: number;
  /** Monotonic: nothing of it is spent after that. */
  untilMs: number;
  /** From when on it is to be prolonged. */
  renewMs: number;
  /** More is asked for below it. */
  low: number;
  /** Calls that hold something of it, until they are told of. */
  calls: number;
  /** Nothing more is taken of it: what calls give back goes home. */
  isOver: boolean;
  /** Its connection was lost: what calls hold of it may not be spent. */
  isLost: boolean;
}

interface HeldPurse {
  readonly tokenId: string;
  readonly premium: boolean;
  block: HeldBlock | undefined;
  /** Undefined: nothing is to be asked. */
  need: number | undefined;
  /** The number of the question that is on its way. */
  ask: number | undefined;
  askedMs: number;
  againMs: number;
  /** Since `sinceMs`. */
  spent: number;
  sinceMs: number;
}

export class HeldBlocks {
  readonly #plain = new Map<string, HeldPurse>();
  readonly #premium = new Map<string, HeldPurse>();
  readonly #byId = new Map<number, HeldBlock>();
  #wanting: HeldPurse[] = [];
  #home = new Set<HeldBlock>();

  get isWanting(): boolean {
    return this.#wanting.length > 0 || this.#home.size > 0;
  }

  get isEmpty(): boolean {
    return this.#byId.size + this.#plain.size + this.#premium.size === 0;
  }

  /** Undefined at `PURSES_MAX`. */
  purse(tokenId: string, premium: boolean, nowMs: number): HeldPurse | undefined {
    const purses = premium ? this.#premium : this.#plain;
    const known = purses.get(tokenId);
    if (known !== undefined || purses.size >= PURSES_MAX) return known;
    const purse: HeldPurse = {
      tokenId,
      premium,
      block: undefined,
      need: undefined,
      ask: undefined,
      askedMs: nowMs,
      againMs: -Infinity,
      spent: 0,
      sinceMs: nowMs,
    };
    purses.set(tokenId, purse);
    return purse;
  }

  /** Whether a lease of the token is valid, of whichever kind. */
  hasLease(tokenId: string, nowMs: number): boolean {
    const untilMs = this.#plain.get(tokenId)?.block?.untilMs ?? -Infinity;
    return nowMs <= untilMs || nowMs <= (this.#premium.get(tokenId)?.block?.untilMs ?? -Infinity);
  }

  /** It is asked for with the next question. @returns false where it was refused a moment ago */
  want(purse: HeldPurse, need: number, nowMs: number): boolean {
    if (purse.need !== undefined) {
      purse.need = Math.max(purse.need, need);
    } else if (purse.ask === undefined && nowMs >= purse.againMs) {
      purse.need = need;
      this.#wanting.push(purse);
    }
    return purse.need !== undefined || purse.ask !== undefined;
  }

  wants(ask: number, nowMs: number): readonly Want[] {
    const wanting = this.#wanting;
    this.#wanting = [];
    return wanting.map((purse) => {
      const { need = 0, premium, sinceMs, spent, tokenId } = purse;
      const perSecond = (spent * 1_000) / Math.max(PACE_MS, nowMs - sinceMs);
      Object.assign(purse, { need: undefined, ask, askedMs: nowMs, spent: 0, sinceMs: nowMs });
      return { tokenId, premium, need, left: purse.block?.left ?? 0, perSecond };
    });
  }

  granted(ask: number, { lease, premium, tokenId }: Grant, nowMs: number): void {
    const purse = (premium ? this.#premium : this.#plain).get(tokenId);
    if (purse?.ask !== ask) return;
    purse.ask = undefined;
    if (lease === undefined) {
      purse.againMs = nowMs + AGAIN_MS;
      return;
    }
    if (purse.block !== undefined && purse.block.id !== lease.block) this.end(purse.block);
    const block = purse.block ?? this.#open(purse, lease.block);
    prolong(block, lease, purse.askedMs);
    if (lease.messages === 0 || nowMs > block.untilMs) purse.againMs = nowMs + AGAIN_MS;
  }

  /** What is left of it goes home, and what calls give back of it. */
  end(block: HeldBlock): void {
    if (block.purse.block === block) block.purse.block = undefined;
    block.isOver = true;
    this.#home.add(block);
  }

  /** Of an ended block a call gave back what it did not need. */
  gaveBack(block: HeldBlock): void {
    if (!block.isLost && (block.left > 0 || block.calls === 0)) this.#home.add(block);
  }

  /** @param ids of blocks that are called home; those that are not here any more are told of as well */
  recalled(ids: readonly number[], nowMs: number): readonly Homecoming[] {
    return ids.map((id) => {
      const block = this.#byId.get(id);
      if (block === undefined) return { block: id, messages: 0, isEnded: true };
      block.purse.againMs = nowMs + AGAIN_MS;
      this.end(block);
      return this.#sent(block);
    });
  }

  homecomings(): readonly Homecoming[] {
    return [...this.#home].map((block) => this.#sent(block));
  }

  endAll(): void {
    for (const block of this.#byId.values()) this.end(block);
  }

  /** The connection is gone: nothing of it may be spent. */
  lose(): void {
    for (const block of this.#byId.values()) {
      block.isOver = true;
      block.isLost = true;
    }
    this.#byId.clear();
    this.#plain.clear();
    this.#premium.clear();
    this.#home.clear();
    this.#wanting = [];
  }

  /** What is not used goes home, what long calls hold is prolonged. */
  sweep(nowMs: number): void {
    for (const purses of [this.#plain, this.#premium]) {
      for (const purse of purses.values()) this.#look(purse, purses, nowMs);
    }
  }

  #look(purse: HeldPurse, purses: Map<string, HeldPurse>, nowMs: number): void {
    const { block } = purse;
    const isAsked = purse.ask !== undefined || purse.need !== undefined;
    if (block === undefined) {
      if (!isAsked && nowMs > purse.againMs && nowMs > purse.askedMs + FORGOTTEN_MS) {
        purses.delete(purse.tokenId);
      }
      return;
    }
    // What nobody spends of is not prolonged, and goes home at its end: it is called home before that where
    // anybody lacks it. What was asked for may be more of this block.
    if (!isAsked && nowMs > block.untilMs) this.end(block);
    else if (block.calls > 0 && nowMs > block.renewMs) this.want(purse, 0, nowMs);
  }

  #open(purse: HeldPurse, id: number): HeldBlock {
    const block: HeldBlock = {
      id,
      purse,
      left: 0,
      untilMs: -Infinity,
      renewMs: 0,
      low: 0,
      calls: 0,
      isOver: false,
      isLost: false,
    };
    purse.block = block;
    this.#byId.set(id, block);
    return block;
  }

  #sent(block: HeldBlock): Homecoming {
    this.#home.delete(block);
    const isEnded = block.calls === 0;
    if (isEnded) this.#byId.delete(block.id);
    const { id, left: messages } = block;
    block.left = 0;
    return { block: id, messages, isEnded };
  }
}

function prolong(block: HeldBlock, { leaseMs, messages }: Lease, askedMs: number): void {
  block.left += messages;
  block.untilMs = askedMs + leaseMs - MARGIN_MS;
  block.renewMs = askedMs + leaseMs / 2;
  // Where nothing was given, only a call that finds too little asks again.
  block.low = messages === 0 ? 0 : Math.floor(block.left / 2);
}
