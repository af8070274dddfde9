// A node that answers reads beside the one that serves: what it was told, and whether it may answer now.
import type { Socket } from 'node:net';
import type { ToLessee } from '../ledger/leases/leaseMessages.ts';
import { frameOf, framesIn, writeTogether } from '../lent/frames.ts';
import { FORGOTTEN_MS, type FromNode, type News, SURE_MS, type ToNode } from './news.ts';

const ASK_MS = 250;
/** Tables that a node is told of; the one that was read longest ago goes. */
export const WATCHED_MAX = 100_000;
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
  /** Tables that it is told of; `WATCHED_MAX` unless a test says less. */
  readonly watchedMax?: number;
}

/** What a node knew at a moment. */
interface Known {
  /** How many tables it had been told of. */
  readonly arrivals: number;
  readonly changing: ReadonlySet<number>;
}

export class Following {
  readonly #parts: FollowingParts;
  /** Changes that are on their way, each with its tables or all. */
  readonly #quiet = new Map<number, ReadonlySet<number> | undefined>();
  /** The one that was read longest ago first; as which of all it was told of, 0 for not yet. */
  readonly #tables = new Map<number, number>();
  #arrivals = 0;
  /** Tables that it is not told of, and when it may ask for them again. */
  readonly #againMs = new Map<number, number>();
  readonly #asked = new Map<number, number>();
  #asks = 0;
  #sureUntilMs = -Infinity;
  #waiting: Promise<void> = Promise.resolve();
  #waits = 0;
  readonly #changed = new Set<() => void>();
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

  /** Whether it is told of all changes; while there is one, it waits for its end. */
  isSure(): boolean {
    return this.#isReady && this.#parts.clockMs() < this.#sureUntilMs;
  }

  /** Whether it may answer at this moment of the event loop. */
  isLive(): boolean {
    if (!this.isSure()) return false;
    if (this.#quiet.size === 0) return true;
    return [...this.#quiet.values()].every((tables) => tables !== undefined);
  }

  /** Something is on its way to be changed, and known soon. */
  isChanging(): boolean {
    return this.isSure() && this.#quiet.size > 0;
  }

  /** Resolves when a change has ended, or after so long. */
  changed(withinMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, withinMs);
    this.#changed.add(resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#changed.delete(resolve);
    });
  }

  /** Whether it may, of a table too; where it is not told of it, it asks for it. */
  isLiveFor(tableId: number): boolean {
    if (!this.#arrivalOf(tableId) || !this.isLive()) return false;
    if (this.#quiet.size === 0) return true;
    return [...this.#quiet.values()].every((tables) => tables?.has(tableId) === false);
  }

  /** This moment, unless all is changing: what is read as of it, of tables that did not change, is stored. */
  moment(): Known | undefined {
    if (!this.isLive()) return undefined;
    const changing = new Set([...this.#quiet.values()].flatMap((tables) => [...(tables ?? [])]));
    return { arrivals: this.#arrivals, changing };
  }

  /** What was known of a table then; where it was never told of it, it asks for it. */
  knew(tableId: number, { arrivals, changing }: Known): 'all' | 'changing' | 'nothing' {
    const arrival = this.#arrivalOf(tableId);
    if (arrival === undefined || arrival > arrivals) return 'nothing';
    return changing.has(tableId) ? 'changing' : 'all';
  }

  /** As which of all it was told of it. */
  #arrivalOf(tableId: number): number | undefined {
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
    if (!socket.destroyed) writeTogether(socket, frameOf(message));
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
    const { watchedMax = WATCHED_MAX } = this.#parts;
    if (this.#tables.size <= watchedMax || oldest === undefined) return;
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
      for (const resolve of this.#changed) resolve();
      return;
    }
    await this.#parts.apply(message);
    if (message.kind === 'forgotten') this.#forget(message.tableId);
    if (message.kind !== 'table') return;
    const { tableId } = message.pending;
    if (this.#tables.has(tableId)) this.#tables.set(tableId, (this.#arrivals += 1));
  }
}
