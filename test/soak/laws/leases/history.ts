// One history: reading nodes and one serving node, calls at all of them, and faults meanwhile.
import assert from 'node:assert/strict';
import type { Caller } from '../../../../store/accounts/callers.ts';
import { survive } from '../../../../store/base/crashPoints.ts';
import { Failure } from '../../../../store/base/failure.ts';
import type { Database } from '../../../../store/catalog/database.ts';
import { LeasedQuota } from '../../../../store/ledger/leases/leasedQuota.ts';
import { QuotaLessor } from '../../../../store/ledger/leases/quotaLessor.ts';
import { billingDays } from '../../../../store/ledger/billingDays.ts';
import { Ledger } from '../../../../store/ledger/ledger.ts';
import type { ChargeOrder, Metering } from '../../../../store/ledger/metering.ts';
import type { Seeded } from '../../crash/rounds/seeded.ts';
import { type Bearer, Books } from './books.ts';
import { Link } from './link.ts';
import { VirtualTime } from './virtualTime.ts';

const FLUSH_MS = 50;
const LEASE_MS = 5_000;
/** A round trip with the highest latency of a link without faults. */
const CALM_MS = 250;
const QUIET_MS = 15_000;
const MONTH_END_MS = Date.UTC(2026, 1, 1, 5);

interface Reader {
  readonly nodeId: string;
  readonly quota: LeasedQuota;
  isAlive: boolean;
  link: Link | undefined;
}

interface Server {
  readonly ledger: Ledger;
  readonly lessor: QuotaLessor;
  readonly sinceMs: number;
  isAlive: boolean;
  /** Ids of calls that were delivered here, and not written. */
  readonly unwritten: Set<string>;
}

interface Call {
  readonly caller: Caller;
  readonly order: ChargeOrder;
  readonly most: number;
  readonly objects: number;
  readonly runMs: number;
  readonly headersMs: number;
}

interface Receipt {
  readonly messages: number;
  readonly accountId: string;
  readonly by: object;
}

interface Running {
  readonly quota: Metering;
  readonly hold: ReturnType<Metering['hold']>;
  readonly call: Call;
  readonly by: Reader | Server;
  readonly onFailure: (error: Failure) => void;
}

export class History {
  readonly time = new VirtualTime();
  readonly books: Books;
  readonly receipts = new Map<string, Receipt>();
  /** Ids of calls that a serving node delivered, and had not written when it was killed. */
  readonly excused = new Set<string>();
  /** Unacknowledged calls by killed reader. */
  readonly unackedOfDead = new Map<object, number>();
  readonly sums = { delivered: 0, elsewhere: 0, refused: 0, uncovered: 0, lost: 0, successions: 0 };
  /** A history without faults and without changes of limits. */
  readonly isCalm: boolean;
  readonly #database: Database;
  readonly #random: Seeded;
  readonly #startMs: number;
  readonly #readers: Reader[] = [];
  #server: Server | undefined;
  #firstMonth: string | undefined;
  #calls = 0;

  private constructor(database: Database, random: Seeded) {
    this.#database = database;
    this.#random = random;
    this.books = new Books(random);
    this.isCalm = random.chance(0.3);
    this.#startMs = MONTH_END_MS - (random.chance(0.4) ? random.between(0, 20_000) : 9e8);
  }

  static async start(database: Database, random: Seeded): Promise<History> {
    const history = new History(database, random);
    await history.#serve();
    for (let at = random.between(1, 4); at > 0; at -= 1) history.#addReader(`n${at}`);
    return history;
  }

