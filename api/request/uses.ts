// What goes over an address that was used: every byte once. The client that used it may ask for further
// ranges, one after the other, and for what a cut connection may have lost; nobody gets a byte that was
// handed over already. Kept in memory for the minute that an address lives: after a start of the server
// an address that was used is over.
import type { Part } from './ranges.ts';

/** Of what the network took, the most that may be lost when a connection is cut: buffers of both ends. */
const IN_FLIGHT_MAX = 16 * 1024 ** 2;
/** Answers over one address. */
const ANSWERS_MAX = 100;
/** Addresses in use that are remembered; past it the oldest may not be continued. */
const USES_MAX = 100_000;
/** Downloads of one account that run at once. */
export const RUNNING_MAX = 100;

interface Use {
  readonly client: string;
  readonly expiresMs: number;
  /** What was handed over. */
  readonly served: Part[];
  running: boolean;
  answers: number;
}

interface UseOrder {
  /** Of the address. */
  readonly hash: string;
  /** The address of the client's network. */
  readonly client: string;
  readonly part: Part;
  readonly nowMs: number;
}

export class Uses {
  readonly #uses = new Map<string, Use>();
  readonly #running = new Map<string, number>();

  /** Whether one more download of an account may run. */
  hasRoom(accountId: string): boolean {
    return (this.#running.get(accountId) ?? 0) < RUNNING_MAX;
  }

  /** Counts a running download; what ends it. */
  run(accountId: string): () => void {
    this.#running.set(accountId, (this.#running.get(accountId) ?? 0) + 1);
    return () => {
      const left = (this.#running.get(accountId) ?? 1) - 1;
      if (left > 0) this.#running.set(accountId, left);
      else this.#running.delete(accountId);
    };
  }

  /** The first use of an address, by who claimed it. @returns what is told how many bytes went. */
  begin(order: UseOrder, expiresMs: number): (handed: number) => void {
    const { client, hash, nowMs, part } = order;
    for (const [key, use] of this.#uses) {
      const isOver = use.expiresMs <= nowMs && !use.running;
      if (!isOver && this.#uses.size < USES_MAX) break;
      this.#uses.delete(key);
    }
    const use: Use = { client, expiresMs, served: [], running: false, answers: 0 };
    this.#uses.set(hash, use);
    return started(use, part);
  }

  /** A further part over an address that was used; undefined when it is not to be had. */
  continue({ client, hash, nowMs, part }: UseOrder): ((handed: number) => void) | undefined {
    const use = this.#uses.get(hash);
    if (use === undefined || use.client !== client || use.expiresMs <= nowMs) return undefined;
    if (use.running || use.answers >= ANSWERS_MAX) return undefined;
    if (use.served.some(({ end, start }) => start < part.end && part.start < end)) return undefined;
    return started(use, part);
  }
}

function started(use: Use, { end, start }: Part): (handed: number) => void {
  use.running = true;
  use.answers += 1;
  return (handed) => {
    use.running = false;
    if (handed === 0) return;
    const isWhole = handed >= end - start;
    // Whoever has the first byte has begun: from there no one begins again.
    const sure = Math.max(start + 1, start + handed - IN_FLIGHT_MAX);
    use.served.push({ start, end: isWhole ? end : sure });
  };
}
