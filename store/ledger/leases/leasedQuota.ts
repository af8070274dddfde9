// Implements metering on a read replica with leased quota. Every operation runs in memory; a call without
// leased quota goes to the serving node, and a lease is requested in parallel.
import type { Caller } from '../../accounts/callers.ts';
import { Failure } from '../../base/failure.ts';
import type { Charge, ChargeOrder, Hold, Metering } from '../metering.ts';
import type { Stop } from '../quota.ts';
import { type StartTimer, startTimer } from './timer.ts';
import { type LeasedBlock, LeasedBlocks } from './leasedBlocks.ts';
import { RateGrants } from './rateGrants.ts';
import type { ToLessee, ToLessor } from './leaseMessages.ts';
import { UnackedCharges } from './unackedCharges.ts';

/** Interval at which reports and requests are sent together. */
const SEND_INTERVAL_MS = 5;
const SWEEP_MS = 250;
/** Maximum wait on close for the last acknowledgements. */
const CLOSE_MS = 2_000;

interface LesseeParts {
  /** Id of this run of the node. */
  readonly lessee: string;
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly after?: StartTimer;
}

/** Hold of one call. */
interface OwnHold extends Hold {
  readonly caller: Caller;
  readonly block: LeasedBlock;
  isOpen: boolean;
}

type Send = (message: ToLessor) => void;

export class LeasedQuota implements Metering {
  readonly #lessee: string;
  readonly #now: () => number;
  readonly #after: StartTimer;
  readonly #blocks = new LeasedBlocks();
  readonly #permits = new RateGrants();
  readonly #unacked = new UnackedCharges();
  #send: Send | undefined;
  #lastRequest = 0;
  /** Settled calls whose headers are not delivered yet. */
  #settled = 0;
  /** Settled calls of earlier connections; undefined once `clean` was sent. */
  #settledBefore: number | undefined;
  #connection = 0;
  readonly #grantWaiters = new Set<() => void>();
  #cancelSend: (() => void) | undefined;
  #sentMs = -Infinity;
  #cancelSweep: (() => void) | undefined;
  #finishClose: (() => void) | undefined;
  #isClosed = false;

  constructor({ after = startTimer, lessee, nowMs }: LesseeParts) {
    this.#lessee = lessee;
    this.#now = nowMs;
    this.#after = after;
  }

  /** Number of delivered calls that are not acknowledged as stored. */
  get unackedCalls(): number {
    return this.#unacked.count;
  }

