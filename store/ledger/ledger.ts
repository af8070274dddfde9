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
import {
  type Balance,
  type Balances,
  chargedMonths,
  type Counter,
  type Month,
  newBalance,
  newCounter,
} from './balances.ts';
import { type BillingDays, middleOf } from './billingDays.ts';
import type { Caller } from '../accounts/callers.ts';
import type { Clock } from '../base/clock.ts';
import type { AtCrashPoint } from '../base/crashPoints.ts';
import type { Database } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';
import { ChargeGroups } from './chargeGroups.ts';
import {
  type Charge,
  type ChargedAlike,
  type ChargeOrder,
  type Hold,
  type Lending,
  type Metering,
  orderFor,
} from './metering.ts';
import type { WithCharge } from './usage.ts';
import { refusalOf, Reserves } from './reserves.ts';
import { leftOf, type Purse, type Stop, stoppedBy } from './quota.ts';

/** Charges that may wait for a disk that refuses writes; past it nothing metered is served. */
const WAITING_MAX = 100_000;

interface OwnHold extends Hold, Purses {
  readonly caller: Caller;
  messages: number;
}

/** Messages of a month that are lent to another node, less what it charged and what came home. */
interface LentBlock {
  /** `YYYYMM`. */
  readonly month: string;
  messages: number;
  readonly purses: Purses;
}

/** Of one call: they stay those of its month when another begins. */
interface Purses {
  readonly month: Month;
  readonly own: Counter;
  readonly token: Counter;
}

export class Ledger implements Metering {
  readonly #clock: Clock;
  readonly #days: BillingDays;
  /** Of months after the open one that have been charged before. */
  readonly #later: Map<string, Balances>;
  #month: Month;
  readonly #holds = new Set<OwnHold>();
  /** Of open streams. */
  readonly #reserves = new Reserves();
  #lending: Lending | undefined;
  readonly #groups: ChargeGroups;

