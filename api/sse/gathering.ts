// What is told between the moment of a stream's first messages and its opening: it comes behind them.
import type { Batch } from '../../store/bus/batch.ts';
import type { Group, Subscriber, Subscription } from '../../store/bus/group.ts';
import type { Hub } from '../../store/bus/hub.ts';

/** Messages that wait for the opening. */
const MESSAGES_MAX = 10_000;

export class Gathering implements Subscriber {
  readonly group: Group;
  readonly #hub: Hub;
  #batches: Batch[] = [];
  #messages = 0;
  #target: Subscriber | undefined;

  constructor(hub: Hub, subscription: Subscription) {
    this.#hub = hub;
    this.group = hub.join(subscription, this);
  }

  get behind(): number {
    return this.#target?.behind ?? 0;
  }

  take(batch: Batch): void {
    if (this.#target !== undefined) return this.#target.take(batch);
    this.#messages += batch.frames.length;
    if (this.#messages <= MESSAGES_MAX) this.#batches.push(batch);
  }

  /** From here on the target takes all itself. @returns undefined where more came than is kept */
  open(target: Subscriber): readonly Batch[] | undefined {
    this.#target = target;
    const batches = this.#batches;
    this.#batches = [];
    return this.#messages > MESSAGES_MAX ? undefined : batches;
  }

  /** Nobody opens it. */
  drop(): void {
    this.#hub.leave(this.group, this);
    this.#batches = [];
  }
}