  /** Starts a connection, whose messages the caller passes on. */
  connect(send: Send): void {
    this.disconnect();
    this.#send = send;
    send({ kind: 'hello', lessee: this.#lessee });
    for (const report of this.#unacked.repeatReports(this.#now()))
      send({ kind: 'report', ...report });
    this.#settledBefore = this.#settled;
    this.#sendAll();
  }

  /** Stops spending until the next connection; repeated calls have no effect. */
  disconnect(): void {
    if (this.#send === undefined) return;
    this.#send = undefined;
    this.#connection += 1;
    this.#blocks.discardAll();
    this.#permits.clear();
  }

  handle(message: ToLessee): void {
    const nowMs = this.#now();
    switch (message.kind) {
      case 'ack':
        this.#unacked.acknowledge(message.sequence);
        this.#checkClosed();
        return;
      case 'grants':
        for (const grant of message.grants) this.#blocks.applyGrant(message.ask, grant, nowMs);
        for (const grant of message.permits) this.#permits.applyGrant(grant, nowMs);
        for (const resolve of this.#grantWaiters) resolve();
        this.#scheduleSweep();
        return;
      case 'recall': {
        // Spent messages are reported before the remaining ones are returned.
        this.#sendAll();
        const blocks = this.#blocks.recall(message.blocks, nowMs);
        this.#send?.({ kind: 'home', blocks });
        return;
      }
      case 'tell':
        this.#sendAll();
        this.#send?.({ kind: 'told', telling: message.telling });
    }
  }

  /** Resolves at the next grant, or after the timeout. */
  waitForGrant(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = this.#after(timeoutMs, resolve);
    this.#grantWaiters.add(resolve);
    return promise.finally(() => {
      stop();
      this.#grantWaiters.delete(resolve);
    });
  }

  /** Takes a permit of the token and of the address. @throws Failure when one is missing. */
  admit({ tokenId }: Caller, address: string): void {
    const nowMs = this.#now();
    const isAvailable = this.#maySpend(nowMs) && this.#permits.take(tokenId, address, nowMs);
    if (this.#permits.hasRequests) this.#scheduleSend();
    if (!isAvailable) throw new NotLeased();
  }

  /** @throws Failure when this node can't decide. */
  findStop(caller: Caller): Stop | undefined {
    const nowMs = this.#now();
    if (caller.isOperator !== true && this.#maySpend(nowMs)) {
      if (this.#blocks.hasLease(caller.tokenId, nowMs)) return undefined;
      if (this.#request(caller.tokenId, false, 0, nowMs)) throw new NotLeased();
    }
    throw notServing();
  }

  /** @throws Failure when this node has too few leased messages. */
  hold(caller: Caller, order: ChargeOrder, objects: number, least = 0): OwnHold {
    const nowMs = this.#now();
    if (caller.isOperator === true || !this.#maySpend(nowMs)) throw notServing();
    const messages = Math.max(objects, least) * order.weight;
    const { premium } = order;
    const block = this.#blocks.openPurse(caller.tokenId, premium, nowMs)?.block;
    if (block === undefined || nowMs > block.untilMs || block.left < messages) {
      if (this.#request(caller.tokenId, premium, messages, nowMs)) throw new NotLeased();
      throw notServing();
    }
    block.left -= messages;
    block.calls += 1;
    block.purse.spent += messages;
    if (block.left < block.low || nowMs > block.renewMs) {
      this.#request(caller.tokenId, premium, messages, nowMs);
    }
    return { caller, order, block, messages, isOpen: true };
  }

  /** @throws Failure when it can't be charged any more; the hold is released then. */
  settle(hold: OwnHold, objects: number): Charge {
    const { block, caller, order } = hold;
    const messages = objects * order.weight;
    const more = messages - hold.messages;
    const nowMs = this.#now();
    const isIn = hold.isOpen && !block.isLost && nowMs <= block.untilMs && this.#maySpend(nowMs);
    if (!isIn || (more > 0 && (block.isOver || more > block.left))) {
      this.release(hold);
      throw notServing();
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
      this.#checkClosed();
      if (connection !== this.#connection) this.#endEarlierCall();
      this.#endCall(block);
    };
    const { premium } = order;
    return {
      messages: premium ? 0 : messages,
      premium: premium ? messages : 0,
      confirm: (attachment) => {
        if (attachment !== undefined) throw new Error('a replica cannot write rows with a charge');
        end(() => {
          const { accountId, tokenId } = caller;
          const { endpoint, requestId, usageKey, weight } = order;
          const common = { block: block.id, accountId, tokenId, endpoint, usageKey };
          this.#unacked.add({ ...common, objects, weight, premium }, requestId);
          this.#scheduleSend();
        });
      },
      cancel: () => end(() => (block.left += messages)),
    };
  }

  release(hold: OwnHold): void {
    if (!hold.isOpen) return;
    hold.isOpen = false;
    hold.block.left += hold.messages;
    this.#endCall(hold.block);
  }

  /** Never waits: such a call is forwarded to the serving node. */
  waitForRoom(): undefined {
    return undefined;
  }

  /**
   * Reports all calls, returns all blocks, and stops spending.
   * @returns calls without an acknowledgement: they may or may not be stored
   */
  async close(): Promise<number> {
    this.#isClosed = true;
    this.#blocks.endAll();
    this.#sendAll();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#finishClose = resolve;
    this.#checkClosed();
    if (this.#send !== undefined) {
      const stopWait = this.#after(CLOSE_MS, resolve);
      await promise;
      stopWait();
    }
    this.#cancelSend?.();
    this.#cancelSweep?.();
    return this.#unacked.count;
  }

  /** Finishes closing once all spent messages are stored. */
  #checkClosed(): void {
    if (this.#unacked.count === 0 && this.#settled === 0) this.#finishClose?.();
  }

  #maySpend(nowMs: number): boolean {
    return this.#send !== undefined && !this.#isClosed && this.#unacked.hasRoom(nowMs);
  }

  #request(tokenId: string, premium: boolean, need: number, nowMs: number): boolean {
    const purse = this.#blocks.openPurse(tokenId, premium, nowMs);
    const isRequested = purse !== undefined && this.#blocks.request(purse, need, nowMs);
    if (this.#blocks.hasRequests) this.#scheduleSend();
    return isRequested;
  }

  /** Ends a call on a block. */
  #endCall(block: LeasedBlock): void {
    block.calls -= 1;
    if (!block.isOver) return;
    this.#blocks.returnUnused(block);
    this.#scheduleSend();
  }

  #endEarlierCall(): void {
    if (this.#settledBefore === undefined) return;
    this.#settledBefore -= 1;
    this.#scheduleSend();
  }

  #scheduleSend(): void {
    // A single message is sent immediately.
    const waitMs = Math.max(0, this.#sentMs + SEND_INTERVAL_MS - this.#now());
    this.#cancelSend ??= this.#after(waitMs, () => this.#sendAll());
  }

  /** Sends reports before returned blocks: the returned messages are then the remaining ones. */
  #sendAll(): void {
    this.#cancelSend?.();
    this.#cancelSend = undefined;
    const send = this.#send;
    if (send === undefined) return;
    const nowMs = this.#now();
    this.#sentMs = nowMs;
    for (const report of this.#unacked.takeReports(nowMs)) send({ kind: 'report', ...report });
    if (this.#settledBefore !== undefined && this.#settledBefore <= 0) {
      this.#settledBefore = undefined;
      send({ kind: 'clean' });
    }
    const blocks = this.#blocks.takeReturns();
    if (blocks.length > 0) send({ kind: 'home', blocks });
    if (!this.#blocks.hasRequests && !this.#permits.hasRequests) return;
    this.#lastRequest += 1;
    const wants = this.#blocks.takeRequests(this.#lastRequest, nowMs);
    const permits = this.#permits.takeRequests(nowMs);
    send({ kind: 'ask', ask: this.#lastRequest, wants, permits });
    this.#scheduleSweep();
  }

  #scheduleSweep(): void {
    this.#cancelSweep ??= this.#after(SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#cancelSweep = undefined;
    const nowMs = this.#now();
    this.#blocks.sweep(nowMs);
    this.#permits.sweep(nowMs);
    if (this.#blocks.hasRequests) this.#scheduleSend();
    if (!this.#blocks.isEmpty || !this.#permits.isEmpty) this.#scheduleSweep();
  }
}

/** The quota was requested and may be available a moment later. */
export class NotLeased extends Failure {
  constructor() {
    super('Busy', 'this node has no leased quota for the call yet');
  }
}

const notServing = (): Failure => new Failure('Busy', 'the serving node must answer this call');
