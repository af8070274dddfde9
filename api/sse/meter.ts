// Charges a stream (SPEC.md "Streaming reserve cycle"): messages are reserved before they are sent, and sent
// messages are charged at the end of each interval and of the stream.
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import { type ChargeOrder, adjustOrder } from '../../store/ledger/metering.ts';

/** Minimum and maximum reserved messages; the reserve grows with the messages of an interval. */
const RESERVE_MIN = 20;
const RESERVE_MAX = 10_000;

type OwnHold = ReturnType<Ledger['hold']>;

/** The meter of a connection. */
export interface MessageMeter {
  /** Charged messages, including unsettled ones. */
  readonly charged: number;
  /** Charges messages. Returns how many may be sent; if fewer, `room` may provide more. */
  readonly pay: (messages: number) => number;
  /** Resolves when quota leased to other nodes is returned; undefined if no more can arrive. */
  readonly room: Promise<void> | undefined;
  /** Ends an interval; false if nothing is left to reserve, nor leased to other nodes. */
  readonly renew: () => boolean;
  /** Ends the meter; idempotent. */
  readonly close: () => void;
}

/** Counts messages without a charge, in the test environment. */
export class CountingMeter implements MessageMeter {
  readonly room = undefined;
  #messages = 0;

  get charged(): number {
    return this.#messages;
  }

  pay(messages: number): number {
    this.#messages += messages;
    return messages;
  }

  renew(): boolean {
    return true;
  }

  close(): void {
    // Nothing was reserved.
  }
}

/** Waits for room before a meter is created; undefined if there is room. */
export const waitForStreamRoom = (
  ledger: Ledger,
  caller: Caller,
  order: ChargeOrder,
): Promise<void> | undefined => ledger.waitForRoom(caller, order, RESERVE_MIN, 1);

export class StreamMeter implements MessageMeter {
  readonly #ledger: Ledger;
  readonly #caller: Caller;
  readonly #order: ChargeOrder;
  /** Undefined while it waits for leased quota. */
  #hold: OwnHold | undefined;
  #room: Promise<void> | undefined;
  /** Leased quota was waited for once, and nothing could be reserved since. */
  #hasWaited = false;
  /** Messages sent of the current hold. */
  #sent = 0;
  #settlements = 0;
  #charged = 0;
  #isOpen = true;
  readonly #forget: () => void;

  /** @throws Failure OverLimit, CircuitBreaker if nothing can be reserved. */
  constructor(ledger: Ledger, caller: Caller, order: ChargeOrder) {
    this.#ledger = ledger;
    this.#caller = caller;
    this.#order = adjustOrder(caller, order);
    this.#hold = this.#holdMessages(RESERVE_MIN, 1);
    this.#forget = ledger.addReserve(caller.accountId, () => this.#releaseUnused());
  }

  get charged(): number {
    return this.#charged + this.#sent;
  }

  get room(): Promise<void> | undefined {
    return this.#room;
  }

  pay(messages: number): number {
    if (!this.#isOpen || this.#room !== undefined) return 0;
    for (let paid = 0; ;) {
      const now = Math.min(messages - paid, this.#free());
      this.#sent += now;
      paid += now;
      if (paid === messages) return paid;
      const before = this.#settle();
      // Reserves at least one message, or nothing is left.
      if (!this.#reserve(Math.max(messages - paid, before * 2))) return paid;
    }
  }

  /**
   * Ends an interval: charges the sent messages, and reserves for the next one.
   * @returns false if nothing is left to reserve
   */
  renew(): boolean {
    if (!this.#isOpen) return false;
    if (this.#room !== undefined) return true;
    const sent = this.#settle();
    return this.#reserve(sent * 2) || this.#room !== undefined;
  }

  /** Charges the sent messages and releases the rest; idempotent. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#forget();
    this.#settle();
  }

  /** Releases the unused reserve for other calls; sent messages stay reserved until they are charged. */
  #releaseUnused(): void {
    const { weight } = this.#order;
    if (this.#hold !== undefined) this.#ledger.shrink(this.#hold, this.#sent * weight);
  }

  #free(): number {
    const { weight } = this.#order;
    return weight === 0
      ? Number.MAX_SAFE_INTEGER
      : Math.floor((this.#hold?.messages ?? 0) / weight) - this.#sent;
  }

  /** @returns false if nothing is left: the meter then ends, or waits for leased quota */
  #reserve(messages: number): boolean {
    try {
      this.#hold = this.#holdMessages(messages, 1);
      this.#hasWaited = false;
      return true;
    } catch (error) {
      const isOver = error instanceof Failure && error.type !== 'SystemError';
      this.#room = isOver ? this.#waitForLeased() : undefined;
      this.#isOpen = this.#room !== undefined;
      if (!this.#isOpen) this.#forget();
      if (isOver) return false;
      throw error;
    }
  }

  #waitForLeased(): Promise<void> | undefined {
    if (this.#hasWaited) return undefined;
    this.#hasWaited = true;
    const room = waitForStreamRoom(this.#ledger, this.#caller, this.#order);
    return room?.then(() => {
      this.#room = undefined;
    });
  }

  #holdMessages(messages: number, least: number): OwnHold {
    const most = Math.min(RESERVE_MAX, Math.max(RESERVE_MIN, messages));
    // Each settlement is a journal line and needs its own id.
    const requestId = `${this.#order.requestId}.${this.#settlements}`;
    return this.#ledger.hold(this.#caller, { ...this.#order, requestId }, most, least);
  }

  /** Settles the hold. @returns the charged messages */
  #settle(): number {
    const hold = this.#hold;
    const sent = this.#sent;
    this.#sent = 0;
    this.#hold = undefined;
    if (hold === undefined) return 0;
    if (sent === 0) {
      this.#ledger.release(hold);
      return 0;
    }
    this.#settlements += 1;
    this.#ledger.settle(hold, sent).confirm();
    this.#charged += sent;
    return sent;
  }
}