  private constructor(parts: LedgerParts, name: string, charged: Map<string, Balances>) {
    this.#clock = parts.clock;
    this.#days = parts.days;
    this.#groups = new ChargeGroups(parts);
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

  /** Until the month ends that calls are charged to. */
  monthEndsInMs(): number {
    return this.#openMonth().endMs - this.timeMs();
  }

  /**
   * Sets aside the messages of up to `objects`; fewer when less than that is left, none when the
   * call is free.
   * @param least objects that must be covered
   * @throws Failure OverLimit or CircuitBreaker when nothing is left, or less than `least` costs.
   */
  hold(caller: Caller, asked: ChargeOrder, objects: number, least = 0): OwnHold {
    const order = orderFor(caller, asked);
    const messages = Math.max(objects, least) * order.weight;
    const purses = this.#purses(caller, order.premium);
    const { own, token } = purses;
    // Reserves beyond that are called back when it is charged.
    const needed = Math.min(messages, Math.max(1, least) * order.weight);
    const left = this.#leftFor(needed, caller, order.premium, purses);
    const granted = Math.max(0, Math.min(messages, left.messages));
    const isShort = granted < least * order.weight;
    if (messages > 0 && (granted === 0 || isShort)) throw refusalOf(left, own, this.#holds);
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
  settle(hold: OwnHold, objects: number): Charge {
    const { caller, order, own, token } = hold;
    const messages = objects * order.weight;
    this.release(hold);
    const needed = messages > hold.messages ? messages : 0;
    const left = this.#leftFor(needed, caller, order.premium, hold);
    // What was held is covered, also when a limit was lowered since.
    if (messages > Math.max(left.messages, hold.messages))
      throw new Failure(left.type, left.detail);
    const add = (count: number): void => {
      own.used += count;
      token.used += count;
    };
    add(messages);
    const alike = { ...order, objects, requestIds: [order.requestId] };
    let open = true;
    const end = (finish: () => void): void => {
      if (open) finish();
      open = false;
    };
    return {
      messages: order.premium ? 0 : messages,
      premium: order.premium ? messages : 0,
      delivered: (also) => end(() => this.#enter(caller, hold.month, alike, also)),
      undelivered: () => end(() => add(-messages)),
    };
  }

  /** Gives a whole hold back: the call failed before its headers. Again it does nothing. */
  release(hold: OwnHold): void {
    if (!this.#holds.delete(hold)) return;
    hold.own.held -= hold.messages;
    hold.token.held -= hold.messages;
  }

  /** The same for a part: what is over `messages` of it is given back. */
  shrink(hold: OwnHold, messages: number): void {
    const more = Math.max(0, hold.messages - messages);
    if (!this.#holds.has(hold)) return;
    hold.messages -= more;
    hold.own.held -= more;
    hold.token.held -= more;
  }

  /** Before anything of its account is refused, a reserve gives back what it has not spent. */
  addReserve(accountId: string, giveBack: () => void): () => void {
    return this.#reserves.add(accountId, giveBack);
  }

  /** Messages that a token used this month, and that it may still spend; undefined: without a bound. */
  allowance(caller: Caller): { readonly used: number; readonly left: number | undefined } {
    const { own, token } = this.#purses(caller, false);
    const { messages } = leftOf(caller, false, { ...own, lent: 0 }, { ...token, lent: 0 });
    return { used: token.used, left: messages > UNBOUNDED ? undefined : messages };
  }

  /** Messages used by an account in the current month, and those set aside right now. */
  balance(accountId: string): Purse {
    const { held, used } = this.#balance(accountId).messages;
    return { used, held };
  }

  /** The same for premium messages. */
  premiumBalance(accountId: string): Purse {
    const { held, used } = this.#balance(accountId).premium;
    return { used, held };
  }

  /** Messages of an account, premium ones too, that are lent in the current month. */
  lentOf(accountId: string): number {
    const { messages, premium } = this.#balance(accountId);
    return messages.lent + premium.lent;
  }

  /** Why every call of the caller's account is refused, if it is. */
  stopped({ account, accountId, isOperator }: Caller): Stop | undefined {
    if (isOperator === true) return undefined;
    return stoppedBy(account, this.#balance(accountId).messages.used);
  }

  /** Charges that wait to be written. */
  get waiting(): number {
    return this.#groups.waiting;
  }

  /** Writes all that waits; afterwards SQL knows every delivered charge. */
  flush(): Promise<void> {
    return this.#groups.flush();
  }

  /**
   * Writes all that waits, or tries to as often as a disk that refuses is given time; then nothing more.
   * @returns charges that could not be written
   */
  close(): Promise<number> {
    return this.#groups.close();
  }

  /**
   * Before a hold: where what it takes is here but for what is lent, resolves once that was called home.
   * Undefined, and nothing is waited for, where enough is left or nothing is lent.
   */
  waitForRoom(
    caller: Caller,
    asked: ChargeOrder,
    objects: number,
    least = 0,
  ): Promise<void> | undefined {
    if (this.#lending === undefined || this.lentOf(caller.accountId) === 0) return undefined;
    const messages = Math.max(objects, least) * orderFor(caller, asked).weight;
    if (messages <= this.left(caller, asked.premium)) return undefined;
    return this.#lending.callHome(caller.accountId);
  }

  /** From now on messages are lent. */
  lendBy(lending: Lending): void {
    this.#lending = lending;
  }

  /** Resolves once what other nodes delivered by now is charged here too, or was waited for. */
  async heard(): Promise<void> {
    await this.#lending?.hear();
  }

  /** Afterwards SQL knows every charge that a client of any node can know of. */
  async caughtUp(): Promise<void> {
    await this.heard();
    await this.flush();
  }

  /** Messages that may still be set aside or lent; below 0 where a limit was lowered. */
  left(caller: Caller, premium: boolean): number {
    const { own, token } = this.#purses(caller, premium);
    return leftOf(caller, premium, own, token).messages;
  }

  /** A block of the current month, of no messages yet. */
  newBlock(caller: Caller, premium: boolean): LentBlock {
    const purses = this.#purses(caller, premium);
    return { month: purses.month.name, messages: 0, purses };
  }

  /** So many messages more are lent, or come home where it is less than 0; no more than there are. */
  lend(block: LentBlock, more: number): void {
    const messages = Math.max(more, -block.messages);
    block.messages += messages;
    block.purses.own.lent += messages;
    block.purses.token.lent += messages;
  }

  /**
   * Charges calls that another node delivered: of its block, and beyond it as far as something is left.
   * @param block undefined: it has come home; then of the current month
   * @returns false where not all of them are covered: then nothing is charged
   */
  chargeLent(
    block: LentBlock | undefined,
    caller: Caller,
    calls: ChargedAlike,
    also: WithCharge | undefined,
  ): boolean {
    const messages = calls.objects * calls.weight * calls.requestIds.length;
    const purses = block?.purses ?? this.#purses(caller, calls.premium);
    const { own, token } = purses;
    const beyond = messages - (block?.messages ?? 0);
    const isShort = beyond > leftOf(caller, calls.premium, own, token).messages;
    if (messages > 0 && beyond > 0 && isShort) return false;
    if (block !== undefined) this.lend(block, -messages);
    own.used += messages;
    token.used += messages;
    this.#enter(caller, purses.month, calls, also, false);
    return true;
  }

  /** What is left, after reserves were called back where it is less than `messages`. */
  #leftFor(
    messages: number,
    caller: Caller,
    premium: boolean,
    { own, token }: Purses,
  ): ReturnType<typeof leftOf> {
    const now = (): ReturnType<typeof leftOf> => leftOf(caller, premium, own, token);
    const left = now();
    if (left.messages >= messages) return left;
    this.#reserves.callBack(caller.accountId, () => now().messages >= messages);
    return now();
  }

  #purses({ accountId, tokenId }: Caller, premium: boolean): Purses {
    const balance = this.#balance(accountId);
    let token = balance.byToken.get(tokenId);
    if (token === undefined) {
      token = newCounter();
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
    { accountId, tokenId }: Caller,
    month: Month,
    { endpoint, objects, premium, requestIds, usageKey, weight }: ChargedAlike,
    also?: WithCharge,
    isSoon = also !== undefined,
  ): void {
    const messages = objects * weight;
    const line = {
      timeMs: Math.min(this.timeMs(), month.endMs - 1),
      month: month.name,
      accountId,
      tokenId,
      endpoint,
      usageKey,
      objects,
      weight,
      messages: premium ? 0 : messages,
      premium: premium ? messages : 0,
    };
    this.#groups.add(line, requestIds, also, isSoon);
  }
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
