// hold, settle, release: the ledger's whole interface (DESIGN.md idea 10).
//
// Balances live in memory; what was delivered is written in groups, every 50 ms or 1,000 charges.
// A charge joins the group only once its headers were given to the socket. So without a crash the
// headers, the ledger and the usage agree exactly; after a kill the ledger may lack at most the
// group that was being gathered and the calls in flight, and never holds a charge nobody saw.
import type { BillingDays } from './billingDays.ts';
import type { Caller } from './callers.ts';
import type { Clock } from './clock.ts';
import type { AtCrashPoint } from './crashPoints.ts';
import type { Database } from './database.ts';
import { Failure, type FailureType } from './failure.ts';
import { leftOf, type Purse, stoppedBy } from './quota.ts';
import { addCharge, addCharges, monthByToken, newCharges, writeUsage } from './usage.ts';

const SETTLE_WINDOW_MS = 50;
const WINDOW_CHARGES = 1_000;
/** Charges that may wait for a disk that refuses writes; past it nothing metered is served. */
const WAITING_MAX = 100_000;

/** What a call is charged for, as its line of the journal tells it. */
export interface Order {
  readonly requestId: string;
  readonly endpoint: string;
  /** `WORKSPACE.DATASET`. */
  readonly usageKey: string;
  /** Messages for each object. */
  readonly weight: number;
  /** Premium messages, which are counted apart. */
  readonly premium: boolean;
}

/** Messages set aside for one call. */
interface Hold {
  readonly caller: Caller;
  readonly order: Order;
  readonly month: string;
  readonly messages: number;
}

/** A settled call whose headers are on their way. Exactly one of its two ends must be called. */
export interface Charge {
  readonly messages: number;
  readonly premium: number;
  /** The headers reached the socket: the charge is written. */
  delivered(): void;
  /** They never will: the messages go back. */
  undelivered(): void;
}

type Counter = { -readonly [K in keyof Purse]: Purse[K] };

interface Balance {
  month: string;
  readonly messages: Counter;
  readonly premium: Counter;
  readonly byToken: Map<string, Counter>;
}

