// Quota of the node that serves, lent to nodes that read (README.md): who asks, who is called home.
import type { Caller } from '../../accounts/callers.ts';
import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import type { Database } from '../../catalog/database.ts';
import type { Ledger } from '../ledger.ts';
import { type After, realAfter } from './after.ts';
import { LEASE_MS, moreOf } from './blockSizes.ts';
import type { Grant, Homecoming, PermitGrant, PermitWant, ToLessee } from './leaseMessages.ts';
import type { ToLessor, Want } from './leaseMessages.ts';
import { type Lent, LentBlocks } from './lentBlocks.ts';
import { Recalls } from './recalls.ts';
import { loadMarks } from './reportMarks.ts';
import { Reports } from './reports.ts';
import { Tellings } from './tellings.ts';

/** Leases that have ended are looked for so often. */
const SWEEP_MS = 250;
/** Charges that wait for the catalog, from which on nothing is lent: half of what the ledger lets wait. */
const WAITING_MAX = 50_000;
/** Blocks have numbers of their own at each node that serves. */
const FIRST_IDS = 2 ** 50;

/** Requests of the same limits that the doors hold; each takes at most `most`, and a part of the rate. */
export interface Permits {
  /** @param parts of the rate that one node may take at once is one of so many */
  address(address: string, most: number, parts: number): number;
  token(caller: Caller, most: number, parts: number): number;
}

interface LessorParts {
  readonly ledger: Ledger;
  readonly database: Database;
  readonly clock: Clock;
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly permits: Permits;
  /** @throws Failure where the token may not act now. */
  readonly callerOf: (tokenId: string) => Caller;
  /** With its limits, also where it may not act any more; undefined: there is none. */
  readonly knownCaller: (accountId: string, tokenId: string) => Caller | undefined;
  /** A node delivered a call of the token. */
  readonly used: (tokenId: string, timeMs: number) => void;
  readonly onFault: (reason: unknown) => void;
  /** At least 0, less than 1: it differs from one node that serves to the next. */
  readonly share: number;
  readonly after?: After;
}

interface Session {
  readonly nodeId: string;
  readonly send: (message: ToLessee) => void;
  lessee: string;
}

export class QuotaLessor {
  readonly #parts: LessorParts;
  readonly #after: After;
  readonly #lent: LentBlocks;
  readonly #recalls: Recalls;
  readonly #reports: Reports;
  readonly #tellings: Tellings;
  readonly #sessions = new Map<string, Session>();
  #stopSweep: (() => void) | undefined;
  #isClosed = false;