  async play(): Promise<void> {
    const { time } = this;
    const durationMs = this.#random.between(3_000, 25_000);
    const bursts = this.#random.between(5, 60);
    for (let at = 0; at < bursts; at += 1) {
      time.at(this.#random.next() * durationMs, () => this.#burst());
    }
    for (let at = this.#random.between(0, 5); at > 0; at -= 1) {
      time.at(this.#random.next() * durationMs, () => this.#askUsed());
    }
    if (!this.isCalm) {
      for (let at = this.#random.between(1, 8); at > 0; at -= 1) {
        time.at(this.#random.next() * durationMs, () => this.#fail());
      }
    }
    this.#flushLater();
    await time.runFor(durationMs);
    await time.runFor(QUIET_MS);
    this.#checkQuiet();
  }

  async #serve(): Promise<void> {
    const { time } = this;
    const skewMs = this.#random.between(-5_000, 5_000);
    const clock = (): number => this.#startMs + time.nowMs + skewMs;
    const onFault = (reason: unknown): void => {
      if (!String(reason).includes('are not charged')) throw reason;
    };
    const days = billingDays('America/New_York');
    const database = this.#database;
    const ledger = await Ledger.open({ database, clock, days, at: survive, onFault });
    this.#firstMonth ??= ledger.month;
    const alive = { isAlive: true };
    const lessor = await QuotaLessor.open({
      ledger,
      database,
      clock,
      onFault,
      share: this.#random.next(),
      nowMs: () => time.nowMs + 77,
      after: time.afterFor(() => alive.isAlive),
      permits: {
        address: (_key, most) => most,
        token: (_caller, most) => most,
      },
      callerOf: (tokenId) => this.books.active(tokenId),
      knownCaller: (_accountId, tokenId) => this.books.findCaller(tokenId),
      used: () => undefined,
    });
    this.books.check(ledger, time.nowMs, true);
    const own = { ledger, lessor, sinceMs: time.nowMs, unwritten: new Set<string>() };
    this.#server = Object.assign(alive, own);
    for (const reader of this.#readers) this.#connectLater(reader);
  }

  #addReader(nodeId: string): void {
    const { time } = this;
    const alive = { isAlive: true, link: undefined };
    const offMs = this.#random.between(0, 1e6);
    const quota = new LeasedQuota({
      lessee: `${nodeId} ${this.#random.next()}`,
      nowMs: () => time.nowMs + offMs,
      after: time.afterFor(() => alive.isAlive),
    });
    const reader: Reader = Object.assign(alive, { nodeId, quota });
    this.#readers.push(reader);
    this.#connectLater(reader);
  }

  #connectLater(reader: Reader): void {
    this.time.at(this.#random.between(0, 500), () => this.#connect(reader));
  }

  #connect(reader: Reader): void {
    const server = this.#server;
    const isConnected = reader.link !== undefined && !reader.link.isBroken;
    if (!reader.isAlive || isConnected || server?.isAlive !== true) return;
    const link = new Link(this.time, this.#random.fork());
    const joined = server.lessor.join(reader.nodeId, (message) => link.send('down', message));
    link.to('up', (message) => {
      if (server.isAlive) joined.take(message);
    });
    link.to('down', (message) => {
      if (reader.isAlive && reader.link === link) reader.quota.handle(message);
    });
    reader.link = link;
    reader.quota.connect((message) => link.send('up', message));
    this.#onBreak.set(link, () => joined.left());
  }

  readonly #onBreak = new Map<Link, () => void>();

  /** Breaks a link; each side notices it after a random delay. */
  #break(reader: Reader, lateMs: number): void {
    const { link } = reader;
    if (link === undefined || link.isBroken) return;
    link.isBroken = true;
    const late = (): number => this.#random.next() * lateMs;
    this.time.at(late(), () => this.#onBreak.get(link)?.());
    this.time.at(late(), () => {
      if (reader.isAlive && reader.link === link) reader.quota.disconnect();
      this.#connectLater(reader);
    });
  }

  #fail(): void {
    const { time } = this;
    const random = this.#random;
    const readers = this.#readers.filter(({ isAlive }) => isAlive);
    const reader = random.pick(readers as [Reader, ...Reader[]]);
    const dice = random.between(0, 9);
    if (dice <= 1) this.#break(reader, random.pick([5, 3_000] as const));
    else if (dice <= 3) this.#stall(reader, random.pick([50, 900, 9_000] as const));
    else if (dice === 4) this.#killReader(reader);
    else if (dice === 5) this.#killServer();
    else if (dice === 6) this.#killUnheard(reader);
    else if (dice === 7) this.#spendBeside(reader);
    else this.books.change(random, time.nowMs);
  }

  #stall({ link }: Reader, durationMs: number): void {
    const ways = this.#random.pick(['up', 'down', 'both'] as const);
    for (const way of ['up', 'down'] as const) {
      if (ways !== (way === 'up' ? 'down' : 'up')) link?.stall(way, durationMs);
    }
  }

