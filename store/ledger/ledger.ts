// Implements the ledger: hold, settle, release (DESIGN.md idea 10).
//
// Balances are in memory; delivered charges are written in groups, every 50 ms or 1,000 charges.
// A charge joins the group only after its headers were passed to the socket. So without a crash the
// headers, the ledger and the usage agree exactly. After a kill the ledger may lack at most the
// pending group and the calls in flight, and never contains a charge whose headers were not sent.
//
// Months never go back, even if the clock does: a charge goes to the latest month that was ever
// charged, at its first hour, until the clock reaches it again. A call ends in the month in which it
// began. So all remaining quota is in memory from the start: the balances of the latest month, and
// those of later months, which exist when an operator moved the ledger back. A month is
// opened without a read, and no call waits for one.
import {
  type Balance,
  type Balances,
  loadChargedMonths,
  type Counter,
  type Month,
  newBalance,
  newCounter,
} from './balances.ts';
import { type BillingDays, monthMiddle } from './billingDays.ts';
import type { Caller } from '../accounts/callers.ts';
import type { Clock } from '../base/clock.ts';
import type { AtCrashPoint } from '../base/crashPoints.ts';
import type { Database } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';
import { ChargeGroups } from './chargeGroups.ts';
import {
  type Charge,
  type ChargeBatch,
  type ChargeOrder,
  type Hold,
  type Lending,
  type Metering,
  adjustOrder,
} from './metering.ts';
import type { ChargeAttachment } from './usage.ts';
import { buildRefusal, Reserves } from './reserves.ts';
import { computeRemaining, type Purse, type Stop, findAccountStop } from './quota.ts';

/** Limit of charges that wait for a failing disk; above it no metered call is served. */
const WAITING_MAX = 100_000;

interface OwnHold extends Hold, Purses {
  readonly caller: Caller;
  messages: number;
}

/** Messages of a month leased to another node, less those it charged or returned. */
interface LeasedMessages {
  /** `YYYYMM`. */
  readonly month: string;
  messages: number;
  readonly purses: Purses;
}

/** Counters of one call; they stay those of its month when another begins. */
interface Purses {
  readonly month: Month;
  readonly own: Counter;
  readonly token: Counter;
}

export class Ledger implements Metering {
  readonly #clock: Clock;
  readonly #days: BillingDays;
  /** Balances of charged months after the open one. */
  readonly #later: Map<string, Balances>;
  #month: Month;
  readonly #holds = new Set<OwnHold>();
  /** Reserves of open streams. */
  readonly #reserves = new Reserves();
  #lending: Lending | undefined;
  readonly #groups: ChargeGroups;

  private constructor(parts: LedgerParts, name: string, charged: Map<string, Balances>) {
    this.#clock = parts.clock;
    this.#days = parts.days;
    this.#groups = new ChargeGroups(parts);
    this.#later = charged;
    this.#month = this.#createMonth(name);
  }

  static async open(parts: LedgerParts): Promise<Ledger> {
    const { clock, database, days, believedMonth = NEVER } = parts;
    const latest = await database
      .selectFrom('balance')
      .select((select) => select.fn.max('month').as('month'))
      .where('month', '<=', believedMonth)
      .executeTakeFirst();
    const present = days.month(clock());
    const name = String(latest?.month ?? '') > present ? String(latest?.month) : present;
    const charged = await loadChargedMonths(database, days, name);
    return new Ledger(parts, name, charged);
  }

  /** Month to which calls are charged, `YYYYMM`; never earlier than before. */
  get month(): string {
    return this.#openMonth().name;
  }

