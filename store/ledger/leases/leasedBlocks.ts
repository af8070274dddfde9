// Keeps the leased blocks of a read replica by token and kind of messages, and the requests to send.
import { MARGIN_MS } from './blockSizes.ts';
import type { QuotaGrant, BlockReturn, Lease, QuotaRequest } from './leaseMessages.ts';

/** Limit of tokens and kinds; calls of further ones are forwarded. 5 MB. */
const PURSES_MAX = 20_000;
/** Idle time after which a token without a block is removed. */
const IDLE_MS = 1_000;
/** Delay of the next request after an empty grant. */
const RETRY_DELAY_MS = 250;
/** Minimum period of a measured rate. */
const RATE_WINDOW_MS = 250;

/** A block of a connection. */
export interface LeasedBlock {
  readonly id: number;
  readonly purse: LeasePurse;
  left: number;
  /** Monotonic end: no message is spent after it. */
  untilMs: number;
  /** Time from which it is renewed. */
  renewMs: number;
  /** Threshold below which more messages are requested. */
  low: number;
  /** Calls with a hold on it, until they are reported. */
  calls: number;
  /** The block is closed: messages released by calls are returned. */
  isOver: boolean;
  /** Its connection was lost: held messages may not be spent. */
  isLost: boolean;
}

interface LeasePurse {
  readonly tokenId: string;
  readonly premium: boolean;
  block: LeasedBlock | undefined;
  /** Messages to request; undefined for no request. */
  need: number | undefined;
  /** Id of the pending request. */
  ask: number | undefined;
  requestedMs: number;
  retryMs: number;
  /** Messages spent since `sinceMs`. */
  spent: number;
  sinceMs: number;
}

export class LeasedBlocks {
  readonly #plain = new Map<string, LeasePurse>();
  readonly #premium = new Map<string, LeasePurse>();
  readonly #byId = new Map<number, LeasedBlock>();
  #requested: LeasePurse[] = [];
  #returning = new Set<LeasedBlock>();

  get hasRequests(): boolean {
    return this.#requested.length > 0 || this.#returning.size > 0;
  }

  get isEmpty(): boolean {
    return this.#byId.size + this.#plain.size + this.#premium.size === 0;
  }

  /** Returns the purse of a token and kind; undefined at `PURSES_MAX`. */
  openPurse(tokenId: string, premium: boolean, nowMs: number): LeasePurse | undefined {
    const purses = premium ? this.#premium : this.#plain;
    const existing = purses.get(tokenId);
    if (existing !== undefined || purses.size >= PURSES_MAX) return existing;
    const purse: LeasePurse = {
      tokenId,
      premium,
      block: undefined,
      need: undefined,
      ask: undefined,
      requestedMs: nowMs,
      retryMs: -Infinity,
      spent: 0,
      sinceMs: nowMs,
    };
    purses.set(tokenId, purse);
    return purse;
  }

