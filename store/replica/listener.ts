// One node that answers reads, as the node that serves knows it.
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { frameOf, framesIn, writeTogether } from '../lent/frames.ts';
import { type FromNode, SURE_MS, type ToNode } from './news.ts';

/** Two clocks may not go equally fast. */
const MARGIN_MS = 100;
/** One that does not confirm for so long is not told that it may go on. */
const DEAF_MS = 500;
/** What waits for a node that does not read; past it the node is let go. */
const UNREAD_BYTES_MAX = 64 * 1024 ** 2;
/** Ends of a connection by which its other end is gone as well: its process ended, or closed it. */
const ENDED = new Set(['ECONNRESET', 'EPIPE']);

interface ListenerParts {
  readonly socket: Socket;
  /** Monotonic. */
  readonly clockMs: () => number;
  /** Whether this node still is the one that serves, as far as it can know. */
  readonly isSure: () => boolean;
  readonly take: (message: FromNode) => void;
}

export class Listener {
  readonly watched = new Set<number>();
  readonly #parts: ListenerParts;
  /** Those that it has not confirmed, and since when. */
  readonly #quiet = new Map<number, { readonly confirm: () => void; readonly sinceMs: number }>();
  /** When it asked last and was told that it is sure. */
  #sureMs = -Infinity;
  #isGone = false;
  /** Resolves once it answers nothing by itself any more. */
  readonly gone: Promise<void>;

  constructor(parts: ListenerParts) {
    this.#parts = parts;
    this.gone = this.#hear();
  }

  send(message: ToNode): void {
    this.sendFrame(frameOf(message));
  }

  /** A message that several are told. */
  sendFrame(frame: Buffer): void {
    const { socket } = this.#parts;
    if (socket.destroyed) return;
    writeTogether(socket, frame);
    if (socket.writableLength > UNREAD_BYTES_MAX) socket.destroy(new Error('it does not read'));
  }

  /** Resolves once it is quiet, or is gone. */
  async quiet(id: number, tableIds: readonly number[] | undefined): Promise<void> {
    if (this.#isGone) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#quiet.set(id, { confirm: resolve, sinceMs: this.#parts.clockMs() });
    this.send({ kind: 'quiet', id, tableIds });
    const late = setTimeout(() => this.#expire(), this.#leftMs());
    await Promise.race([promise, this.gone]);
    clearTimeout(late);
    this.#quiet.delete(id);
  }

  /** Tells it the end; where it does not hear that, it is gone once it can not be sure any more. */
  close(): void {
    const { socket } = this.#parts;
    socket.end();
    setTimeout(() => socket.destroy(), this.#leftMs());
  }

  /** How long it may go on answering without a word from here. */
  #leftMs(): number {
    const { clockMs } = this.#parts;
    return Math.max(0, this.#sureMs + SURE_MS + MARGIN_MS - clockMs());
  }

  /** Where it was not heard for so long: it may be anywhere, and answers nothing. */
  #expire(): void {
    if (this.#leftMs() === 0) this.#parts.socket.destroy();
    else setTimeout(() => this.#expire(), this.#leftMs());
  }

  async #hear(): Promise<void> {
    const { socket } = this.#parts;
    let isEnded = false;
    socket.on('error', (error: Error & { readonly code?: string }) => {
      isEnded ||= ENDED.has(error.code ?? '');
    });
    try {
      for await (const message of framesIn(socket)) this.#take(message as FromNode);
      isEnded = true;
    } catch {
      // Its end is what counts.
    }
    socket.destroy();
    if (!isEnded && this.#leftMs() > 0) await sleep(this.#leftMs());
    this.#isGone = true;
  }

  #take(message: FromNode): void {
    const { clockMs, isSure, take } = this.#parts;
    if (message.kind === 'ask') {
      if (!isSure() || this.#isDeaf()) return;
      this.#sureMs = clockMs();
      this.send({ kind: 'sure', id: message.id });
    } else if (message.kind === 'confirm') this.#quiet.get(message.id)?.confirm();
    else take(message);
  }

  /** It may be heard, and not hear. */
  #isDeaf(): boolean {
    const [oldest] = this.#quiet.values();
    return oldest !== undefined && this.#parts.clockMs() - oldest.sinceMs > DEAF_MS;
  }
}