  /** Requests the usage of an account: it must include all calls delivered before, on any node. */
  #askUsed(): void {
    const server = this.#server;
    if (server?.isAlive !== true) return;
    const { ledger } = server;
    const fromMs = this.time.nowMs;
    const accountId = this.#random.pick([...this.books.parties.keys()] as [string, ...string[]]);
    let deliveredMessages = 0;
    for (const one of this.receipts.values())
      if (one.accountId === accountId) deliveredMessages += one.messages;
    const go = (): void => {
      if (!server.isAlive) return;
      const waitedMs = this.time.nowMs - fromMs;
      assert.ok(waitedMs <= 1_001, 'a usage request waits for longer than a second');
      if (!this.isCalm || ledger.month !== this.#firstMonth) return;
      const used = ledger.balance(accountId).used + ledger.premiumBalance(accountId).used;
      assert.ok(used >= deliveredMessages, `${deliveredMessages} were delivered, and ${used} used`);
    };
    void ledger
      .collectReports()
      .then(go)
      .catch((error: unknown) => this.#wrong.push(error));
  }

  /** Kills the serving node while it has charges that it could not acknowledge. */
  #killUnheard(reader: Reader): void {
    this.#burst(reader);
    reader.link?.stall('down', 9_000);
    this.time.at(this.#random.between(60, 600), () => this.#killServer());
  }

  /** Usage of a reader is reported after its lease has ended, when others have spent the rest. */
  #spendBeside(reader: Reader): void {
    const bearer = this.#random.pick(this.books.bearers as [Bearer, ...Bearer[]]);
    for (let at = 0; at < 60; at += 1) {
      this.time.at(at * 5, () => this.#call(bearer, reader, 1));
      this.time.at(5_000 + at * 45, () => this.#call(bearer, undefined, at < 50 ? 20 : 1));
    }
    this.time.at(150, () => reader.link?.stall('up', 8_000));
  }

  #killReader(reader: Reader): void {
    if (!reader.isAlive) return;
    reader.isAlive = false;
    this.unackedOfDead.set(reader, reader.quota.unackedCalls);
    this.sums.lost += reader.quota.unackedCalls;
    this.#break(reader, 100);
    this.#readers.splice(this.#readers.indexOf(reader), 1);
    this.#addReader(reader.nodeId);
  }

  #killServer(): void {
    const server = this.#server;
    if (server?.isAlive !== true) return;
    server.isAlive = false;
    this.sums.uncovered += server.lessor.uncovered.calls;
    this.sums.successions += 1;
    for (const requestId of server.unwritten) this.excused.add(requestId);
    for (const reader of this.#readers) this.#break(reader, this.#random.pick([5, 3_000] as const));
    this.time.at(this.#random.between(50, 3_000), () => this.#serve());
  }

  #flushLater(): void {
    this.time.at(FLUSH_MS, async () => {
      const server = this.#server;
      if (server?.isAlive === true && server.ledger.pendingCharges > 0) {
        await server.ledger.flush();
        assert.equal(server.ledger.pendingCharges, 0);
        server.unwritten.clear();
      }
      if (server?.isAlive === true) this.books.check(server.ledger, this.time.nowMs);
      this.#flushLater();
    });
  }

  /** A burst of calls of one token, most of them at one node. */
  #burst(own?: Reader): void {
    const random = this.#random;
    const bearer = random.pick(this.books.bearers as [Bearer, ...Bearer[]]);
    const at = random.between(0, this.#readers.length - 1);
    const share = random.pick([0.5, 0.8, 1] as const);
    const [count, apartMs] = [random.between(1, 40), random.pick([1, 20, 200] as const)];
    for (let call = 0; call < count; call += 1) {
      this.time.at(call * apartMs * random.next(), () => {
        const reader = own ?? this.#readers[at];
        this.#call(bearer, random.chance(share) ? reader : undefined);
      });
    }
  }

  #call(bearer: Bearer, reader: Reader | undefined, own?: number): void {
    const random = this.#random;
    const most = own ?? random.pick([0, 1, 1, 3, 20, 150, 2_000] as const);
    this.#calls += 1;
    const call = {
      caller: this.books.findCaller(bearer.tokenId),
      order: {
        requestId: `r${this.#calls}`,
        endpoint: 'e',
        usageKey: 'W.D',
        weight: random.pick([0, 1, 1, 5] as const),
        premium: random.chance(0.2),
      },
      most,
      objects: random.between(0, most),
      runMs: random.chance(0.03) ? random.between(0, 3_500) : random.next() * 10,
      headersMs: random.chance(0.02) ? random.between(0, 1_500) : random.next(),
    };
    if (reader === undefined) this.#callServer(call);
    else this.#callReader(reader, call);
  }

