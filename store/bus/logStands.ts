// How far the messages of topics tell of what is stored. A stand is written once all messages before it are
// in the log: what another node finds there is never ahead of what it can read.
import type { LogPlace } from './logPlace.ts';

interface Pending {
  readonly stand: string;
  /** Messages of the log with lesser ordinals belong to it. */
  readonly after: number;
  last: LogPlace;
}

interface StandToWrite {
  readonly topic: string;
  readonly stand: string;
  /** Of the last message that belongs to it. */
  readonly last: LogPlace;
}

export class LogStands {
  /** The oldest one of a topic and the newest: those between say nothing that the newest does not. */
  readonly #pending = new Map<string, Pending[]>();
  readonly #ready = new Map<string, StandToWrite>();

  get isReady(): boolean {
    return this.#ready.size > 0;
  }

  has(topic: string): boolean {
    return this.#pending.has(topic) || this.#ready.has(topic);
  }

  /** @param after ordinal of the next message @param last place of the topic's newest one in the log */
  mark(topic: string, stand: string, after: number, last: LogPlace): void {
    const [oldest] = this.#pending.get(topic) ?? [];
    const newest = { stand, after, last };
    this.#pending.set(topic, oldest === undefined ? [newest] : [oldest, newest]);
  }

  /** A message of the topic is in the log. */
  kept(topic: string, ordinal: number, place: LogPlace): void {
    for (const pending of this.#pending.get(topic) ?? []) {
      if (ordinal < pending.after) pending.last = place;
    }
  }

  /** All messages with lesser ordinals were told. */
  told(ordinal: number): void {
    for (const [topic, all] of this.#pending) {
      const [oldest, newest] = all;
      if (oldest === undefined || oldest.after > ordinal) continue;
      const { last, stand } = newest !== undefined && newest.after <= ordinal ? newest : oldest;
      this.#ready.set(topic, { topic, stand, last });
      const rest = all.filter(({ after }) => after > ordinal);
      if (rest.length === 0) this.#pending.delete(topic);
      else this.#pending.set(topic, rest);
    }
  }

  /** What is to be written now, once. */
  take(): readonly StandToWrite[] {
    const ready = [...this.#ready.values()];
    this.#ready.clear();
    return ready;
  }

  forget(topic: string): void {
    this.#pending.delete(topic);
    this.#ready.delete(topic);
  }
}
