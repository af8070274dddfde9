// What a node that reads was lent of the quota: it stands for the ledger there. All of a call is done at
// once, in memory; what is not here is asked for beside it, and the call is for the node that serves.
import type { Caller } from '../../accounts/callers.ts';
import { Failure } from '../../base/failure.ts';
import type { Charge, ChargeOrder, Hold, Metering } from '../metering.ts';
import type { Stop } from '../quota.ts';
import { type After, realAfter } from './after.ts';
import { type HeldBlock, HeldBlocks } from './heldBlocks.ts';
import { HeldPermits } from './heldPermits.ts';
import type { ToLessee, ToLessor } from './leaseMessages.ts';
import { Untold } from './untold.ts';

/** What is to be told and asked is so together, so often. */
const TURN_MS = 5;
const SWEEP_MS = 250;
/** How long the end waits for the last reports to be acknowledged. */
const CLOSE_MS = 2_000;

interface LesseeParts {
  /** Of this run of the node alone. */
  readonly lessee: string;
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly after?: After;
}

/** Of one call. */
interface OwnHold extends Hold {
  readonly caller: Caller;
  readonly block: HeldBlock;
  isOpen: boolean;
}

type Send = (message: ToLessor) => void;

export class LeasedQuota implements Metering {
  readonly #lessee: string;
  readonly #now: () => number;
  readonly #after: After;
  readonly #blocks = new HeldBlocks();
  readonly #permits = new HeldPermits();
  readonly #untold = new Untold();
  #send: Send | undefined;
  #asks = 0;
  /** Settled calls whose headers are on their way. */
  #settled = 0;
  /** Those of them that are of connections before; undefined: it was told that there are none. */
  #settledBefore: number | undefined;
  #connection = 0;
  readonly #waiting = new Set<() => void>();
  #stopTurn: (() => void) | undefined;
  #turnedMs = -Infinity;
  #stopSweep: (() => void) | undefined;
  #ending: (() => void) | undefined;
  #isClosed = false;

  constructor({ after = realAfter, lessee, nowMs }: LesseeParts) {
    this.#lessee = lessee;
    this.#now = nowMs;
    this.#after = after;
  }

  /** Calls that are delivered and not known to be in the catalog. */
  get untold(): number {
    return this.#untold.count;
  }

