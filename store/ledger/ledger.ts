// hold, settle, release: the ledger's whole interface (DESIGN.md idea 10).
//
// Balances live in memory; what was delivered is written in groups, every 50 ms or 1,000 charges.
// A charge joins the group only once its headers were given to the socket. So without a crash the
// headers, the ledger and the usage agree exactly; after a kill the ledger may lack at most the
// group that was being gathered and the calls in flight, and never holds a charge nobody saw.
//
// Months never go back, whatever the clock does: a charge goes to the newest month that was ever
// charged, at its first hour, until the clock is there again. A call that began in a month ends in
// it. So what can still be spent is all in memory from the start on: the newest month's balances,
// and those of later months, which are there when an operator let the ledger go back. A month is
// opened without a read, and no call waits for one.
import { setTimeout as sleep } from 'node:timers/promises';
import { type BillingDays, middleOf } from './billingDays.ts';
import type { Caller } from '../accounts/callers.ts';
import { type Clock, monotonicMs } from '../base/clock.ts';
import type { AtCrashPoint } from '../base/crashPoints.ts';
import type { Database } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';
import { GroupCommit } from '../queues/groupCommit.ts';
import { leftOf, type Purse, type Stop, stoppedBy } from './quota.ts';
import {
  addCharge,
  addCharges,
  monthsByToken,
  newCharges,
  type WithCharge,
  writeUsage,
} from './usage.ts';

const SETTLE_WINDOW_MS = 50;
/** What somebody waits for, such as an alert, is written at once, but not more often than so. */
const AT_ONCE_MS = 5;
const WINDOW_CHARGES = 1_000;
/** A disk that refuses writes at the end is tried so often again, so long after each other. */
const CLOSE_AGAIN = 3;
const CLOSE_WAIT_MS = 300;
/** Charges that may wait for a disk that refuses writes; past it nothing metered is served. */
const WAITING_MAX = 100_000;

/** What a call is charged for, as its line of the journal tells it. */
export interface ChargeOrder {
  readonly requestId: string;
  readonly endpoint: string;
  /** `WORKSPACE.DATASET`. */
  readonly usageKey: string;
  /** Messages for each object. */
  readonly weight: number;
  /** Premium messages, which are counted apart. */
  readonly premium: boolean;
}

/** What a caller pays for an order: the operator nothing, with a line of the journal all the same. */
export const orderFor = ({ isOperator }: Caller, order: ChargeOrder): ChargeOrder =>
  isOperator === true ? { ...order, weight: 0 } : order;

/** Messages set aside for one call. */
interface Hold extends Purses {
  readonly caller: Caller;
  readonly order: ChargeOrder;
  readonly messages: number;
}

/** A settled call whose headers are on their way. Exactly one of its two ends must be called. */
export interface Charge {
  readonly messages: number;
  readonly premium: number;
  /**
   * The headers reached the socket: the charge is written.
   * @param also in the same transaction
   */
  delivered(also?: WithCharge): void;
  /** They never will: the messages go back. */
  undelivered(): void;
}

type Counter = { -readonly [K in keyof Purse]: Purse[K] };

interface Balance {
  readonly messages: Counter;
  readonly premium: Counter;
  readonly byToken: Map<string, Counter>;
}

/** Balances by account. */
type Balances = Map<string, Balance>;

interface Month {
  /** `YYYYMM`. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly balances: Balances;
}

/** Of one call: they stay those of its month when another begins. */
interface Purses {
  readonly month: Month;
  readonly own: Counter;
  readonly token: Counter;
}

export class Ledger {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #days: BillingDays;
  readonly #at: AtCrashPoint;
  readonly #onFault: (reason: unknown) => void;
  /** Of months after the open one that have been charged before. */
  readonly #later: Map<string, Balances>;
  #month: Month;
  readonly #holds = new Set<Hold>();
  #waiting = newCharges();
  readonly #groups = new GroupCommit(() => this.#write());
  /** When a group was written last, monotonic. */
  #writtenMs = -Infinity;

  private constructor(parts: LedgerParts, name: string, charged: Map<string, Balances>) {
    this.#database = parts.database;
    this.#clock = parts.clock;
    this.#days = parts.days;
    this.#at = parts.at;
    this.#onFault = parts.onFault;
    this.#later = charged;
    this.#month = this.#opened(name);
  }

