// What a stream costs (SPEC.md "Streaming reserve cycle"): messages are reserved before they are sent, and
// what was sent is charged when an interval ends, and when the stream does.
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import { type ChargeOrder, type Ledger, orderFor } from '../../store/ledger/ledger.ts';

/** Messages that are reserved at first, and at least; more where more are sent in an interval. */
const RESERVE_LEAST = 20;
const RESERVE_MOST = 10_000;

type Hold = ReturnType<Ledger['hold']>;

/** What a connection asks of its meter. */
export interface MessageMeter {
  /** Messages that were charged, those that are not settled yet among them. */
  readonly charged: number;
  /** How many of the next messages may be sent; they are charged. */
  readonly pay: (messages: number) => number;
  /** At the end of an interval; false where nothing is left to reserve. */
  readonly renew: () => boolean;
  /** Again it does nothing. */
  readonly close: () => void;
}

/** In the test environment nobody pays, and messages are only counted. */
export class CountingMeter implements MessageMeter {
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

export class StreamMeter implements MessageMeter {
  readonly #ledger: Ledger;
  readonly #caller: Caller;
  readonly #order: ChargeOrder;
  #hold: Hold;
  /** Of the hold. */
  #sent = 0;
  #settlements = 0;
  #charged = 0;
  #isOpen = true;

  /** @throws Failure OverLimit, CircuitBreaker: nothing can be reserved. */
  constructor(ledger: Ledger, caller: Caller, order: ChargeOrder) {
    this.#ledger = ledger;
    this.#caller = caller;
    this.#order = orderFor(caller, order);
    this.#hold = this.#reserved(RESERVE_LEAST, 1);
  }

  get charged(): number {
    return this.#charged + this.#sent;
  }

  pay(messages: number): number {
    if (!this.#isOpen) return 0;
    const free = this.#free();
    if (messages <= free) {
      this.#sent += messages;
      return messages;
    }
    this.#sent += free;
    const left = messages - free;
    const before = this.#settled();
    try {
      this.#hold = this.#reserved(Math.max(left, before * 2), 1);
    } catch (error) {
      this.#isOpen = false;
      if (error instanceof Failure && error.type !== 'SystemError') return free;
      throw error;
    }
    const more = Math.min(left, this.#free());
    this.#sent += more;
    return free + more;
  }

  /**
   * At the end of an interval: charges what was sent, and reserves for the next one.
   * @returns false where nothing is left to reserve
   */
  renew(): boolean {
    if (!this.#isOpen) return false;
    const sent = this.#settled();
    try {
      this.#hold = this.#reserved(sent * 2, 1);
    } catch (error) {
      this.#isOpen = false;
      if (error instanceof Failure && error.type !== 'SystemError') return false;
      throw error;
    }
    return true;
  }

  /** Charges what was sent and gives the rest back. Again it does nothing. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#settled();
  }

  #free(): number {
    const { weight } = this.#order;
    return weight === 0
      ? Number.MAX_SAFE_INTEGER
      : Math.floor(this.#hold.messages / weight) - this.#sent;
  }

  #reserved(messages: number, least: number): Hold {
    const most = Math.min(RESERVE_MOST, Math.max(RESERVE_LEAST, messages));
    // Each settlement is a line of the journal.
    const requestId = `${this.#order.requestId}.${this.#settlements}`;
    return this.#ledger.hold(this.#caller, { ...this.#order, requestId }, most, least);
  }

  /** Messages that were charged by it. */
  #settled(): number {
    const sent = this.#sent;
    this.#sent = 0;
    if (sent === 0) {
      this.#ledger.release(this.#hold);
      return 0;
    }
    this.#settlements += 1;
    this.#ledger.settle(this.#hold, sent).delivered();
    this.#charged += sent;
    return sent;
  }
}