  /** Whether the token has a valid lease of either kind. */
  hasLease(tokenId: string, nowMs: number): boolean {
    const untilMs = this.#plain.get(tokenId)?.block?.untilMs ?? -Infinity;
    return nowMs <= untilMs || nowMs <= (this.#premium.get(tokenId)?.block?.untilMs ?? -Infinity);
  }

  /** Queues a request. @returns false where one was refused a moment ago */
  request(purse: LeasePurse, need: number, nowMs: number): boolean {
    if (purse.need !== undefined) {
      purse.need = Math.max(purse.need, need);
    } else if (purse.ask === undefined && nowMs >= purse.retryMs) {
      purse.need = need;
      this.#requested.push(purse);
    }
    return purse.need !== undefined || purse.ask !== undefined;
  }

  takeRequests(requestId: number, nowMs: number): readonly QuotaRequest[] {
    const requested = this.#requested;
    this.#requested = [];
    return requested.map((purse) => {
      const { need = 0, premium, sinceMs, spent, tokenId } = purse;
      const perSecond = (spent * 1_000) / Math.max(RATE_WINDOW_MS, nowMs - sinceMs);
      Object.assign(purse, {
        need: undefined,
        ask: requestId,
        requestedMs: nowMs,
        spent: 0,
        sinceMs: nowMs,
      });
      return { tokenId, premium, need, left: purse.block?.left ?? 0, perSecond };
    });
  }

  applyGrant(requestId: number, { lease, premium, tokenId }: QuotaGrant, nowMs: number): void {
    const purse = (premium ? this.#premium : this.#plain).get(tokenId);
    if (purse?.ask !== requestId) return;
    purse.ask = undefined;
    if (lease === undefined) {
      purse.retryMs = nowMs + RETRY_DELAY_MS;
      return;
    }
    if (purse.block !== undefined && purse.block.id !== lease.block) this.end(purse.block);
    const block = purse.block ?? this.#open(purse, lease.block);
    renew(block, lease, purse.requestedMs);
    if (lease.messages === 0 || nowMs > block.untilMs) purse.retryMs = nowMs + RETRY_DELAY_MS;
  }

  /** Closes a block: its remaining messages, and those released by calls, are returned. */
  end(block: LeasedBlock): void {
    if (block.purse.block === block) block.purse.block = undefined;
    block.isOver = true;
    this.#returning.add(block);
  }

  /** Returns messages of a closed block that a call released. */
  returnUnused(block: LeasedBlock): void {
    if (!block.isLost && (block.left > 0 || block.calls === 0)) this.#returning.add(block);
  }

  /** @param ids recalled blocks; blocks that no longer exist are reported as ended too */
  recall(ids: readonly number[], nowMs: number): readonly BlockReturn[] {
    return ids.map((id) => {
      const block = this.#byId.get(id);
      if (block === undefined) return { block: id, messages: 0, isEnded: true };
      block.purse.retryMs = nowMs + RETRY_DELAY_MS;
      this.end(block);
      return this.#toReturn(block);
    });
  }

  takeReturns(): readonly BlockReturn[] {
    return [...this.#returning].map((block) => this.#toReturn(block));
  }

  endAll(): void {
    for (const block of this.#byId.values()) this.end(block);
  }

  /** Discards all blocks after the connection was lost: their messages may not be spent. */
  discardAll(): void {
    for (const block of this.#byId.values()) {
      block.isOver = true;
      block.isLost = true;
    }
    this.#byId.clear();
    this.#plain.clear();
    this.#premium.clear();
    this.#returning.clear();
    this.#requested = [];
  }

  /** Returns expired blocks and renews blocks held by long calls. */
  sweep(nowMs: number): void {
    for (const purses of [this.#plain, this.#premium]) {
      for (const purse of purses.values()) this.#sweepPurse(purse, purses, nowMs);
    }
  }

  #sweepPurse(purse: LeasePurse, purses: Map<string, LeasePurse>, nowMs: number): void {
    const { block } = purse;
    const isRequested = purse.ask !== undefined || purse.need !== undefined;
    if (block === undefined) {
      if (!isRequested && nowMs > purse.retryMs && nowMs > purse.requestedMs + IDLE_MS) {
        purses.delete(purse.tokenId);
      }
      return;
    }
    // An idle block is not renewed and is returned when it expires; the serving node recalls it earlier if
    // needed. A pending request may still extend this block.
    if (!isRequested && nowMs > block.untilMs) this.end(block);
    else if (block.calls > 0 && nowMs > block.renewMs) this.request(purse, 0, nowMs);
  }

  #open(purse: LeasePurse, id: number): LeasedBlock {
    const block: LeasedBlock = {
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

  #toReturn(block: LeasedBlock): BlockReturn {
    this.#returning.delete(block);
    const isEnded = block.calls === 0;
    if (isEnded) this.#byId.delete(block.id);
    const { id, left: messages } = block;
    block.left = 0;
    return { block: id, messages, isEnded };
  }
}

function renew(block: LeasedBlock, { leaseMs, messages }: Lease, requestedMs: number): void {
  block.left += messages;
  block.untilMs = requestedMs + leaseMs - MARGIN_MS;
  block.renewMs = requestedMs + leaseMs / 2;
  // After an empty grant, only a call that lacks messages sends another request.
  block.low = messages === 0 ? 0 : Math.floor(block.left / 2);
}
