// Tracks the open streams of a server, limits their number, and runs their periodic checks.
import type { Clock } from '../../store/base/clock.ts';
import { Failure, SERVER_STOPPING } from '../../store/base/failure.ts';
import type { EndReason, StreamConnection } from './connection.ts';

/** Maximum streams of the server, and of one account. */
const STREAMS_MAX = 12_000;
const ACCOUNT_STREAMS_MAX = 2_000;
const CHECK_INTERVAL_MS = 1_000;

export interface OpenStream {
  readonly accountId: string;
  readonly connection: StreamConnection;
  /** Changes the subscription by query parameters of its endpoint. @throws Failure as opening does */
  readonly change: (query: Readonly<Record<string, readonly string[]>>) => Promise<void>;
  /** Switches to the current datasets; undefined if they have not changed. */
  readonly renew: () => Promise<void> | undefined;
}

interface OpenStreamParts {
  readonly clock: Clock;
  readonly onFault: (reason: unknown) => void;
}

export class OpenStreams {
  readonly #parts: OpenStreamParts;
  readonly #open = new Map<string, OpenStream>();
  readonly #byAccount = new Map<string, number>();
  readonly #ended = new Map<EndReason, number>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: OpenStreamParts) {
    this.#parts = parts;
  }

  /** @throws Failure Busy if a maximum is reached, or the server is stopping. */
  checkRoom(accountId: string): void {
    if (this.#isClosed) throw new Failure('Busy', SERVER_STOPPING);
    if (this.#open.size >= STREAMS_MAX) {
      throw new Failure('Busy', `the server has ${STREAMS_MAX} streams open, which is the most`);
    }
    if ((this.#byAccount.get(accountId) ?? 0) >= ACCOUNT_STREAMS_MAX) {
      throw new Failure('Busy', `the account has ${ACCOUNT_STREAMS_MAX} streams open, the most`);
    }
  }

  add(id: string, stream: OpenStream): void {
    const { accountId } = stream;
    this.#open.set(id, stream);
    this.#byAccount.set(accountId, (this.#byAccount.get(accountId) ?? 0) + 1);
    this.#timer ??= setInterval(() => this.#checkAll(), CHECK_INTERVAL_MS).unref();
  }

  remove(id: string, reason: EndReason): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    const left = (this.#byAccount.get(open.accountId) ?? 1) - 1;
    if (left > 0) this.#byAccount.set(open.accountId, left);
    else this.#byAccount.delete(open.accountId);
    this.#ended.set(reason, (this.#ended.get(reason) ?? 0) + 1);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Finds a stream of the account; undefined if it is not open, or belongs to another account. */
  find(id: string, accountId: string): OpenStream | undefined {
    const open = this.#open.get(id);
    return open?.accountId === accountId ? open : undefined;
  }

  state(): { readonly open: number; readonly ended: ReadonlyMap<EndReason, number> } {
    return { open: this.#open.size, ended: this.#ended };
  }

  /** Ends all streams and refuses new ones. */
  close(): void {
    this.#isClosed = true;
    for (const { connection } of Array.from(this.#open.values())) connection.end('stopping');
    clearInterval(this.#timer);
  }

  #checkAll(): void {
    const nowMs = this.#parts.clock();
    for (const { connection, renew } of Array.from(this.#open.values())) {
      connection.check(nowMs);
      void renew()?.catch((error: unknown) => {
        if (error instanceof Failure) return connection.end('permission');
        connection.end('source');
        this.#parts.onFault(error);
      });
    }
  }
}