  private constructor(parts: LessorParts, marks: ReadonlyMap<string, number>) {
    this.#parts = parts;
    this.#after = parts.after ?? realAfter;
    this.#lent = new LentBlocks(parts.ledger, Math.floor(parts.share * FIRST_IDS));
    this.#recalls = new Recalls({
      after: this.#after,
      nowMs: parts.nowMs,
      lent: this.#lent,
      recall: (lessee, blocks) =>
        this.#tell(lessee, {
          kind: 'recall',
          blocks,
        }),
      sweep: () => this.#sweep(),
    });
    const ack = (lessee: string, sequence: number): void =>
      this.#tell(lessee, { kind: 'ack', sequence });
    this.#reports = new Reports({ ...parts, lent: this.#lent, ack }, marks);
    this.#tellings = new Tellings(this.#after);
    parts.ledger.lendBy({
      callHome: (accountId) => this.#recalls.callHome(accountId),
      hear: () => this.#tellings.ask([...this.#sessions.values()]),
    });
  }

  /** Knows what was reported to those that served before. */
  static async open(parts: LessorParts): Promise<QuotaLessor> {
    return new QuotaLessor(parts, await loadMarks(parts.database, parts.clock()));
  }

  /** Calls that nodes delivered and that are not charged: their block had come home, and nothing was left. */
  get uncovered(): Reports['uncovered'] {
    return this.#reports.uncovered;
  }

  /** Blocks that are lent. */
  get blocks(): number {
    return this.#lent.count;
  }

  /** A node is there; another connection of it is heard no more. */
  join(
    nodeId: string,
    send: (message: ToLessee) => void,
  ): { take(message: ToLessor): void; left(): void } {
    const session: Session = { nodeId, send, lessee: '' };
    const before = this.#sessions.get(nodeId);
    this.#sessions.set(nodeId, session);
    if (before !== undefined) this.#tellings.gone(before);
    const isOpen = (): boolean => this.#sessions.get(nodeId) === session && !this.#isClosed;
    return {
      take: (message) => {
        if (isOpen()) this.#take(session, message);
      },
      left: () => {
        // What it holds is waited for until its lease has ended: it may be there yet.
        if (!isOpen()) return;
        this.#sessions.delete(nodeId);
        this.#tellings.gone(session);
      },
    };
  }

  /** Limits, or who may act, are others now: what is lent beyond them comes home. */
  limitsChanged(): void {
    const isOver = ({ caller: { tokenId }, premium }: Lent): boolean => {
      const caller = this.#active(tokenId);
      return caller === undefined || this.#parts.ledger.left(caller, premium) < 0;
    };
    this.#recalls.recall(this.#lent.all().filter(isOver));
  }

  /** Nothing is lent, heard or waited for any more. */
  close(): void {
    this.#isClosed = true;
    this.#stopSweep?.();
    this.#recalls.close();
    this.#tellings.close();
    for (const lent of this.#lent.all()) this.#close(lent);
    this.#sessions.clear();
  }

  #take(session: Session, message: ToLessor): void {
    switch (message.kind) {
      case 'hello':
        session.lessee = message.lessee;
        return;
      case 'report':
        this.#reports.enter(session.lessee, message);
        return;
      case 'told':
        this.#tellings.told(session, message.telling);
        return;
      case 'clean':
        for (const lent of this.#lent.all()) {
          if (lent.lessee === session.lessee && lent.session !== session) this.#close(lent);
        }
        return;
      case 'home':
        for (const one of message.blocks) this.#comeHome(session, one);
        return;
      case 'ask': {
        const { ask, permits, wants } = message;
        const grants = wants.map((want) => this.#grant(session, want));
        const given = permits.map((want) => this.#permit(want));
        session.send({ kind: 'grants', ask, grants, permits: given });
      }
    }
  }

  #tell(lessee: string, message: ToLessee): void {
    for (const session of this.#sessions.values()) {
      if (session.lessee === lessee) session.send(message);
    }
  }

  #grant(session: Session, want: Want): Grant {
    const { premium, tokenId } = want;
    const caller = this.#active(tokenId);
    const known = this.#lent.of(session.lessee, tokenId, premium);
    const room = caller === undefined ? -1 : this.#parts.ledger.left(caller, premium);
    const lent =
      caller === undefined || room < 0 ? undefined : this.#blockFor(session, caller, known, want);
    if (lent === undefined || caller === undefined) {
      // A limit was lowered, or the token may not act: what is lent is wanted back.
      if (known !== undefined && room < 0) this.#recalls.recall([known]);
      return { tokenId, premium, lease: undefined };
    }
    const { ledger, nowMs } = this.#parts;
    const messages = moreOf(this.#sessions.size + 1, room, want);
    ledger.lend(lent.block, messages);
    const leaseMs = Math.min(LEASE_MS, ledger.monthEndsInMs());
    lent.caller = caller;
    lent.untilMs = nowMs() + leaseMs;
    this.#stopSweep ??= this.#after(SWEEP_MS, () => this.#sweep());
    return {
      tokenId,
      premium,
      lease: { block: lent.id, messages, leaseMs, month: lent.block.month },
    };
  }

  /** Undefined where the token may not act, or all calls of its account are refused. */
  #active(tokenId: string): Caller | undefined {
    try {
      const caller = this.#parts.callerOf(tokenId);
      return this.#parts.ledger.stopped(caller) === undefined ? caller : undefined;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return undefined;
    }
  }

  /** The block that its node has, or another one. */
  #blockFor(
    session: Session,
    caller: Caller,
    known: Lent | undefined,
    { premium }: Want,
  ): Lent | undefined {
    const { ledger, nowMs } = this.#parts;
    if (ledger.waiting >= WAITING_MAX || this.#recalls.keeps(caller.accountId)) return undefined;
    const isOpen =
      known !== undefined &&
      known.session === session &&
      known.state === 'lent' &&
      known.untilMs > nowMs() &&
      known.block.month === ledger.month;
    if (isOpen) return known;
    if (known !== undefined && known.untilMs <= nowMs()) this.#close(known);
    const { lessee } = session;
    return this.#lent.open({ lessee, session, premium, caller, untilMs: nowMs() + LEASE_MS });
  }

  #permit({ key, kind, most }: PermitWant): PermitGrant {
    const { permits } = this.#parts;
    const parts = 2 * (this.#sessions.size + 1);
    if (kind === 'address') return { kind, key, count: permits.address(key, most, parts) };
    const caller = this.#active(key);
    const count = caller === undefined ? 0 : permits.token(caller, most, parts);
    return { kind, key, count };
  }

  #comeHome(session: Session, { block, isEnded, messages }: Homecoming): void {
    const lent = this.#lent.get(block);
    if (lent?.lessee !== session.lessee) return;
    this.#parts.ledger.lend(lent.block, -messages);
    lent.state = 'held';
    if (isEnded) this.#close(lent);
    else this.#recalls.answered(lent);
  }

  #close(lent: Lent): void {
    this.#lent.close(lent);
    this.#recalls.answered(lent);
  }

  #sweep(): void {
    this.#stopSweep?.();
    this.#stopSweep = undefined;
    const nowMs = this.#parts.nowMs();
    for (const lent of this.#lent.all()) if (lent.untilMs <= nowMs) this.#close(lent);
    if (this.#lent.count > 0) this.#stopSweep = this.#after(SWEEP_MS, () => this.#sweep());
  }
}
