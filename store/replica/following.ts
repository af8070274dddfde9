// A node that answers reads beside the one that serves: what it was told, and whether it may answer now.
import type { Socket } from 'node:net';
import type { ToLessee } from '../leases/leaseMessages.ts';
import { frameOf, framesIn } from '../lent/frames.ts';
import { FORGOTTEN_MS, type FromNode, type News, SURE_MS, type ToNode } from './news.ts';

const ASK_MS = 250;
/** Tables that a node is told of; the one that was asked for longest ago goes. */
export const WATCHED_MAX = 10_000;
/** News that wait for what was told before; past it the node begins anew. */
const WAITING_MAX = 100_000;

interface FollowingParts {
  readonly socket: Socket;
  /** Monotonic. */
  readonly clockMs: () => number;
  /** Brings what this node knows up to the news; one after the other. */
  readonly apply: (news: News) => void | Promise<void>;
  /** What is said of leases. */
  readonly lease: (message: ToLessee) => void;
  /** A table is not told of any more. */
  readonly forgotten: (tableId: number) => void;
}

export class Following {
  readonly #parts: FollowingParts;
  /** Changes that are on their way, each with its tables or all. */
  readonly #quiet = new Map<number, ReadonlySet<number> | undefined>();
  /** The one that was asked for longest ago first; as which of all it was told of, 0 for not yet. */
  readonly #tables = new Map<number, number>();
  #arrivals = 0;
  /** Tables that it is not told of, and when it may ask for them again. */
  readonly #againMs = new Map<number, number>();
  readonly #asked = new Map<number, number>();
  #asks = 0;
  #sureUntilMs = -Infinity;
  #waiting: Promise<void> = Promise.resolve();
  #waits = 0;
  #isReady = false;
  readonly #welcome = Promise.withResolvers<number>();
  /** Resolves once the connection is gone. */
  readonly ended: Promise<void>;

  constructor(parts: FollowingParts) {
    this.#parts = parts;
    this.#welcome.promise.catch(() => undefined);
    this.ended = this.#hear();
  }

  /** Id of the snapshot from which on it is told. @throws Error where the connection ended before */
  get welcome(): Promise<number> {
    return this.#welcome.promise;
  }

  /** Whatever was told until it was welcome is known now. */
  ready(): void {
    this.#isReady = true;
  }

  /** Whether it may answer at this moment of the event loop. */
  isLive(): boolean {
    if (!this.#isReady || this.#parts.clockMs() >= this.#sureUntilMs) return false;
    if (this.#quiet.size === 0) return true;
    return [...this.#quiet.values()].every((tables) => tables !== undefined);
  }

  /** Whether it may, of a table too; where it is not told of it, it asks for it. */
  isLiveFor(tableId: number): boolean {
    const arrival = this.#tables.get(tableId);
    if (arrival === undefined) this.#watch(tableId);
    if (!arrival || !this.isLive()) return false;
    if (this.#quiet.size === 0) return true;
    return [...this.#quiet.values()].every((tables) => tables?.has(tableId) === false);
  }

  /** This moment, where nothing is changing; what is read as of it is what is stored. */
  moment(): number | undefined {
    return this.isLive() && this.#quiet.size === 0 ? this.#arrivals : undefined;
  }

  /** Whether it was told of a table by then; where it was never told of it, it asks for it. */
  knew(tableId: number, moment: number): boolean {
    const arrival = this.#tables.get(tableId);
    if (arrival === undefined) this.#watch(tableId);
    return arrival !== undefined && arrival > 0 && arrival <= moment;
  }

  send(message: FromNode): void {
    const { socket } = this.#parts;
    if (!socket.destroyed) socket.write(frameOf(message));
  }

  close(): void {
    this.#parts.socket.destroy();
  }

  #watch(tableId: number): void {
    const againMs = this.#againMs.get(tableId);
    if (againMs !== undefined && this.#parts.clockMs() < againMs) return;
    this.#againMs.delete(tableId);
    this.#tables.set(tableId, 0);
    this.send({ kind: 'watch', tableId });
    const [oldest] = this.#tables.keys();
    if (this.#tables.size <= WATCHED_MAX || oldest === undefined) return;
    this.#tables.delete(oldest);
    this.send({ kind: 'unwatch', tableId: oldest });
    this.#parts.forgotten(oldest);
  }

  #forget(tableId: number): void {
    this.#tables.delete(tableId);
    this.#parts.forgotten(tableId);
    if (this.#againMs.size >= WATCHED_MAX) this.#againMs.clear();
    this.#againMs.set(tableId, this.#parts.clockMs() + FORGOTTEN_MS);
  }

  async #hear(): Promise<void> {
    const { socket } = this.#parts;
    socket.on('error', () => undefined);
    const asking = setInterval(() => this.#ask(), ASK_MS);
    this.#ask();
    try {
      for await (const message of framesIn(socket)) this.#take(message as ToNode);
    } catch {
      // Its end is what counts.
    }
    clearInterval(asking);
    this.#sureUntilMs = -Infinity;
    socket.destroy();
    this.#welcome.reject(new Error('the connection ended'));
    await this.#waiting;
  }

  #ask(): void {
    const id = (this.#asks += 1);
    this.#asked.set(id, this.#parts.clockMs());
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > SURE_MS / ASK_MS && oldest !== undefined) this.#asked.delete(oldest);
    this.send({ kind: 'ask', id });
  }

  #take(message: ToNode): void {
    if (message.kind === 'quiet') {
      const { id, tableIds } = message;
      this.#quiet.set(id, tableIds && new Set(tableIds));
      this.send({ kind: 'confirm', id });
    } else if (message.kind === 'sure') {
      const askedMs = this.#asked.get(message.id);
      if (askedMs !== undefined) this.#sureUntilMs = askedMs + SURE_MS;
    } else if (message.kind === 'welcome') this.#welcome.resolve(message.snapshot);
    else if (message.kind === 'lease') this.#parts.lease(message.message);
    else this.#later(message);
  }

  /** News, and the ends of being quiet, wait for what is told before them. */
  #later(message: News | Extract<ToNode, { readonly kind: 'resume' }>): void {
    this.#waits += 1;
    if (this.#waits > WAITING_MAX) return this.close();
    this.#waiting = this.#waiting.then(async () => {
      if (this.#parts.socket.destroyed) return;
      try {
        await this.#apply(message);
      } catch {
        // What it knows is not what it was told: it begins anew.
        this.close();
      }
      this.#waits -= 1;
    });
  }

  async #apply(message: News | Extract<ToNode, { readonly kind: 'resume' }>): Promise<void> {
    if (message.kind === 'resume') {
      this.#quiet.delete(message.id);
      return;
    }
    await this.#parts.apply(message);
    if (message.kind === 'forgotten') this.#forget(message.tableId);
    if (message.kind !== 'table') return;
    const { tableId } = message.pending;
    if (this.#tables.has(tableId)) this.#tables.set(tableId, (this.#arrivals += 1));
  }
}