  static async open(parts: LedgerParts): Promise<Ledger> {
    const { clock, database, days, believedMonth = NEVER } = parts;
    const newest = await database
      .selectFrom('balance')
      .select((select) => select.fn.max('month').as('month'))
      .where('month', '<=', believedMonth)
      .executeTakeFirst();
    const present = days.month(clock());
    const name = String(newest?.month ?? '') > present ? String(newest?.month) : present;
    const charged = await chargedMonths(database, days, name);
    return new Ledger(parts, name, charged);
  }

  /** `YYYYMM` that calls are charged to; never an earlier one than before. */
  get month(): string {
    return this.#openMonth().name;
  }

  /** The time of the charges: the clock's, or the month's first hour while the clock is behind it. */
  timeMs(): number {
    return Math.max(this.#openMonth().startMs, this.#clock());
  }

  /**
   * Sets aside the messages of up to `objects`; fewer when less than that is left, none when the
   * call is free.
   * @param least objects that must be covered
   * @throws Failure OverLimit or CircuitBreaker when nothing is left, or less than `least` costs.
   */
  hold(caller: Caller, asked: ChargeOrder, objects: number, least = 0): Hold {
    const order = orderFor(caller, asked);
    const messages = Math.max(objects, least) * order.weight;
    const purses = this.#purses(caller, order.premium);
    const { own, token } = purses;
    const left = leftOf(caller, order.premium, own, token);
    const granted = Math.max(0, Math.min(messages, left.messages));
    const isShort = granted < least * order.weight;
    if (messages > 0 && (granted === 0 || isShort)) throw new Failure(left.type, left.detail);
    if (this.waiting >= WAITING_MAX) {
      throw new Failure('Busy', 'the ledger can not be written: metered calls wait');
    }
    own.held += granted;
    token.held += granted;
    const hold = { caller, order, ...purses, messages: granted };
    this.#holds.add(hold);
    return hold;
  }

  /**
   * Turns a hold into the charge of what was really returned; the rest of the hold is released.
   * @throws Failure OverLimit or CircuitBreaker, with the hold released, when it is not covered.
   */
  settle(hold: Hold, objects: number): Charge {
    const { caller, order, own, token } = hold;
    const messages = objects * order.weight;
    this.release(hold);
    const left = leftOf(caller, order.premium, own, token);
    // What was held is covered, also when a limit was lowered since.
    if (messages > Math.max(left.messages, hold.messages))
      throw new Failure(left.type, left.detail);
    const add = (count: number): void => {
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
      delivered: (also) => end(() => this.#enter(hold, objects, messages, also)),
      undelivered: () => end(() => add(-messages)),
    };
  }

  /** Gives a whole hold back: the call failed before its headers. Again it does nothing. */
  release(hold: Hold): void {
    if (!this.#holds.delete(hold)) return;
    hold.own.held -= hold.messages;
    hold.token.held -= hold.messages;
  }

  /** Messages that a token used this month, and that it may still spend; undefined: without a bound. */
  allowance(caller: Caller): { readonly used: number; readonly left: number | undefined } {
    const { own, token } = this.#purses(caller, false);
    const { messages } = leftOf(caller, false, own, token);
    return { used: token.used, left: messages > UNBOUNDED ? undefined : messages };
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
  stopped({ account, accountId, isOperator }: Caller): Stop | undefined {
    if (isOperator === true) return undefined;
    return stoppedBy(account, this.#balance(accountId).messages.used);
  }

  /** Charges that wait to be written. */
  get waiting(): number {
    return this.#waiting.lines.length;
  }

  /** Writes all that waits; afterwards SQL knows every delivered charge. */
  flush(): Promise<void> {
    return this.#groups.flush();
  }

  /**
   * Writes all that waits, or tries to as often as a disk that refuses is given time; then nothing more.
   * @returns charges that could not be written
   */
  async close(): Promise<number> {
    await this.flush();
    for (let again = 0; again < CLOSE_AGAIN && this.waiting > 0; again += 1) {
      await sleep(CLOSE_WAIT_MS);
      await this.flush();
    }
    this.#groups.stop();
    return this.waiting;
  }

  #purses({ accountId, tokenId }: Caller, premium: boolean): Purses {
    const balance = this.#balance(accountId);
    let token = balance.byToken.get(tokenId);
    if (token === undefined) {
      token = { used: 0, held: 0 };
      balance.byToken.set(tokenId, token);
    }
    return { month: this.#month, own: premium ? balance.premium : balance.messages, token };
  }

  #balance(accountId: string): Balance {
    const { balances } = this.#openMonth();
    const known = balances.get(accountId);
    if (known !== undefined) return known;
    const balance = newBalance();
    balances.set(accountId, balance);
    return balance;
  }

  #openMonth(): Month {
    const nowMs = this.#clock();
    if (nowMs >= this.#month.endMs) this.#month = this.#opened(this.#days.month(nowMs));
    return this.#month;
  }

  #opened(name: string): Month {
    const balances = this.#later.get(name) ?? new Map<string, Balance>();
    for (const month of this.#later.keys()) if (month <= name) this.#later.delete(month);
    const middle = middleOf(name);
    const [startMs, endMs] = [this.#days.monthStart(middle), this.#days.monthEnd(middle)];
    return { name, startMs, endMs, balances };
  }

  #enter(
    { caller, month, order }: Hold,
    objects: number,
    messages: number,
    also?: WithCharge,
  ): void {
    const { requestId, endpoint, usageKey, weight, premium } = order;
    const line = {
      requestId,
      timeMs: Math.min(this.timeMs(), month.endMs - 1),
      month: month.name,
      accountId: caller.accountId,
      tokenId: caller.tokenId,
      endpoint,
      usageKey,
      objects,
      weight,
      messages: premium ? 0 : messages,
      premium: premium ? messages : 0,
    };
    addCharge(this.#waiting, line, also);
    // Once for each so many: where a disk refuses, more wait than a window has.
    const isFull = this.waiting % WINDOW_CHARGES === 0;
    this.#groups.soon(isFull ? 0 : also === undefined ? SETTLE_WINDOW_MS : this.#waitMs());
  }

  /** Until a group may be written at once again. */
  #waitMs(): number {
    return Math.max(0, this.#writtenMs + AT_ONCE_MS - monotonicMs());
  }

  async #write(): Promise<void> {
    const charges = this.#waiting;
    if (charges.lines.length === 0) return;
    this.#waiting = newCharges();
    this.#writtenMs = monotonicMs();
    this.#at('charges-taken');
    try {
      await writeUsage(this.#database, charges);
      this.#at('charges-committed');
    } catch (error) {
      addCharges(charges, this.#waiting);
      this.#waiting = charges;
      this.#onFault(error);
      this.#groups.soon(1_000);
    }
  }
}

const newBalance = (): Balance => ({
  messages: { used: 0, held: 0 },
  premium: { used: 0, held: 0 },
  byToken: new Map(),
});

/** What was charged to a month and to those after it, by month and account. */
async function chargedMonths(
  database: Database,
  days: BillingDays,
  from: string,
): Promise<Map<string, Balances>> {
  const months = new Map<string, Balances>();
  const balanceOf = (month: string, accountId: string): Balance => {
    const balances = months.get(month) ?? new Map<string, Balance>();
    const balance = balances.get(accountId) ?? newBalance();
    months.set(month, balances.set(accountId, balance));
    return balance;
  };
  const rows = database.selectFrom('balance').selectAll().where('month', '>=', from);
  for (const row of await rows.execute()) {
    const balance = balanceOf(row.month, row.account_id);
    balance.messages.used = row.messages;
    balance.premium.used = row.premium;
  }
  for (const row of await monthsByToken(database, days, middleOf(from))) {
    const balance = balanceOf(row.month, row.accountId);
    balance.byToken.set(row.tokenId, { used: row.messages, held: 0 });
  }
  return months;
}

/** More than any limit that can be set. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER / 2;

/** After every month. */
const NEVER = '999912';

interface LedgerParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly days: BillingDays;
  readonly at: AtCrashPoint;
  /** Told when a group could not be written; it stays and is tried again each second. */
  readonly onFault: (reason: unknown) => void;
  /** `YYYYMM`; charges of later months do not make the ledger go on from them. All are believed. */
  readonly believedMonth?: string | undefined;
}
