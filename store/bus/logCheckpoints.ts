// The checkpoints of topics: up to which stored data their messages are complete. A checkpoint is written
// after all messages before it are in the log, so that another node never reads one ahead of the messages.
import type { LogPosition } from './logPosition.ts';

interface Pending {
  readonly checkpoint: string;
  /** Messages with lower ordinals belong to it. */
  readonly endOrdinal: number;
  last: LogPosition;
}

interface Checkpoint {
  readonly topic: string;
  readonly checkpoint: string;
  /** Position of the last message that belongs to it. */
  readonly last: LogPosition;
}

export class LogCheckpoints {
  /** The oldest and the latest checkpoint of each topic: the latest replaces those between. */
  readonly #pending = new Map<string, Pending[]>();
  readonly #ready = new Map<string, Checkpoint>();

  get hasReady(): boolean {
    return this.#ready.size > 0;
  }

  has(topic: string): boolean {
    return this.#pending.has(topic) || this.#ready.has(topic);
  }

  /** @param endOrdinal of the next message @param last position of the topic's latest message in the log */
  add(topic: string, checkpoint: string, endOrdinal: number, last: LogPosition): void {
    const [oldest] = this.#pending.get(topic) ?? [];
    const newest = { checkpoint, endOrdinal, last };
    this.#pending.set(topic, oldest === undefined ? [newest] : [oldest, newest]);
  }

  /** Records that a message of the topic is in the log. */
  recordLogged(topic: string, ordinal: number, place: LogPosition): void {
    for (const pending of this.#pending.get(topic) ?? []) {
      if (ordinal < pending.endOrdinal) pending.last = place;
    }
  }

  /** Records that all messages with lower ordinals were sent. */
  recordSent(ordinal: number): void {
    for (const [topic, all] of this.#pending) {
      const [oldest, newest] = all;
      if (oldest === undefined || oldest.endOrdinal > ordinal) continue;
      const { last, checkpoint } =
        newest !== undefined && newest.endOrdinal <= ordinal ? newest : oldest;
      this.#ready.set(topic, { topic, checkpoint, last });
      const rest = all.filter(({ endOrdinal }) => endOrdinal > ordinal);
      if (rest.length === 0) this.#pending.delete(topic);
      else this.#pending.set(topic, rest);
    }
  }

  /** Removes and returns the checkpoints that are ready to be written. */
  takeReady(): readonly Checkpoint[] {
    const ready = [...this.#ready.values()];
    this.#ready.clear();
    return ready;
  }

  remove(topic: string): void {
    this.#pending.delete(topic);
    this.#ready.delete(topic);
  }
}