  /** Returns the time of charges: the clock's, or the month's first hour while the clock is behind it. */
  timeMs(): number {
    return Math.max(this.#openMonth().startMs, this.#clock());
  }

  /** Returns the time until the end of the charged month. */
  msToMonthEnd(): number {
    return this.#openMonth().endMs - this.timeMs();
  }

  /**
   * Sets aside the messages of up to `objects`; fewer when less remains, none for a free call.
   * @param least objects that must be covered
   * @throws Failure OverLimit or CircuitBreaker when no messages remain, or fewer than `least` objects cost.
   */
  hold(caller: Caller, request: ChargeOrder, objects: number, least = 0): OwnHold {
    const order = adjustOrder(caller, request);
    const messages = Math.max(objects, least) * order.weight;
    const purses = this.#purses(caller, order.premium);
    const { own, token } = purses;
    // Further reserves are recalled when the call is charged.
    const needed = Math.min(messages, Math.max(1, least) * order.weight);
    const left = this.#recallFor(needed, caller, order.premium, purses);
    const granted = Math.max(0, Math.min(messages, left.messages));
    const isShort = granted < least * order.weight;
    if (messages > 0 && (granted === 0 || isShort)) throw buildRefusal(left, own, this.#holds);
    if (this.pendingCharges >= WAITING_MAX) {
      throw new Failure('Busy', 'the ledger cannot be written: metered calls must wait');
    }
    own.held += granted;
    token.held += granted;
    const hold = { caller, order, ...purses, messages: granted };
    this.#holds.add(hold);
    return hold;
  }

  /**
   * Converts a hold into the charge of the returned objects; the rest of the hold is released.
   * @throws Failure OverLimit or CircuitBreaker, with the hold released, when the charge is not covered.
   */
  settle(hold: OwnHold, objects: number): Charge {
    const { caller, order, own, token } = hold;
    const messages = objects * order.weight;
    this.release(hold);
    const needed = messages > hold.messages ? messages : 0;
    const left = this.#recallFor(needed, caller, order.premium, hold);
    // Held messages are covered, even if a limit was lowered since.
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
      confirm: (also) => end(() => this.#enter(caller, hold.month, alike, also)),
      cancel: () => end(() => add(-messages)),
    };
  }

  /** Releases a whole hold: the call failed before its headers. Repeated calls have no effect. */
  release(hold: OwnHold): void {
    if (!this.#holds.delete(hold)) return;
    hold.own.held -= hold.messages;
    hold.token.held -= hold.messages;
  }

  /** Releases the part of a hold above `messages`. */
  shrink(hold: OwnHold, messages: number): void {
    const more = Math.max(0, hold.messages - messages);
    if (!this.#holds.has(hold)) return;
    hold.messages -= more;
    hold.own.held -= more;
    hold.token.held -= more;
  }

  /** Adds a reserve that returns its unspent messages before a call of its account is refused. */
  addReserve(accountId: string, giveBack: () => void): () => void {
    return this.#reserves.add(accountId, giveBack);
  }

  /** Returns the used and remaining messages of a token in this month; undefined for no limit. */
  allowance(caller: Caller): { readonly used: number; readonly remaining: number | undefined } {
    const { own, token } = this.#purses(caller, false);
    const { messages } = computeRemaining(
      caller,
      false,
      { ...own, leased: 0 },
      { ...token, leased: 0 },
    );
    return { used: token.used, remaining: messages > UNBOUNDED ? undefined : messages };
  }

  /** Returns the used and currently held messages of an account in this month. */
  balance(accountId: string): Purse {
    const { held, used } = this.#balance(accountId).messages;
    return { used, held };
  }

  /** Returns the used and currently held premium messages of an account. */
  premiumBalance(accountId: string): Purse {
    const { held, used } = this.#balance(accountId).premium;
    return { used, held };
  }

  /** Returns the leased messages of an account in this month, including premium ones. */
  leasedMessages(accountId: string): number {
    const { messages, premium } = this.#balance(accountId);
    return messages.leased + premium.leased;
  }

  /** Returns why all calls of the caller's account are refused; undefined if they are not. */
  findStop({ account, accountId, isOperator }: Caller): Stop | undefined {
    if (isOperator === true) return undefined;
    return findAccountStop(account, this.#balance(accountId).messages.used);
  }

  /** Number of charges to be written. */
  get pendingCharges(): number {
    return this.#groups.pending;
  }

  /** Writes all pending charges; afterwards SQL reads every delivered charge. */
  flush(): Promise<void> {
    return this.#groups.flush();
  }

  /**
   * Tries to write all pending charges, with retries, then stops.
   * @returns charges that could not be written
   */
  close(): Promise<number> {
    return this.#groups.close();
  }

  /**
   * Waits before a hold whose messages are leased to other nodes, until they are recalled. Returns undefined
   * when enough messages remain or none are leased.
   */
  waitForRoom(
    caller: Caller,
    request: ChargeOrder,
    objects: number,
    least = 0,
  ): Promise<void> | undefined {
    if (this.#lending === undefined || this.leasedMessages(caller.accountId) === 0)
      return undefined;
    const messages = Math.max(objects, least) * adjustOrder(caller, request).weight;
    if (messages <= this.left(caller, request.premium)) return undefined;
    return this.#lending.recall(caller.accountId);
  }

  /** Enables leasing of messages. */
  setLending(lending: Lending): void {
    this.#lending = lending;
  }

  /** Resolves once calls that other nodes have delivered so far are charged here, or the wait timed out. */
  async collectReports(): Promise<void> {
    await this.#lending?.collectReports();
  }

  /** Writes all charges that a client of any node can know of, so that SQL reads them. */
  async flushAll(): Promise<void> {
    await this.collectReports();
    await this.flush();
  }

  /** Returns the messages that may still be held or leased; negative when a limit was lowered. */
  left(caller: Caller, premium: boolean): number {
    const { own, token } = this.#purses(caller, premium);
    return computeRemaining(caller, premium, own, token).messages;
  }

  /** Opens an empty block of the current month. */
  openBlock(caller: Caller, premium: boolean): LeasedMessages {
    const purses = this.#purses(caller, premium);
    return { month: purses.month.name, messages: 0, purses };
  }

  /** Leases more messages, or takes messages back if negative; at most those of the block. */
  adjustBlock(block: LeasedMessages, more: number): void {
    const messages = Math.max(more, -block.messages);
    block.messages += messages;
    block.purses.own.leased += messages;
    block.purses.token.leased += messages;
  }

  /**
   * Charges calls that another node delivered: from its block, and beyond it as far as messages remain.
   * @param block undefined when it was returned; the current month is charged then
   * @returns false when not all calls are covered; none is charged then
   */
  chargeLeased(
    block: LeasedMessages | undefined,
    caller: Caller,
    calls: ChargeBatch,
    also: ChargeAttachment | undefined,
  ): boolean {
    const messages = calls.objects * calls.weight * calls.requestIds.length;
    const purses = block?.purses ?? this.#purses(caller, calls.premium);
    const { own, token } = purses;
    const beyond = messages - (block?.messages ?? 0);
    const isShort = beyond > computeRemaining(caller, calls.premium, own, token).messages;
    if (messages > 0 && beyond > 0 && isShort) return false;
    if (block !== undefined) this.adjustBlock(block, -messages);
    own.used += messages;
    token.used += messages;
    this.#enter(caller, purses.month, calls, also, false);
    return true;
  }

  /** Returns the remaining messages, after recalling reserves if they are fewer than `messages`. */
  #recallFor(
    messages: number,
    caller: Caller,
    premium: boolean,
    { own, token }: Purses,
  ): ReturnType<typeof computeRemaining> {
    const remaining = (): ReturnType<typeof computeRemaining> =>
      computeRemaining(caller, premium, own, token);
    const left = remaining();
    if (left.messages >= messages) return left;
    this.#reserves.recall(caller.accountId, () => remaining().messages >= messages);
    return remaining();
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
    const existing = balances.get(accountId);
    if (existing !== undefined) return existing;
    const balance = newBalance();
    balances.set(accountId, balance);
    return balance;
  }

  #openMonth(): Month {
    const nowMs = this.#clock();
    if (nowMs >= this.#month.endMs) this.#month = this.#createMonth(this.#days.month(nowMs));
    return this.#month;
  }

  #createMonth(name: string): Month {
    const balances = this.#later.get(name) ?? new Map<string, Balance>();
    for (const month of this.#later.keys()) if (month <= name) this.#later.delete(month);
    const middle = monthMiddle(name);
    const [startMs, endMs] = [this.#days.monthStart(middle), this.#days.monthEnd(middle)];
    return { name, startMs, endMs, balances };
  }

  #enter(
    { accountId, tokenId }: Caller,
    month: Month,
    { endpoint, objects, premium, requestIds, usageKey, weight }: ChargeBatch,
    also?: ChargeAttachment,
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

/** More than any possible limit. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER / 2;

/** After every month. */
const NEVER = '999912';

interface LedgerParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly days: BillingDays;
  readonly at: AtCrashPoint;
  /** Called when a group could not be written; the group is retried each second. */
  readonly onFault: (reason: unknown) => void;
  /** `YYYYMM`; charges of later months don't advance the ledger. Default: no limit. */
  readonly believedMonth?: string | undefined;
}
