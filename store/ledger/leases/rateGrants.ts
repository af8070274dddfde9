// Counts the requests of addresses and tokens that a read replica may accept under its granted share of the
// rates.
import type { RateGrant, RateRequest } from './leaseMessages.ts';

/** Duration of a grant from its request. */
const PERMIT_MS = 1_000;
/** Limit of addresses and tokens; further ones get no grant. 4 MB. */
const KEYS_MAX = 20_000;
/** Size of the first request; later requests are twice the latest use. */
const PERMITS_MIN = 4;

interface Pocket {
  readonly kind: RateRequest['kind'];
  readonly key: string;
  left: number;
  untilMs: number;
  /** Threshold below which more are requested. */
  low: number;
  /** Used since the latest request. */
  used: number;
  requestedMs: number | undefined;
  isQueued: boolean;
}

export class RateGrants {
  readonly #pockets = {
    address: new Map<string, Pocket>(),
    token: new Map<string, Pocket>(),
  };
  #requested: Pocket[] = [];

  get hasRequests(): boolean {
    return this.#requested.length > 0;
  }

  /** Takes one permit of both, or none and requests the missing ones. */
  take(tokenId: string, address: string, nowMs: number): boolean {
    const token = this.#openPocket('token', tokenId);
    const from = this.#openPocket('address', address);
    if (token === undefined || from === undefined) return false;
    const isAvailable = this.#has(token, nowMs);
    if (!this.#has(from, nowMs) || !isAvailable) return false;
    token.left -= 1;
    token.used += 1;
    from.left -= 1;
    from.used += 1;
    return true;
  }

  /** Returns the requests to send now. */
  takeRequests(nowMs: number): readonly RateRequest[] {
    const requested = this.#requested;
    this.#requested = [];
    return requested.map((pocket) => {
      const { key, kind, used } = pocket;
      pocket.isQueued = false;
      pocket.requestedMs = nowMs;
      pocket.used = 0;
      return { kind, key, most: Math.max(PERMITS_MIN, 2 * used) };
    });
  }

  applyGrant({ count, key, kind }: RateGrant, nowMs: number): void {
    const pocket = this.#pockets[kind].get(key);
    if (pocket?.requestedMs === undefined) return;
    const untilMs = pocket.requestedMs + PERMIT_MS;
    pocket.requestedMs = undefined;
    const isOver = pocket.left === 0 || nowMs > pocket.untilMs;
    // The earlier expiry applies to all: no permit outlives its grant.
    pocket.untilMs = isOver ? untilMs : Math.min(untilMs, pocket.untilMs);
    pocket.left = isOver ? count : pocket.left + count;
    pocket.low = Math.floor(pocket.left / 4);
  }

  /** Removes unused permits. */
  sweep(nowMs: number): void {
    for (const pockets of Object.values(this.#pockets)) {
      for (const [key, pocket] of pockets) {
        const isRequested = pocket.isQueued || pocket.requestedMs !== undefined;
        if (!isRequested && nowMs > pocket.untilMs) pockets.delete(key);
      }
    }
  }

  get isEmpty(): boolean {
    return this.#pockets.address.size + this.#pockets.token.size === 0;
  }

  clear(): void {
    this.#pockets.address.clear();
    this.#pockets.token.clear();
    this.#requested = [];
  }

  #has(pocket: Pocket, nowMs: number): boolean {
    const isAvailable = pocket.left > 0 && nowMs <= pocket.untilMs;
    const isLow = !isAvailable || pocket.left <= pocket.low;
    if (isLow && !pocket.isQueued && pocket.requestedMs === undefined) {
      pocket.isQueued = true;
      this.#requested.push(pocket);
    }
    return isAvailable;
  }

  #openPocket(kind: Pocket['kind'], key: string): Pocket | undefined {
    const pockets = this.#pockets[kind];
    const existing = pockets.get(key);
    if (existing !== undefined || pockets.size >= KEYS_MAX) return existing;
    const pocket: Pocket = {
      kind,
      key,
      left: 0,
      untilMs: -Infinity,
      low: 0,
      used: 0,
      requestedMs: undefined,
      isQueued: false,
    };
    pockets.set(key, pocket);
    return pocket;
  }
}
