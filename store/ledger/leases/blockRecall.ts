// Recalls blocks before a call of their account is refused.
import type { StartTimer } from './timer.ts';
import type { IssuedBlock, IssuedBlocks } from './issuedBlocks.ts';

/** Pause of leasing to an account after a recall: waiting calls come first. */
const HOLD_OFF_MS = 250;

interface RecallParts {
  readonly after: StartTimer;
  readonly nowMs: () => number;
  readonly issued: IssuedBlocks;
  /** Sends the recall to the node that has the blocks. */
  readonly recall: (lessee: string, blocks: readonly number[]) => void;
  /** Closes expired leases. */
  readonly sweep: () => void;
}

interface Recall {
  /** Blocks without an answer yet. */
  readonly open: Set<IssuedBlock>;
  readonly done: PromiseWithResolvers<void>;
  readonly stopWait: () => void;
}

export class BlockRecall {
  readonly #parts: RecallParts;
  /** By account. */
  readonly #open = new Map<string, Recall>();
  /** End of the leasing pause, by account. */
  readonly #blockedUntilMs = new Map<string, number>();

  constructor(parts: RecallParts) {
    this.#parts = parts;
  }

  /** Whether leasing to the account is paused. */
  isBlocked(accountId: string): boolean {
    if (this.#open.has(accountId)) return true;
    const untilMs = this.#blockedUntilMs.get(accountId) ?? -Infinity;
    if (untilMs > this.#parts.nowMs()) return true;
    this.#blockedUntilMs.delete(accountId);
    return false;
  }

  /**
   * Resolves when all messages that running calls of other nodes don't hold are returned, or their leases
   * have expired.
   */
  recallAccount(accountId: string): Promise<void> {
    const existing = this.#open.get(accountId);
    if (existing !== undefined) return existing.done.promise;
    const issued = this.#parts.issued
      .listByAccount(accountId)
      .filter(({ state }) => state !== 'held');
    // Running calls hold all leased messages, as calls of this node may too.
    if (issued.length === 0) return Promise.resolve();
    const nowMs = this.#parts.nowMs();
    const lastMs = issued.reduce((last, { untilMs }) => Math.max(last, untilMs), nowMs);
    const stopWait = this.#parts.after(lastMs - nowMs + 1, () => this.#parts.sweep());
    const recall = { open: new Set(issued), done: Promise.withResolvers<void>(), stopWait };
    this.#open.set(accountId, recall);
    this.recall(issued);
    return recall.done.promise;
  }

  /** Recalls blocks, also if no call waits. */
  recall(issued: readonly IssuedBlock[]): void {
    const unrecalled = issued.filter(({ state }) => state === 'leased');
    for (const [lessee, own] of Map.groupBy(unrecalled, (block) => block.lessee)) {
      for (const block of own) block.state = 'recalled';
      this.#parts.recall(
        lessee,
        own.map(({ id }) => id),
      );
    }
  }

  /** Records that a block's unused messages were returned. */
  settle(issued: IssuedBlock): void {
    const { accountId } = issued.caller;
    const recall = this.#open.get(accountId);
    if (recall === undefined || !recall.open.delete(issued) || recall.open.size > 0) return;
    recall.stopWait();
    this.#open.delete(accountId);
    this.#blockedUntilMs.set(accountId, this.#parts.nowMs() + HOLD_OFF_MS);
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
