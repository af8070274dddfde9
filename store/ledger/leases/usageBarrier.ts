// Waits until replicas have reported their delivered calls, before usage is returned.
import type { StartTimer } from './timer.ts';
import type { ToLessee } from './leaseMessages.ts';

/** Maximum wait for a silent node: it spends nothing meanwhile. */
const SILENT_MS = 1_000;

interface Participant {
  readonly send: (message: ToLessee) => void;
}

interface PendingBarrier {
  /** Participants without an answer yet. */
  readonly open: Set<Participant>;
  readonly done: PromiseWithResolvers<void>;
  readonly stopWait: () => void;
}

export class UsageBarrier {
  readonly #after: StartTimer;
  readonly #open = new Map<number, PendingBarrier>();
  #last = 0;

  constructor(after: StartTimer) {
    this.#after = after;
  }

  /** Resolves when each participant has reported its earlier calls, is disconnected, or is silent. */
  wait(participants: readonly Participant[]): Promise<void> {
    if (participants.length === 0) return Promise.resolve();
    this.#last += 1;
    const id = this.#last;
    const stopWait = this.#after(SILENT_MS, () => this.#end(id));
    const done = Promise.withResolvers<void>();
    this.#open.set(id, { open: new Set(participants), done, stopWait });
    for (const participant of participants) participant.send({ kind: 'tell', telling: id });
    return done.promise;
  }

  acknowledge(participant: Participant, id: number): void {
    const pending = this.#open.get(id);
    if (pending?.open.delete(participant) === true && pending.open.size === 0) this.#end(id);
  }

  /** Removes a disconnected participant. */
  remove(participant: Participant): void {
    for (const id of this.#open.keys()) this.acknowledge(participant, id);
  }

  close(): void {
    for (const id of this.#open.keys()) this.#end(id);
  }

  #end(id: number): void {
    const pending = this.#open.get(id);
    this.#open.delete(id);
    pending?.stopWait();
    pending?.done.resolve();
  }
}
