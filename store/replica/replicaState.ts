// Tracks what a read replica has received from the serving node, and whether it may answer at the moment.
import type { Socket } from 'node:net';
import type { ToLessee } from '../ledger/leases/leaseMessages.ts';
import { encodeFrame, decodeFrames, writeCorked } from '../remote/frames.ts';
import {
  REWATCH_DELAY_MS,
  type FromNode,
  type StateMessage,
  LEASE_MS,
  type ToNode,
} from './messages.ts';

const HEARTBEAT_MS = 250;
/** Limit of watched tables; the least recently read one is dropped. */
export const WATCHED_MAX = 100_000;
/** Limit of queued messages; above it the replica reconnects. */
const WAITING_MAX = 100_000;

interface ReplicaStateParts {
  readonly socket: Socket;
  /** Monotonic. */
  readonly clockMs: () => number;
  /** Applies a message to the state of this node; one at a time. */
  readonly apply: (news: StateMessage) => void | Promise<void>;
  /** Handles messages about leases. */
  readonly lease: (message: ToLessee) => void;
  /** Handles the end of watching a table. */
  readonly forgotten: (tableId: number) => void;
  /** Limit of watched tables; `WATCHED_MAX` unless a test sets less. */
  readonly watchedMax?: number;
}

/** State of the replica at one moment. */
interface KnownMoment {
  /** Number of tables whose state had arrived. */
  readonly arrivals: number;
  readonly changing: ReadonlySet<number>;
}

export class ReplicaState {
  readonly #parts: ReplicaStateParts;
  /** Changes in progress by id, each with its tables; undefined for all tables. */
  readonly #paused = new Map<number, ReadonlySet<number> | undefined>();
  /** Watched tables, least recently read first, with their order of arrival; 0 before the state arrived. */
  readonly #tables = new Map<number, number>();
  #arrivals = 0;
  /** Dropped tables, and when they may be requested again. */
  readonly #retryMs = new Map<number, number>();
  readonly #heartbeats = new Map<number, number>();
  #lastHeartbeat = 0;
  #sureUntilMs = -Infinity;
  #queue: Promise<void> = Promise.resolve();
  #queued = 0;
  readonly #waiters = new Set<() => void>();
  #isReady = false;
  readonly #welcome = Promise.withResolvers<number>();
  /** Resolves once the connection is gone. */
  readonly ended: Promise<void>;

  constructor(parts: ReplicaStateParts) {
    this.#parts = parts;
    this.#welcome.promise.catch(() => undefined);
    this.ended = this.#receive();
  }

  /** Id of the snapshot after which all changes are sent. @throws Error when the connection ended before */
  get welcome(): Promise<number> {
    return this.#welcome.promise;
  }

  /** Marks the state up to the welcome as loaded. */
  markReady(): void {
    this.#isReady = true;
  }

  /** Whether its lease is valid, so that it receives every change before it becomes visible. */
  isSure(): boolean {
    return this.#isReady && this.#parts.clockMs() < this.#sureUntilMs;
  }

  /** Whether it may answer in this turn of the event loop. */
  isLive(): boolean {
    if (!this.isSure()) return false;
    if (this.#paused.size === 0) return true;
    return [...this.#paused.values()].every((tables) => tables !== undefined);
  }

  /** Whether a change is in progress. */
  isChanging(): boolean {
    return this.isSure() && this.#paused.size > 0;
  }

  /** Resolves when a change has ended, or after the timeout. */
  waitForChange(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    this.#waiters.add(resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiters.delete(resolve);
    });
  }