  #callReader(reader: Reader, call: Call): void {
    const handOn = (): void => {
      if (reader.isAlive) this.time.at(0.5, () => this.#callServer(call));
    };
    try {
      reader.quota.admit(call.caller, 'address');
      reader.quota.findStop(call.caller);
      const hold = reader.quota.hold(call.caller, call.order, call.most);
      // An account that was stopped is active again once a new month begins.
      if (this.#server?.isAlive === true) this.books.check(this.#server.ledger, this.time.nowMs);
      this.books.checkActive(call.caller.tokenId, this.time.nowMs);
      this.time.at(call.runMs, () => {
        if (reader.isAlive)
          this.#settled({ quota: reader.quota, hold, call, by: reader, onFailure: handOn });
      });
      this.sums.elsewhere += 1;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      handOn();
    }
  }

  #settled(running: Running): void {
    const { by, call, hold, quota } = running;
    if (this.#random.chance(0.03)) return quota.release(hold);
    const beyond = call.objects * hold.order.weight - hold.messages;
    const beyondOne = { ...hold.order, weight: 1 };
    const room = beyond > 0 ? quota.waitForRoom(call.caller, beyondOne, beyond) : undefined;
    const go = (): void => {
      if (by.isAlive) this.#charge(running);
    };
    if (room === undefined) go();
    else void room.then(go).catch((error: unknown) => this.#wrong.push(error));
  }

  #charge({ by, call, hold, onFailure, quota }: Running): void {
    try {
      const charge = quota.settle(hold, call.objects);
      this.time.at(call.headersMs, () => {
        if (!by.isAlive) return;
        if (this.#random.chance(0.03)) return charge.cancel();
        const { requestId } = call.order;
        const messages = charge.messages + charge.premium;
        this.receipts.set(requestId, { messages, accountId: call.caller.accountId, by });
        if ('unwritten' in by) by.unwritten.add(requestId);
        this.sums.delivered += 1;
        charge.confirm();
      });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      onFailure(error);
    }
  }

  #callServer(call: Call): void {
    const server = this.#server;
    if (server?.isAlive !== true) return;
    const { ledger } = server;
    const { order } = call;
    const { month } = ledger;
    const refused = (error: Failure): void => this.#refused(server, call, error, month);
    try {
      const caller = this.books.active(call.caller.tokenId);
      if (ledger.findStop(caller) !== undefined) return;
      const room = ledger.waitForRoom(caller, order, call.most);
      const fromMs = this.time.nowMs;
      // A waiting call blocks nothing else.
      const go = (): void => {
        if (!server.isAlive) return;
        const waitedMs = this.time.nowMs - fromMs;
        assert.ok(waitedMs <= LEASE_MS + 1, 'a call waits for longer than a lease');
        assert.ok(
          !this.isCalm || waitedMs <= CALM_MS,
          `nothing fails, and a call waits ${waitedMs} ms`,
        );
        try {
          const hold = ledger.hold(caller, order, call.most);
          this.time.at(call.runMs, () => {
            if (server.isAlive)
              this.#settled({ quota: ledger, hold, call, by: server, onFailure: refused });
          });
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          refused(error);
        }
      };
      if (room === undefined) go();
      else void room.then(go).catch((error: unknown) => this.#wrong.push(error));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
    }
  }

  readonly #wrong: unknown[] = [];

  /** Checks that no reader can spend the messages that this call was refused. */
  #refused(server: Server, { caller, order }: Call, error: Failure, month: string): void {
    this.sums.refused += 1;
    assert.ok(['OverLimit', 'CircuitBreaker'].includes(error.type), String(error));
    // The rest of another month does not count.
    if (month !== server.ledger.month) return;
    // Leases of an earlier serving node are unknown.
    if (this.sums.successions > 0 && this.time.nowMs - server.sinceMs <= LEASE_MS) return;
    const isOwn = error.detail?.includes('limit of this token') === true;
    const bearers = this.books.bearers.filter(({ accountId, tokenId }) =>
      isOwn ? tokenId === caller.tokenId : accountId === caller.accountId,
    );
    const kinds = isOwn ? [false, true] : [order.premium];
    for (const { quota } of this.#readers) {
      for (const { tokenId } of bearers) {
        for (const premium of kinds) {
          assert.equal(
            spendable(quota, this.books.findCaller(tokenId), premium),
            false,
            'messages left on a reader',
          );
        }
      }
    }
  }

  #checkQuiet(): void {
    const server = this.#server;
    assert.ok(server?.isAlive, 'no node serves');
    this.sums.uncovered += server.lessor.uncovered.calls;
    for (const accountId of this.books.parties.keys()) {
      const { ledger }: Server = server;
      assert.equal(ledger.balance(accountId).held, 0);
      assert.equal(ledger.premiumBalance(accountId).held, 0);
      assert.equal(ledger.leasedMessages(accountId), 0, 'a lease was not returned');
    }
    assert.equal(server.lessor.blocks, 0);
    for (const { quota } of this.#readers) assert.equal(quota.unackedCalls, 0, 'unacked calls');
    for (const error of this.#wrong) throw error;
  }
}

/** True if a node could spend one message of the caller now. */
function spendable(quota: LeasedQuota, caller: Caller, premium: boolean): boolean {
  const order = { requestId: 'probe', endpoint: 'e', usageKey: 'W.D', weight: 1, premium };
  try {
    quota.release(quota.hold(caller, order, 1));
    return true;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return false;
  }
}
