// Blocks that are called home before a call of their account is refused.
import type { After } from './after.ts';
import type { Lent, LentBlocks } from './lentBlocks.ts';

/** After a recall nothing is lent to the account for so long: who waited comes first. */
const KEEP_MS = 250;

interface RecallParts {
  readonly after: After;
  readonly nowMs: () => number;
  readonly lent: LentBlocks;
  /** Told to the node that has them. */
  readonly recall: (lessee: string, blocks: readonly number[]) => void;
  /** Ended leases come home. */
  readonly sweep: () => void;
}

interface Recall {
  /** That were not told of yet. */
  readonly open: Set<Lent>;
  readonly done: PromiseWithResolvers<void>;
  readonly stopWait: () => void;
}

export class Recalls {
  readonly #parts: RecallParts;
  /** By account. */
  readonly #open = new Map<string, Recall>();
  /** Until when nothing is lent, by account. */
  readonly #keptUntilMs = new Map<string, number>();

  constructor(parts: RecallParts) {
    this.#parts = parts;
  }

  /** Whether nothing is to be lent to the account now. */
  keeps(accountId: string): boolean {
    if (this.#open.has(accountId)) return true;
    const untilMs = this.#keptUntilMs.get(accountId) ?? -Infinity;
    if (untilMs > this.#parts.nowMs()) return true;
    this.#keptUntilMs.delete(accountId);
    return false;
  }

  /** Resolves when what calls of other nodes do not hold is home, or its lease has ended. */
  callHome(accountId: string): Promise<void> {
    const known = this.#open.get(accountId);
    if (known !== undefined) return known.done.promise;
    const lent = this.#parts.lent.ofAccount(accountId).filter(({ state }) => state !== 'held');
    // All that is lent is held by calls that run, as this node's own may be.
    if (lent.length === 0) return Promise.resolve();
    const nowMs = this.#parts.nowMs();
    const lastMs = lent.reduce((last, { untilMs }) => Math.max(last, untilMs), nowMs);
    const stopWait = this.#parts.after(lastMs - nowMs + 1, () => this.#parts.sweep());
    const recall = { open: new Set(lent), done: Promise.withResolvers<void>(), stopWait };
    this.#open.set(accountId, recall);
    this.recall(lent);
    return recall.done.promise;
  }

  /** They come home, whoever waits. */
  recall(lent: readonly Lent[]): void {
    const uncalled = lent.filter(({ state }) => state === 'lent');
    for (const [lessee, own] of Map.groupBy(uncalled, (one) => one.lessee)) {
      for (const one of own) one.state = 'called';
      this.#parts.recall(
        lessee,
        own.map(({ id }) => id),
      );
    }
  }

  /** What its node does not need is home. */
  answered(lent: Lent): void {
    const { accountId } = lent.caller;
    const recall = this.#open.get(accountId);
    if (recall === undefined || !recall.open.delete(lent) || recall.open.size > 0) return;
    recall.stopWait();
    this.#open.delete(accountId);
    this.#keptUntilMs.set(accountId, this.#parts.nowMs() + KEEP_MS);
    recall.done.resolve();
  }

  close(): void {
    for (const { done, stopWait } of this.#open.values()) {
      stopWait();
      done.resolve();
    }
    this.#open.clear();
  }
}