  /** Whether it may answer for a table; starts watching the table if needed. */
  isLiveFor(tableId: number): boolean {
    if (!this.#touchArrival(tableId) || !this.isLive()) return false;
    if (this.#paused.size === 0) return true;
    return [...this.#paused.values()].every((tables) => tables?.has(tableId) === false);
  }

  /**
   * Captures this moment; undefined while all tables change. Reads of unchanged tables as of it see stored
   * data only.
   */
  captureMoment(): KnownMoment | undefined {
    if (!this.isLive()) return undefined;
    const changing = new Set([...this.#paused.values()].flatMap((tables) => [...(tables ?? [])]));
    return { arrivals: this.#arrivals, changing };
  }

  /** Returns the state of a table at a captured moment; starts watching the table if needed. */
  stateAt(tableId: number, { arrivals, changing }: KnownMoment): 'all' | 'changing' | 'nothing' {
    const arrival = this.#touchArrival(tableId);
    if (arrival === undefined || arrival > arrivals) return 'nothing';
    return changing.has(tableId) ? 'changing' : 'all';
  }

  /** Marks a table as read and returns its order of arrival; starts watching it if needed. */
  #touchArrival(tableId: number): number | undefined {
    const arrival = this.#tables.get(tableId);
    if (arrival === undefined) this.#watch(tableId);
    else {
      this.#tables.delete(tableId);
      this.#tables.set(tableId, arrival);
    }
    return arrival || undefined;
  }

  send(message: FromNode): void {
    const { socket } = this.#parts;
    if (!socket.destroyed) writeCorked(socket, encodeFrame(message));
  }

  close(): void {
    this.#parts.socket.destroy();
  }

  #watch(tableId: number): void {
    const retryMs = this.#retryMs.get(tableId);
    if (retryMs !== undefined && this.#parts.clockMs() < retryMs) return;
    this.#retryMs.delete(tableId);
    this.#tables.set(tableId, 0);
    this.send({ kind: 'watch', tableId });
    const [oldest] = this.#tables.keys();
    const { watchedMax = WATCHED_MAX } = this.#parts;
    if (this.#tables.size <= watchedMax || oldest === undefined) return;
    this.#tables.delete(oldest);
    this.send({ kind: 'unwatch', tableId: oldest });
    this.#parts.forgotten(oldest);
  }

  #forget(tableId: number): void {
    this.#tables.delete(tableId);
    this.#parts.forgotten(tableId);
    if (this.#retryMs.size >= WATCHED_MAX) this.#retryMs.clear();
    this.#retryMs.set(tableId, this.#parts.clockMs() + REWATCH_DELAY_MS);
  }

  async #receive(): Promise<void> {
    const { socket } = this.#parts;
    socket.on('error', () => undefined);
    const heartbeat = setInterval(() => this.#sendHeartbeat(), HEARTBEAT_MS);
    this.#sendHeartbeat();
    try {
      for await (const message of decodeFrames(socket)) this.#handle(message as ToNode);
    } catch {
      // Only the end of the connection matters.
    }
    clearInterval(heartbeat);
    this.#sureUntilMs = -Infinity;
    socket.destroy();
    this.#welcome.reject(new Error('the connection ended'));
    await this.#queue;
  }

  #sendHeartbeat(): void {
    const id = (this.#lastHeartbeat += 1);
    this.#heartbeats.set(id, this.#parts.clockMs());
    const [oldest] = this.#heartbeats.keys();
    if (this.#heartbeats.size > LEASE_MS / HEARTBEAT_MS && oldest !== undefined)
      this.#heartbeats.delete(oldest);
    this.send({ kind: 'ask', id });
  }

  #handle(message: ToNode): void {
    if (message.kind === 'quiet') {
      const { id, tableIds } = message;
      this.#paused.set(id, tableIds && new Set(tableIds));
      this.send({ kind: 'confirm', id });
    } else if (message.kind === 'sure') {
      const sentMs = this.#heartbeats.get(message.id);
      if (sentMs !== undefined) this.#sureUntilMs = sentMs + LEASE_MS;
    } else if (message.kind === 'welcome') this.#welcome.resolve(message.snapshot);
    else if (message.kind === 'lease') this.#parts.lease(message.message);
    else this.#enqueue(message);
  }

  /** Queues messages and ends of pauses behind all earlier ones. */
  #enqueue(message: StateMessage | Extract<ToNode, { readonly kind: 'resume' }>): void {
    this.#queued += 1;
    if (this.#queued > WAITING_MAX) return this.close();
    this.#queue = this.#queue.then(async () => {
      if (this.#parts.socket.destroyed) return;
      try {
        await this.#apply(message);
      } catch {
        // The state differs from the messages: the replica reconnects and starts over.
        this.close();
      }
      this.#queued -= 1;
    });
  }

  async #apply(
    message: StateMessage | Extract<ToNode, { readonly kind: 'resume' }>,
  ): Promise<void> {
    if (message.kind === 'resume') {
      this.#paused.delete(message.id);
      for (const resolve of this.#waiters) resolve();
      return;
    }
    await this.#parts.apply(message);
    if (message.kind === 'forgotten') this.#forget(message.tableId);
    if (message.kind !== 'table') return;
    const { tableId } = message.pending;
    if (this.#tables.has(tableId)) this.#tables.set(tableId, (this.#arrivals += 1));
  }
}