  /** Each message of the connection is to be given to `take`. */
  connected(send: Send): void {
    this.lost();
    this.#send = send;
    send({ kind: 'hello', lessee: this.#lessee });
    for (const report of this.#untold.again(this.#now())) send({ kind: 'report', ...report });
    this.#settledBefore = this.#settled;
    this.#turn();
  }

  /** Nothing is spent until it is connected again. Again it does nothing. */
  lost(): void {
    if (this.#send === undefined) return;
    this.#send = undefined;
    this.#connection += 1;
    this.#blocks.lose();
    this.#permits.clear();
  }

  take(message: ToLessee): void {
    const nowMs = this.#now();
    switch (message.kind) {
      case 'ack':
        this.#untold.acknowledged(message.sequence);
        this.#endClose();
        return;
      case 'grants':
        for (const grant of message.grants) this.#blocks.granted(message.ask, grant, nowMs);
        for (const grant of message.permits) this.#permits.granted(grant, nowMs);
        for (const resolve of this.#waiting) resolve();
        this.#sweepLater();
        return;
      case 'recall': {
        // Before what is left comes home, what was spent of it is told.
        this.#turn();
        const blocks = this.#blocks.recalled(message.blocks, nowMs);
        this.#send?.({ kind: 'home', blocks });
        return;
      }
      case 'tell':
        this.#turn();
        this.#send?.({ kind: 'told', telling: message.telling });
    }
  }

  /** Resolves when something is granted, or after so long. */
  granted(withinMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = this.#after(withinMs, resolve);
    this.#waiting.add(resolve);
    return promise.finally(() => {
      stop();
      this.#waiting.delete(resolve);
    });
  }

  /** Takes a request of the token and of the address. @throws Failure where none is here. */
  admit({ tokenId }: Caller, address: string): void {
    const nowMs = this.#now();
    const isThere = this.#maySpend(nowMs) && this.#permits.take(tokenId, address, nowMs);
    if (this.#permits.isWanting) this.#turnLater();
    if (!isThere) throw new NotLent();
  }

  /** @throws Failure where that is not known here. */
  stopped(caller: Caller): Stop | undefined {
    const nowMs = this.#now();
    if (caller.isOperator !== true && this.#maySpend(nowMs)) {
      if (this.#blocks.hasLease(caller.tokenId, nowMs)) return undefined;
      if (this.#want(caller.tokenId, false, 0, nowMs)) throw new NotLent();
    }
    throw elsewhere();
  }

  /** @throws Failure where that many are not here. */
  hold(caller: Caller, order: ChargeOrder, objects: number, least = 0): OwnHold {
    const nowMs = this.#now();
    if (caller.isOperator === true || !this.#maySpend(nowMs)) throw elsewhere();
    const messages = Math.max(objects, least) * order.weight;
    const { premium } = order;
    const block = this.#blocks.purse(caller.tokenId, premium, nowMs)?.block;
    if (block === undefined || nowMs > block.untilMs || block.left < messages) {
      if (this.#want(caller.tokenId, premium, messages, nowMs)) throw new NotLent();
      throw elsewhere();
    }
    block.left -= messages;
    block.calls += 1;
    block.purse.spent += messages;
    if (block.left < block.low || nowMs > block.renewMs) {
      this.#want(caller.tokenId, premium, messages, nowMs);
    }
    return { caller, order, block, messages, isOpen: true };
  }

  /** @throws Failure where it can not be charged any more; then the hold is released. */
  settle(hold: OwnHold, objects: number): Charge {
    const { block, caller, order } = hold;
    const messages = objects * order.weight;
    const more = messages - hold.messages;
    const nowMs = this.#now();
    const isIn = hold.isOpen && !block.isLost && nowMs <= block.untilMs && this.#maySpend(nowMs);
    if (!isIn || (more > 0 && (block.isOver || more > block.left))) {
      this.release(hold);
      throw elsewhere();
    }
    hold.isOpen = false;
    block.left -= more;
    this.#settled += 1;
    const connection = this.#connection;
    let isOpen = true;
    const end = (finish: () => void): void => {
      if (!isOpen) return;
      isOpen = false;
      finish();
      this.#settled -= 1;
      this.#endClose();
      if (connection !== this.#connection) this.#endedBefore();
      this.#ended(block);
    };
    const { premium } = order;
    return {
      messages: premium ? 0 : messages,
      premium: premium ? messages : 0,
      delivered: (also) => {
        if (also !== undefined) throw new Error('nothing is written with a charge of this node');
        end(() => {
          const { accountId, tokenId } = caller;
          const { endpoint, requestId, usageKey, weight } = order;
          const of = { block: block.id, accountId, tokenId, endpoint, usageKey };
          this.#untold.add({ ...of, objects, weight, premium }, requestId);
          this.#turnLater();
        });
      },
      undelivered: () => end(() => (block.left += messages)),
    };
  }

  release(hold: OwnHold): void {
    if (!hold.isOpen) return;
    hold.isOpen = false;
    hold.block.left += hold.messages;
    this.#ended(hold.block);
  }

  /** Whoever would wait is for the node that serves. */
  waitForRoom(): undefined {
    return undefined;
  }

  /**
   * Tells all and gives all home; then nothing is spent.
   * @returns calls that are not known to be in the catalog: they may be, or may not
   */
  async close(): Promise<number> {
    this.#isClosed = true;
    this.#blocks.endAll();
    this.#turn();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ending = resolve;
    this.#endClose();
    if (this.#send !== undefined) {
      const stopWait = this.#after(CLOSE_MS, resolve);
      await promise;
      stopWait();
    }
    this.#stopTurn?.();
    this.#stopSweep?.();
    return this.#untold.count;
  }

  /** All that was spent is in the catalog. */
  #endClose(): void {
    if (this.#untold.count === 0 && this.#settled === 0) this.#ending?.();
  }

  #maySpend(nowMs: number): boolean {
    return this.#send !== undefined && !this.#isClosed && this.#untold.hasRoom(nowMs);
  }

  #want(tokenId: string, premium: boolean, need: number, nowMs: number): boolean {
    const purse = this.#blocks.purse(tokenId, premium, nowMs);
    const isAsked = purse !== undefined && this.#blocks.want(purse, need, nowMs);
    if (this.#blocks.isWanting) this.#turnLater();
    return isAsked;
  }

  /** A call of it is over. */
  #ended(block: HeldBlock): void {
    block.calls -= 1;
    if (!block.isOver) return;
    this.#blocks.gaveBack(block);
    this.#turnLater();
  }

  #endedBefore(): void {
    if (this.#settledBefore === undefined) return;
    this.#settledBefore -= 1;
    this.#turnLater();
  }

  #turnLater(): void {
    // What comes alone is told at once.
    const waitMs = Math.max(0, this.#turnedMs + TURN_MS - this.#now());
    this.#stopTurn ??= this.#after(waitMs, () => this.#turn());
  }

  /** What was spent first: then what comes home is what is left. */
  #turn(): void {
    this.#stopTurn?.();
    this.#stopTurn = undefined;
    const send = this.#send;
    if (send === undefined) return;
    const nowMs = this.#now();
    this.#turnedMs = nowMs;
    for (const report of this.#untold.next(nowMs)) send({ kind: 'report', ...report });
    if (this.#settledBefore !== undefined && this.#settledBefore <= 0) {
      this.#settledBefore = undefined;
      send({ kind: 'clean' });
    }
    const blocks = this.#blocks.homecomings();
    if (blocks.length > 0) send({ kind: 'home', blocks });
    if (!this.#blocks.isWanting && !this.#permits.isWanting) return;
    this.#asks += 1;
    const wants = this.#blocks.wants(this.#asks, nowMs);
    const permits = this.#permits.wants(nowMs);
    send({ kind: 'ask', ask: this.#asks, wants, permits });
    this.#sweepLater();
  }

  #sweepLater(): void {
    this.#stopSweep ??= this.#after(SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#stopSweep = undefined;
    const nowMs = this.#now();
    this.#blocks.sweep(nowMs);
    this.#permits.sweep(nowMs);
    if (this.#blocks.isWanting) this.#turnLater();
    if (!this.#blocks.isEmpty || !this.#permits.isEmpty) this.#sweepLater();
  }
}

/** It is asked for: a moment later it may be here. */
export class NotLent extends Failure {
  constructor() {
    super('Busy', 'the quota for this is not here');
  }
}

const elsewhere = (): Failure => new Failure('Busy', 'the node that serves has to answer this');
