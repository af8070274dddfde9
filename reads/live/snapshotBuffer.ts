// Buffers messages between the moment of a stream's first messages and its opening; they are sent after them.
import type { Batch } from '../../store/bus/batch.ts';
import type { Group, Subscriber, Subscription } from '../../store/bus/group.ts';
import type { Hub } from '../../store/bus/hub.ts';

/** Maximum messages that wait for the opening. */
const MESSAGES_MAX = 10_000;

export class SnapshotBuffer implements Subscriber {
  readonly group: Group;
  readonly #hub: Hub;
  #batches: Batch[] = [];
  #messages = 0;
  #target: Subscriber | undefined;

  constructor(hub: Hub, subscription: Subscription) {
    this.#hub = hub;
    this.group = hub.join(subscription, this);
  }

  get queuedBytes(): number {
    return this.#target?.queuedBytes ?? 0;
  }

  take(batch: Batch): void {
    if (this.#target !== undefined) return this.#target.take(batch);
    this.#messages += batch.frames.length;
    if (this.#messages <= MESSAGES_MAX) this.#batches.push(batch);
  }

  /** Forwards all further messages to the target. @returns buffered messages; undefined after an overflow */
  open(target: Subscriber): readonly Batch[] | undefined {
    this.#target = target;
    const batches = this.#batches;
    this.#batches = [];
    return this.#messages > MESSAGES_MAX ? undefined : batches;
  }

  /** Ends a buffer that is never opened. */
  drop(): void {
    this.#hub.leave(this.group, this);
    this.#batches = [];
  }
}