export class Ledger {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #days: BillingDays;
  readonly #at: AtCrashPoint;
  readonly #onFault: (reason: unknown) => void;
  readonly #balances = new Map<string, Balance>();
  readonly #holds = new Set<Hold>();
  #waiting = newCharges();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(parts: LedgerParts) {
    this.#database = parts.database;
    this.#clock = parts.clock;
    this.#days = parts.days;
    this.#at = parts.at;
    this.#onFault = parts.onFault;
  }

  static async open(parts: LedgerParts): Promise<Ledger> {
    const ledger = new Ledger(parts);
    const month = parts.days.month(parts.clock());
    const rows = await parts.database
      .selectFrom('balance')
      .selectAll()
      .where('month', '=', month)
      .execute();
    for (const row of rows) {
      const balance = newBalance(month);
      balance.messages.used = row.messages;
      balance.premium.used = row.premium;
      ledger.#balances.set(row.account_id, balance);
    }
    for (const row of await monthByToken(parts.database, parts.days, parts.clock())) {
      const balance = ledger.#balances.get(row.accountId);
      balance?.byToken.set(row.tokenId, { used: row.messages, held: 0 });
    }
    return ledger;
  }

  /**
   * Sets aside the messages of up to `objects`; fewer when less than that is left, none when the
   * call is free.
   * @throws Failure OverLimit or CircuitBreaker when nothing is left.
   */
  hold(caller: Caller, order: Order, objects: number): Hold {
    const messages = objects * order.weight;
    const { month, own, token } = this.#purses(caller, order.premium);
    const left = leftOf(caller, order.premium, own, token);
    const granted = Math.max(0, Math.min(messages, left.messages));
    if (messages > 0 && granted === 0) throw new Failure(left.type);
    if (this.waiting >= WAITING_MAX) {
      throw new Failure('Busy', 'the ledger can not be written: metered calls wait');
    }
    own.held += granted;
    token.held += granted;
    const hold = { caller, order, month, messages: granted };
    this.#holds.add(hold);
    return hold;
  }

  /**
   * Turns a hold into the charge of what was really returned; the rest of the hold is released.
   * @throws Failure OverLimit or CircuitBreaker, with the hold released, when it is not covered.
   */
  settle(hold: Hold, objects: number): Charge {
    const { caller, order } = hold;
    const messages = objects * order.weight;
    this.release(hold);
    const { month, own, token } = this.#purses(caller, order.premium);
    const left = leftOf(caller, order.premium, own, token);
    if (messages > 0 && messages > left.messages) throw new Failure(left.type);
    const add = (count: number): void => {
      if (month !== hold.month) return;
      own.used += count;
      token.used += count;
    };
    add(messages);
    let open = true;
    const end = (finish: () => void): void => {
      if (open) finish();
      open = false;
    };
    return {
      messages: order.premium ? 0 : messages,
      premium: order.premium ? messages : 0,
      delivered: () => end(() => this.#enter(hold, objects, messages)),
      undelivered: () => end(() => add(-messages)),
    };
  }

  /** Gives a whole hold back: the call failed before its headers. Again it does nothing. */
  release(hold: Hold): void {
    if (!this.#holds.delete(hold)) return;
    const { month, own, token } = this.#purses(hold.caller, hold.order.premium);
    if (month !== hold.month) return;
    own.held -= hold.messages;
    token.held -= hold.messages;
  }

  /** Messages used by an account in the current month, and those set aside right now. */
  balance(accountId: string): Purse {
    return { ...this.#balance(accountId).messages };
  }

  /** The same for premium messages. */
  premiumBalance(accountId: string): Purse {
    return { ...this.#balance(accountId).premium };
  }

  /** Why every call of the caller's account is refused, if it is. */
  stopped({ account, accountId }: Caller): FailureType | undefined {
    return stoppedBy(account, this.#balance(accountId).messages.used);
  }

  /** Charges that wait to be written. */
  get waiting(): number {
    return this.#waiting.lines.length;
  }

  /** Writes all that waits; afterwards SQL knows every delivered charge. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    await this.#writing;
  }

  #purses(
    { accountId, tokenId }: Caller,
    premium: boolean,
  ): { readonly month: string; readonly own: Counter; readonly token: Counter } {
    const balance = this.#balance(accountId);
    let token = balance.byToken.get(tokenId);
    if (token === undefined) {
      token = { used: 0, held: 0 };
      balance.byToken.set(tokenId, token);
    }
    return { month: balance.month, own: premium ? balance.premium : balance.messages, token };
  }

  #balance(accountId: string): Balance {
    const month = this.#days.month(this.#clock());
    const known = this.#balances.get(accountId);
    if (known?.month === month) return known;
    const balance = newBalance(month);
    this.#balances.set(accountId, balance);
    return balance;
  }

  #enter({ caller, month, order }: Hold, objects: number, messages: number): void {
    const { requestId, endpoint, usageKey, weight, premium } = order;
    addCharge(this.#waiting, {
      requestId,
      timeMs: this.#clock(),
      month,
      accountId: caller.accountId,
      tokenId: caller.tokenId,
      endpoint,
      usageKey,
      objects,
      weight,
      messages: premium ? 0 : messages,
      premium: premium ? messages : 0,
    });
    // Once for each so many: where a disk refuses, more wait than a window has.
    if (this.waiting % WINDOW_CHARGES === 0) void this.#flushSoon(0);
    else void this.#flushSoon(SETTLE_WINDOW_MS);
  }

  #flushSoon(delayMs: number): void {
    if (delayMs > 0 && this.#timer !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), delayMs);
  }

  async #write(): Promise<void> {
    const charges = this.#waiting;
    if (charges.lines.length === 0) return;
    this.#waiting = newCharges();
    this.#at('charges-taken');
    try {
      await writeUsage(this.#database, charges);
      this.#at('charges-committed');
    } catch (error) {
      addCharges(charges, this.#waiting);
      this.#waiting = charges;
      this.#onFault(error);
      this.#flushSoon(1_000);
    }
  }
}

const newBalance = (month: string): Balance => ({
  month,
  messages: { used: 0, held: 0 },
  premium: { used: 0, held: 0 },
  byToken: new Map(),
});

interface LedgerParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly days: BillingDays;
  readonly at: AtCrashPoint;
  /** Told when a group could not be written; it stays and is tried again each second. */
  readonly onFault: (reason: unknown) => void;
}
