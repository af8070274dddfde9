// hold, settle, release: the ledger's whole interface (DESIGN.md idea 10).
//
// Balances live in memory; what was delivered is written in groups, every 50 ms or 1,000 charges.
// A charge joins the group only once its headers were given to the socket. So without a crash the
// headers, the ledger and the usage agree exactly; after a kill the ledger may lack at most the
// group that was being gathered and the calls in flight, and never holds a charge nobody saw.
import type { Caller } from './accounts.ts';
import type { BillingDays } from './billingDays.ts';
import type { Clock } from './clock.ts';
import type { AtCrashPoint } from './crashPoints.ts';
import type { Database } from './database.ts';
import { Failure } from './failure.ts';
import { type UsageLine, writeUsage } from './usage.ts';

const SETTLE_WINDOW_MS = 50;
const WINDOW_CHARGES = 1_000;
/** Charges that may wait for a disk that refuses writes; past it nothing metered is served. */
const WAITING_MAX = 100_000;

/** Messages set aside for one call. */
interface Hold {
  readonly caller: Caller;
  readonly usageKey: string;
  readonly month: string;
  readonly messages: number;
}

/** A settled call whose headers are on their way. Exactly one of its two ends must be called. */
export interface Charge {
  readonly messages: number;
  /** The headers reached the socket: the charge is written. */
  delivered(): void;
  /** They never will: the messages go back. */
  undelivered(): void;
}

interface Balance {
  month: string;
  used: number;
  held: number;
}

export class Ledger {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #days: BillingDays;
  readonly #at: AtCrashPoint;
  readonly #onFault: (reason: unknown) => void;
  readonly #balances = new Map<string, Balance>();
  readonly #holds = new Set<Hold>();
  #waiting: UsageLine[] = [];
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
      ledger.#balances.set(row.account_id, { month, used: row.messages, held: 0 });
    }
    return ledger;
  }

  /**
   * Sets aside up to `messages`; fewer when less than that is left, none when the call is free.
   * @throws Failure OverLimit when nothing is left.
   */
  hold(caller: Caller, usageKey: string, messages: number): Hold {
    const balance = this.#balance(caller.accountId);
    const granted = Math.min(messages, this.#left(caller, balance));
    if (messages > 0 && granted <= 0) throw new Failure('OverLimit');
    if (this.#waiting.length >= WAITING_MAX) {
      throw new Failure('Busy', 'the ledger can not be written: metered calls wait');
    }
    balance.held += granted;
    const hold = { caller, usageKey, month: balance.month, messages: granted };
    this.#holds.add(hold);
    return hold;
  }

  /**
   * Turns a hold into the charge of what was really returned; the rest of the hold is released.
   * @throws Failure OverLimit, with the hold released, when the quota does not cover it.
   */
  settle(hold: Hold, messages: number): Charge {
    const balance = this.#balance(hold.caller.accountId);
    this.release(hold);
    if (messages > this.#left(hold.caller, balance)) throw new Failure('OverLimit');
    if (balance.month === hold.month) balance.used += messages;
    let open = true;
    const end = (finish: () => void): void => {
      if (open) finish();
      open = false;
    };
    return {
      messages,
      delivered: () => end(() => this.#enter(hold, messages)),
      undelivered: () =>
        end(() => {
          if (balance.month === hold.month) balance.used -= messages;
        }),
    };
  }

  /** Gives a whole hold back: the call failed before its headers. Again it does nothing. */
  release(hold: Hold): void {
    if (!this.#holds.delete(hold)) return;
    const balance = this.#balance(hold.caller.accountId);
    if (balance.month === hold.month) balance.held -= hold.messages;
  }

  /** Messages used by an account in the current month, and those set aside right now. */
  balance(accountId: string): { readonly used: number; readonly held: number } {
    const { used, held } = this.#balance(accountId);
    return { used, held };
  }

  /** Charges that wait to be written. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Writes all that waits; afterwards SQL knows every delivered charge. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    await this.#writing;
  }

  #balance(accountId: string): Balance {
    const month = this.#days.month(this.#clock());
    let balance = this.#balances.get(accountId);
    if (balance === undefined) {
      balance = { month, used: 0, held: 0 };
      this.#balances.set(accountId, balance);
    } else if (balance.month !== month) {
      balance.month = month;
      balance.used = 0;
      balance.held = 0;
    }
    return balance;
  }

  #left(caller: Caller, balance: Balance): number {
    if (caller.payAsYouGo) return Number.MAX_SAFE_INTEGER;
    return caller.tier.messagesMonthly - balance.used - balance.held;
  }

  #enter(hold: Hold, messages: number): void {
    this.#waiting.push({
      accountId: hold.caller.accountId,
      tokenId: hold.caller.tokenId,
      usageKey: hold.usageKey,
      month: hold.month,
      timeMs: this.#clock(),
      messages,
    });
    if (this.#waiting.length >= WINDOW_CHARGES) void this.#flushSoon(0);
    else void this.#flushSoon(SETTLE_WINDOW_MS);
  }

  #flushSoon(delayMs: number): void {
    if (delayMs > 0 && this.#timer !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), delayMs);
  }

  async #write(): Promise<void> {
    const lines = this.#waiting;
    if (lines.length === 0) return;
    this.#waiting = [];
    this.#at('charges-taken');
    try {
      await writeUsage(this.#database, lines);
      this.#at('charges-committed');
    } catch (error) {
      this.#waiting = [...lines, ...this.#waiting];
      this.#onFault(error);
      this.#flushSoon(1_000);
    }
  }
}

interface LedgerParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly days: BillingDays;
  readonly at: AtCrashPoint;
  /** Told when a group could not be written; it stays and is tried again each second. */
  readonly onFault: (reason: unknown) => void;
}
