// Represents one read replica on the serving node.
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFrame, decodeFrames, writeCorked } from '../remote/frames.ts';
import { type FromNode, LEASE_MS, type ToNode } from './messages.ts';

/** Allowance for clock drift between two nodes. */
const MARGIN_MS = 100;
/** A replica that leaves a pause unconfirmed for this time gets no extension of its lease. */
const DEAF_MS = 500;
/** Limit of unread bytes; above it the replica is disconnected. */
const UNREAD_BYTES_MAX = 64 * 1024 ** 2;
/** Errors that prove that the other end is closed too: its process ended, or closed the socket. */
const ENDED = new Set(['ECONNRESET', 'EPIPE']);

interface FollowerParts {
  readonly socket: Socket;
  /** Monotonic. */
  readonly clockMs: () => number;
  /** Whether this node certainly still serves. */
  readonly isSure: () => boolean;
  readonly take: (message: FromNode) => void;
}

export class Follower {
  readonly watchedTables = new Set<number>();
  readonly #parts: FollowerParts;
  /** Unconfirmed pauses. */
  readonly #pauses = new Map<number, { readonly confirm: () => void; readonly sinceMs: number }>();
  /** When the latest confirmed heartbeat arrived. */
  #leaseFromMs = -Infinity;
  #isGone = false;
  /** Resolves once the replica certainly answers nothing any more. */
  readonly disconnected: Promise<void>;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.disconnected = this.#receive();
  }

  send(message: ToNode): void {
    this.sendFrame(encodeFrame(message));
  }

  /** Sends an encoded message that several replicas share. */
  sendFrame(frame: Buffer): void {
    const { socket } = this.#parts;
    if (socket.destroyed) return;
    writeCorked(socket, frame);
    if (socket.writableLength > UNREAD_BYTES_MAX) socket.destroy(new Error('it does not read'));
  }

  /** Resolves once the replica has paused or is disconnected. */
  async pause(id: number, tableIds: readonly number[] | undefined): Promise<void> {
    if (this.#isGone) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pauses.set(id, { confirm: resolve, sinceMs: this.#parts.clockMs() });
    this.send({ kind: 'quiet', id, tableIds });
    const timer = setTimeout(() => this.#expire(), this.#leaseLeftMs());
    await Promise.race([promise, this.disconnected]);
    clearTimeout(timer);
    this.#pauses.delete(id);
  }

  /** Closes the connection gracefully; a replica that does not notice is disconnected when its lease ends. */
  close(): void {
    const { socket } = this.#parts;
    socket.end();
    setTimeout(() => socket.destroy(), this.#leaseLeftMs());
  }

  /** Remaining time of its lease. */
  #leaseLeftMs(): number {
    const { clockMs } = this.#parts;
    return Math.max(0, this.#leaseFromMs + LEASE_MS + MARGIN_MS - clockMs());
  }

  /** Disconnects a replica whose lease has expired: it answers nothing then. */
  #expire(): void {
    if (this.#leaseLeftMs() === 0) this.#parts.socket.destroy();
    else setTimeout(() => this.#expire(), this.#leaseLeftMs());
  }

  async #receive(): Promise<void> {
    const { socket } = this.#parts;
    let isEnded = false;
    socket.on('error', (error: Error & { readonly code?: string }) => {
      isEnded ||= ENDED.has(error.code ?? '');
    });
    try {
      for await (const message of decodeFrames(socket)) this.#handle(message as FromNode);
      isEnded = true;
    } catch {
      // Only the end of the connection matters.
    }
    socket.destroy();
    if (!isEnded && this.#leaseLeftMs() > 0) await sleep(this.#leaseLeftMs());
    this.#isGone = true;
  }

  #handle(message: FromNode): void {
    const { clockMs, isSure, take } = this.#parts;
    if (message.kind === 'ask') {
      if (!isSure() || this.#isDeaf()) return;
      this.#leaseFromMs = clockMs();
      this.send({ kind: 'sure', id: message.id });
    } else if (message.kind === 'confirm') this.#pauses.get(message.id)?.confirm();
    else take(message);
  }

  /** Whether it sends heartbeats but does not confirm pauses: one direction may be broken. */
  #isDeaf(): boolean {
    const [oldest] = this.#pauses.values();
    return oldest !== undefined && this.#parts.clockMs() - oldest.sinceMs > DEAF_MS;
  }
}
