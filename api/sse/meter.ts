// What a stream costs (SPEC.md "Streaming reserve cycle"): messages are reserved before they are sent, and
// what was sent is charged when an interval ends, and when the stream does.
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import { type ChargeOrder, orderFor } from '../../store/ledger/metering.ts';

/** Messages that are reserved at first, and at least; more where more are sent in an interval. */
const RESERVE_LEAST = 20;
const RESERVE_MOST = 10_000;

type OwnHold = ReturnType<Ledger['hold']>;

/** What a connection asks of its meter. */
export interface MessageMeter {
  /** Messages that were charged, those that are not settled yet among them. */
  readonly charged: number;
  /** How many of the next messages may be sent; they are charged. Where it is fewer, see `room`. */
  readonly pay: (messages: number) => number;
  /** Until what other nodes were lent is home; undefined where no more can come. */
  readonly room: Promise<void> | undefined;
  /** At the end of an interval; false where nothing is left to reserve, nor lent. */
  readonly renew: () => boolean;
  /** Again it does nothing. */
  readonly close: () => void;
}

/** In the test environment nobody pays, and messages are only counted. */
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

/** Before a meter is made; undefined: at once. */
export const roomForStream = (
  ledger: Ledger,
  caller: Caller,
  order: ChargeOrder,
): Promise<void> | undefined => ledger.waitForRoom(caller, order, RESERVE_LEAST, 1);

export class StreamMeter implements MessageMeter {
  readonly #ledger: Ledger;
  readonly #caller: Caller;
  readonly #order: ChargeOrder;
  /** Undefined while it waits for what is lent. */
  #hold: OwnHold | undefined;
  #room: Promise<void> | undefined;
  /** What came home was waited for once, and nothing could be reserved since. */
  #hasWaited = false;
  /** Of the hold. */
  #sent = 0;
  #settlements = 0;
  #charged = 0;
  #isOpen = true;
  readonly #forget: () => void;

  /** @throws Failure OverLimit, CircuitBreaker: nothing can be reserved. */
  constructor(ledger: Ledger, caller: Caller, order: ChargeOrder) {
    this.#ledger = ledger;
    this.#caller = caller;
    this.#order = orderFor(caller, order);
    this.#hold = this.#reserved(RESERVE_LEAST, 1);
    this.#forget = ledger.addReserve(caller.accountId, () => this.#giveBack());
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
      const before = this.#settled();
      // One message at least, or nothing is left.
      if (!this.#reserve(Math.max(messages - paid, before * 2))) return paid;
    }
  }

  /**
   * At the end of an interval: charges what was sent, and reserves for the next one.
   * @returns false where nothing is left to reserve
   */
  renew(): boolean {
    if (!this.#isOpen) return false;
    if (this.#room !== undefined) return true;
    const sent = this.#settled();
    return this.#reserve(sent * 2) || this.#room !== undefined;
  }

  /** Charges what was sent and gives the rest back. Again it does nothing. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#forget();
    this.#settled();
  }

  /** Something else is short: what was sent stays reserved until it is charged. */
  #giveBack(): void {
    const { weight } = this.#order;
    if (this.#hold !== undefined) this.#ledger.shrink(this.#hold, this.#sent * weight);
  }

  #free(): number {
    const { weight } = this.#order;
    return weight === 0
      ? Number.MAX_SAFE_INTEGER
      : Math.floor((this.#hold?.messages ?? 0) / weight) - this.#sent;
  }

  /** @returns false where nothing is left: then it is over, or waits for what is lent */
  #reserve(messages: number): boolean {
    try {
      this.#hold = this.#reserved(messages, 1);
      this.#hasWaited = false;
      return true;
    } catch (error) {
      const isOver = error instanceof Failure && error.type !== 'SystemError';
      this.#room = isOver ? this.#lentHome() : undefined;
      this.#isOpen = this.#room !== undefined;
      if (!this.#isOpen) this.#forget();
      if (isOver) return false;
      throw error;
    }
  }

  #lentHome(): Promise<void> | undefined {
    if (this.#hasWaited) return undefined;
    this.#hasWaited = true;
    const room = roomForStream(this.#ledger, this.#caller, this.#order);
    return room?.then(() => {
      this.#room = undefined;
    });
  }

  #reserved(messages: number, least: number): OwnHold {
    const most = Math.min(RESERVE_MOST, Math.max(RESERVE_LEAST, messages));
    // Each settlement is a line of the journal.
    const requestId = `${this.#order.requestId}.${this.#settlements}`;
    return this.#ledger.hold(this.#caller, { ...this.#order, requestId }, most, least);
  }

  /** Messages that were charged by it. */
  #settled(): number {
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
    this.#ledger.settle(hold, sent).delivered();
    this.#charged += sent;
    return sent;
  }
}
