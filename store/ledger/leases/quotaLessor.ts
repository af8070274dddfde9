// Leases quota of the serving node to read replicas (README.md): grants requests and recalls blocks.
import type { Caller } from '../../accounts/callers.ts';
import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import type { Database } from '../../catalog/database.ts';
import type { Ledger } from '../ledger.ts';
import { type StartTimer, startTimer } from './timer.ts';
import { LEASE_MS, computeGrant } from './blockSizes.ts';
import type { QuotaGrant, BlockReturn, RateGrant, RateRequest, ToLessee } from './leaseMessages.ts';
import type { ToLessor, QuotaRequest } from './leaseMessages.ts';
import { type IssuedBlock, IssuedBlocks } from './issuedBlocks.ts';
import { BlockRecall } from './blockRecall.ts';
import { loadMarks } from './reportMarks.ts';
import { ReportIntake } from './reportIntake.ts';
import { UsageBarrier } from './usageBarrier.ts';

/** Interval of the sweep of expired leases. */
const SWEEP_MS = 250;
/** Pending charges at which leasing stops: half of the ledger's own limit. */
const WAITING_MAX = 50_000;
/** Range of first block ids, which differ for each serving node. */
const FIRST_IDS = 2 ** 50;

/** Grants shares of the rate limits of the API; each request takes at most `most` and a part of the rate. */
export interface RateLimits {
  /** @param parts a node may take one of so many parts of the rate at a time */
  address(address: string, most: number, parts: number): number;
  token(caller: Caller, most: number, parts: number): number;
}

interface LessorParts {
  readonly ledger: Ledger;
  readonly database: Database;
  readonly clock: Clock;
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly permits: RateLimits;
  /** @throws Failure when the token may not act now. */
  readonly callerOf: (tokenId: string) => Caller;
  /** Returns a caller with its limits, also when it may no longer act; undefined when unknown. */
  readonly knownCaller: (accountId: string, tokenId: string) => Caller | undefined;
  /** Records that a node delivered a call of the token. */
  readonly used: (tokenId: string, timeMs: number) => void;
  readonly onFault: (reason: unknown) => void;
  /** At least 0, less than 1; differs between serving nodes. */
  readonly share: number;
  readonly after?: StartTimer;
}

interface Session {
  readonly nodeId: string;
  readonly send: (message: ToLessee) => void;
  lessee: string;
}

export class QuotaLessor {
  readonly #parts: LessorParts;
  readonly #after: StartTimer;
  readonly #issued: IssuedBlocks;
  readonly #recalls: BlockRecall;
  readonly #reports: ReportIntake;
  readonly #usageBarrier: UsageBarrier;
  readonly #sessions = new Map<string, Session>();
  #stopSweep: (() => void) | undefined;
  #isClosed = false;

