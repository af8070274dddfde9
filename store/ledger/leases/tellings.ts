// Nodes that report what they delivered, before anybody is told what was used.
import type { After } from './after.ts';
import type { ToLessee } from './leaseMessages.ts';

/** A node that is silent for so long is not waited for: it spends nothing meanwhile. */
const SILENT_MS = 1_000;

interface Teller {
  readonly send: (message: ToLessee) => void;
}

interface Telling {
  /** Who did not answer yet. */
  readonly open: Set<Teller>;
  readonly done: PromiseWithResolvers<void>;
  readonly stopWait: () => void;
}

export class Tellings {
  readonly #after: After;
  readonly #open = new Map<number, Telling>();
  #last = 0;

  constructor(after: After) {
    this.#after = after;
  }

  /** Resolves when each of them has reported what it delivered before, is gone, or is silent. */
  ask(tellers: readonly Teller[]): Promise<void> {
    if (tellers.length === 0) return Promise.resolve();
    this.#last += 1;
    const telling = this.#last;
    const stopWait = this.#after(SILENT_MS, () => this.#end(telling));
    const done = Promise.withResolvers<void>();
    this.#open.set(telling, { open: new Set(tellers), done, stopWait });
    for (const teller of tellers) teller.send({ kind: 'tell', telling });
    return done.promise;
  }

  told(teller: Teller, telling: number): void {
    const known = this.#open.get(telling);
    if (known?.open.delete(teller) === true && known.open.size === 0) this.#end(telling);
  }

  /** It answers nothing any more. */
  gone(teller: Teller): void {
    for (const telling of this.#open.keys()) this.told(teller, telling);
  }

  close(): void {
    for (const telling of this.#open.keys()) this.#end(telling);
  }

  #end(telling: number): void {
    const known = this.#open.get(telling);
    this.#open.delete(telling);
    known?.stopWait();
    known?.done.resolve();
  }
}
