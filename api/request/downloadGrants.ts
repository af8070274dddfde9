// Tracks downloads over a one-time address: every byte is sent once. The client that used the address may
// request further ranges, one after the other, and bytes that a broken connection may have lost; nobody
// receives a byte that was already delivered. The state is in memory for the minute that an address is valid:
// after a restart of the server a used address is invalid.
import type { ByteRange } from '../../reads/request/ranges.ts';

/** Maximum bytes handed to the network that a broken connection may lose: the buffers of both ends. */
const IN_FLIGHT_MAX = 16 * 1024 ** 2;
/** Maximum answers over one address. */
const ANSWERS_MAX = 100;
/** Maximum tracked addresses; above it the oldest can't be continued. */
const USES_MAX = 100_000;
/** Maximum concurrent downloads of one account. */
export const RUNNING_MAX = 100;

interface Use {
  readonly client: string;
  readonly expiresMs: number;
  /** Delivered ranges. */
  readonly servedParts: ByteRange[];
  running: boolean;
  answers: number;
}

interface UseOrder {
  /** The hash of the download address. */
  readonly hash: string;
  /** The address of the client's network. */
  readonly client: string;
  readonly part: ByteRange;
  readonly nowMs: number;
}

export class DownloadGrants {
  readonly #uses = new Map<string, Use>();
  readonly #running = new Map<string, number>();

  /** Whether one more download of an account may run. */
  hasRoom(accountId: string): boolean {
    return (this.#running.get(accountId) ?? 0) < RUNNING_MAX;
  }

  /** Counts a running download. @returns a function that ends it */
  run(accountId: string): () => void {
    this.#running.set(accountId, (this.#running.get(accountId) ?? 0) + 1);
    return () => {
      const left = (this.#running.get(accountId) ?? 1) - 1;
      if (left > 0) this.#running.set(accountId, left);
      else this.#running.delete(accountId);
    };
  }

  /** Starts the first use of an address by its client. @returns a function to call with the bytes sent */
  begin(order: UseOrder, expiresMs: number): (bytesSent: number) => void {
    const { client, hash, nowMs, part } = order;
    for (const [key, use] of this.#uses) {
      const isOver = use.expiresMs <= nowMs && !use.running;
      if (!isOver && this.#uses.size < USES_MAX) break;
      this.#uses.delete(key);
    }
    const use: Use = { client, expiresMs, servedParts: [], running: false, answers: 0 };
    this.#uses.set(hash, use);
    return startUse(use, part);
  }

  /** Starts a further part over a used address; undefined if it is refused. */
  continue({ client, hash, nowMs, part }: UseOrder): ((bytesSent: number) => void) | undefined {
    const use = this.#uses.get(hash);
    if (use === undefined || use.client !== client || use.expiresMs <= nowMs) return undefined;
    if (use.running || use.answers >= ANSWERS_MAX) return undefined;
    if (use.servedParts.some(({ end, start }) => start < part.end && part.start < end))
      return undefined;
    return startUse(use, part);
  }
}

function startUse(use: Use, { end, start }: ByteRange): (bytesSent: number) => void {
  use.running = true;
  use.answers += 1;
  return (bytesSent) => {
    use.running = false;
    if (bytesSent === 0) return;
    const isWhole = bytesSent >= end - start;
    // A client that received the first byte has begun: nobody may start from there again.
    const receivedEnd = Math.max(start + 1, start + bytesSent - IN_FLIGHT_MAX);
    use.servedParts.push({ start, end: isWhole ? end : receivedEnd });
  };
}