  private constructor(parts: LessorParts, marks: ReadonlyMap<string, number>) {
    this.#parts = parts;
    this.#after = parts.after ?? startTimer;
    this.#issued = new IssuedBlocks(parts.ledger, Math.floor(parts.share * FIRST_IDS));
    this.#recalls = new BlockRecall({
      after: this.#after,
      nowMs: parts.nowMs,
      issued: this.#issued,
      recall: (lessee, blocks) =>
        this.#send(lessee, {
          kind: 'recall',
          blocks,
        }),
      sweep: () => this.#closeExpired(),
    });
    const ack = (lessee: string, sequence: number): void =>
      this.#send(lessee, { kind: 'ack', sequence });
    this.#reports = new ReportIntake({ ...parts, issued: this.#issued, ack }, marks);
    this.#usageBarrier = new UsageBarrier(this.#after);
    parts.ledger.setLending({
      recall: (accountId) => this.#recalls.recallAccount(accountId),
      collectReports: () => this.#usageBarrier.wait([...this.#sessions.values()]),
    });
  }

  /** Opens with the reports that earlier serving nodes stored. */
  static async open(parts: LessorParts): Promise<QuotaLessor> {
    return new QuotaLessor(parts, await loadMarks(parts.database, parts.clock()));
  }

  /**
   * Delivered calls of replicas that were not charged: their block had been returned, and no messages
   * remained.
   */
  get uncovered(): ReportIntake['uncovered'] {
    return this.#reports.uncovered;
  }

  /** Number of leased blocks. */
  get blocks(): number {
    return this.#issued.count;
  }

  /** Adds a replica's connection, which replaces its earlier one. */
  join(
    nodeId: string,
    send: (message: ToLessee) => void,
  ): { take(message: ToLessor): void; left(): void } {
    const session: Session = { nodeId, send, lessee: '' };
    const previous = this.#sessions.get(nodeId);
    this.#sessions.set(nodeId, session);
    if (previous !== undefined) this.#usageBarrier.remove(previous);
    const isOpen = (): boolean => this.#sessions.get(nodeId) === session && !this.#isClosed;
    return {
      take: (message) => {
        if (isOpen()) this.#handle(session, message);
      },
      left: () => {
        // Its blocks stay leased until they expire: the node may still be running.
        if (!isOpen()) return;
        this.#sessions.delete(nodeId);
        this.#usageBarrier.remove(session);
      },
    };
  }

  /** Recalls blocks beyond changed limits or permissions. */
  recallExcess(): void {
    const isOver = ({ caller: { tokenId }, premium }: IssuedBlock): boolean => {
      const caller = this.#findActive(tokenId);
      return caller === undefined || this.#parts.ledger.left(caller, premium) < 0;
    };
    this.#recalls.recall(this.#issued.all().filter(isOver));
  }

  /** Stops leasing and closes all blocks. */
  close(): void {
    this.#isClosed = true;
    this.#stopSweep?.();
    this.#recalls.close();
    this.#usageBarrier.close();
    for (const issued of this.#issued.all()) this.#close(issued);
    this.#sessions.clear();
  }

  #handle(session: Session, message: ToLessor): void {
    switch (message.kind) {
      case 'hello':
        session.lessee = message.lessee;
        return;
      case 'report':
        this.#reports.record(session.lessee, message);
        return;
      case 'told':
        this.#usageBarrier.acknowledge(session, message.telling);
        return;
      case 'clean':
        for (const issued of this.#issued.all()) {
          if (issued.lessee === session.lessee && issued.session !== session) this.#close(issued);
        }
        return;
      case 'home':
        for (const blockReturn of message.blocks) this.#takeBack(session, blockReturn);
        return;
      case 'ask': {
        const { ask, permits, wants } = message;
        const grants = wants.map((want) => this.#grant(session, want));
        const rateGrants = permits.map((want) => this.#grantRate(want));
        session.send({ kind: 'grants', ask, grants, permits: rateGrants });
      }
    }
  }

  #send(lessee: string, message: ToLessee): void {
    for (const session of this.#sessions.values()) {
      if (session.lessee === lessee) session.send(message);
    }
  }

  #grant(session: Session, want: QuotaRequest): QuotaGrant {
    const { premium, tokenId } = want;
    const caller = this.#findActive(tokenId);
    const existing = this.#issued.find(session.lessee, tokenId, premium);
    const room = caller === undefined ? -1 : this.#parts.ledger.left(caller, premium);
    const issued =
      caller === undefined || room < 0
        ? undefined
        : this.#blockFor(session, caller, existing, want);
    if (issued === undefined || caller === undefined) {
      // A limit was lowered, or the token may not act: the block is recalled.
      if (existing !== undefined && room < 0) this.#recalls.recall([existing]);
      return { tokenId, premium, lease: undefined };
    }
    const { ledger, nowMs } = this.#parts;
    const messages = computeGrant(this.#sessions.size + 1, room, want);
    ledger.adjustBlock(issued.block, messages);
    const leaseMs = Math.min(LEASE_MS, ledger.msToMonthEnd());
    issued.caller = caller;
    issued.untilMs = nowMs() + leaseMs;
    this.#stopSweep ??= this.#after(SWEEP_MS, () => this.#closeExpired());
    return {
      tokenId,
      premium,
      lease: { block: issued.id, messages, leaseMs, month: issued.block.month },
    };
  }

  /** Returns the caller; undefined when the token may not act, or all calls of its account are refused. */
  #findActive(tokenId: string): Caller | undefined {
    try {
      const caller = this.#parts.callerOf(tokenId);
      return this.#parts.ledger.findStop(caller) === undefined ? caller : undefined;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return undefined;
    }
  }

  /** Returns the open block of the node, or a new one. */
  #blockFor(
    session: Session,
    caller: Caller,
    existing: IssuedBlock | undefined,
    { premium }: QuotaRequest,
  ): IssuedBlock | undefined {
    const { ledger, nowMs } = this.#parts;
    if (ledger.pendingCharges >= WAITING_MAX || this.#recalls.isBlocked(caller.accountId))
      return undefined;
    const isOpen =
      existing !== undefined &&
      existing.session === session &&
      existing.state === 'leased' &&
      existing.untilMs > nowMs() &&
      existing.block.month === ledger.month;
    if (isOpen) return existing;
    if (existing !== undefined && existing.untilMs <= nowMs()) this.#close(existing);
    const { lessee } = session;
    return this.#issued.open({ lessee, session, premium, caller, untilMs: nowMs() + LEASE_MS });
  }

  #grantRate({ key, kind, most }: RateRequest): RateGrant {
    const { permits } = this.#parts;
    const parts = 2 * (this.#sessions.size + 1);
    if (kind === 'address') return { kind, key, count: permits.address(key, most, parts) };
    const caller = this.#findActive(key);
    const count = caller === undefined ? 0 : permits.token(caller, most, parts);
    return { kind, key, count };
  }

  #takeBack(session: Session, { block, isEnded, messages }: BlockReturn): void {
    const issued = this.#issued.get(block);
    if (issued?.lessee !== session.lessee) return;
    this.#parts.ledger.adjustBlock(issued.block, -messages);
    issued.state = 'held';
    if (isEnded) this.#close(issued);
    else this.#recalls.settle(issued);
  }

  #close(issued: IssuedBlock): void {
    this.#issued.close(issued);
    this.#recalls.settle(issued);
  }

  #closeExpired(): void {
    this.#stopSweep?.();
    this.#stopSweep = undefined;
    const nowMs = this.#parts.nowMs();
    for (const issued of this.#issued.all()) if (issued.untilMs <= nowMs) this.#close(issued);
    if (this.#issued.count > 0) this.#stopSweep = this.#after(SWEEP_MS, () => this.#closeExpired());
  }
}
