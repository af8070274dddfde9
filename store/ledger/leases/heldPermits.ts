// Requests that a node that reads may take of addresses and tokens, from what it was granted of their rates.
import type { PermitGrant, PermitWant } from './leaseMessages.ts';

/** From when they were asked for. */
const PERMIT_MS = 1_000;
/** Addresses and tokens that are known at once; at it, no further one is granted anything. 4 MB. */
const KEYS_MAX = 20_000;
/** Asked for at first; then twice of what was used. */
const PERMITS_LEAST = 4;

interface Pocket {
  readonly kind: PermitWant['kind'];
  readonly key: string;
  left: number;
  untilMs: number;
  /** More are asked for below it. */
  low: number;
  /** Since they were asked for. */
  used: number;
  askedMs: number | undefined;
  isWanted: boolean;
}

export class HeldPermits {
  readonly #pockets = {
    address: new Map<string, Pocket>(),
    token: new Map<string, Pocket>(),
  };
  #wanted: Pocket[] = [];

  get isWanting(): boolean {
    return this.#wanted.length > 0;
  }

  /** Takes one of both, or none: then what lacks is wanted. */
  take(tokenId: string, address: string, nowMs: number): boolean {
    const token = this.#pocketOf('token', tokenId);
    const from = this.#pocketOf('address', address);
    if (token === undefined || from === undefined) return false;
    const isThere = this.#has(token, nowMs);
    if (!this.#has(from, nowMs) || !isThere) return false;
    token.left -= 1;
    token.used += 1;
    from.left -= 1;
    from.used += 1;
    return true;
  }

  /** What to ask for now. */
  wants(nowMs: number): readonly PermitWant[] {
    const wanted = this.#wanted;
    this.#wanted = [];
    return wanted.map((pocket) => {
      const { key, kind, used } = pocket;
      pocket.isWanted = false;
      pocket.askedMs = nowMs;
      pocket.used = 0;
      return { kind, key, most: Math.max(PERMITS_LEAST, 2 * used) };
    });
  }

  granted({ count, key, kind }: PermitGrant, nowMs: number): void {
    const pocket = this.#pockets[kind].get(key);
    if (pocket?.askedMs === undefined) return;
    const untilMs = pocket.askedMs + PERMIT_MS;
    pocket.askedMs = undefined;
    const isOver = pocket.left === 0 || nowMs > pocket.untilMs;
    // Those from before end first: none lives longer than it may.
    pocket.untilMs = isOver ? untilMs : Math.min(untilMs, pocket.untilMs);
    pocket.left = isOver ? count : pocket.left + count;
    pocket.low = Math.floor(pocket.left / 4);
  }

  /** Those that nobody uses are forgotten. */
  sweep(nowMs: number): void {
    for (const pockets of Object.values(this.#pockets)) {
      for (const [key, pocket] of pockets) {
        const isAsked = pocket.isWanted || pocket.askedMs !== undefined;
        if (!isAsked && nowMs > pocket.untilMs) pockets.delete(key);
      }
    }
  }

  get isEmpty(): boolean {
    return this.#pockets.address.size + this.#pockets.token.size === 0;
  }

  clear(): void {
    this.#pockets.address.clear();
    this.#pockets.token.clear();
    this.#wanted = [];
  }

  #has(pocket: Pocket, nowMs: number): boolean {
    const isThere = pocket.left > 0 && nowMs <= pocket.untilMs;
    const isLow = !isThere || pocket.left <= pocket.low;
    if (isLow && !pocket.isWanted && pocket.askedMs === undefined) {
      pocket.isWanted = true;
      this.#wanted.push(pocket);
    }
    return isThere;
  }

  #pocketOf(kind: Pocket['kind'], key: string): Pocket | undefined {
    const pockets = this.#pockets[kind];
    const known = pockets.get(key);
    if (known !== undefined || pockets.size >= KEYS_MAX) return known;
    const pocket: Pocket = {
      kind,
      key,
      left: 0,
      untilMs: -Infinity,
      low: 0,
      used: 0,
      askedMs: undefined,
      isWanted: false,
    };
    pockets.set(key, pocket);
    return pocket;
  }
}
