// Caches the messages of a log in memory: those of each topic by position, and the position from which on
// they are complete.
import { isBefore, type LogPosition } from './logPosition.ts';

/** Cached characters of all topics; the oldest messages are evicted first. */
const CHARACTERS_MAX = 64 * 1024 ** 2;
/** A list is compacted after so many messages were dropped: each message is moved about once. */
const DROPPED_MAX = 1_000;

interface LoggedMessage {
  readonly place: LogPosition;
  /** '': for all subscribers of the topic. */
  readonly symbol: string;
  readonly json: string;
}

interface Topic {
  messages: (LoggedMessage | undefined)[];
  first: number;
  /** Earlier messages are unknown. */
  completeFrom: LogPosition;
}

export class LoggedTopics {
  readonly #topics = new Map<string, Topic>();
  /** The topics of all messages, oldest message first. */
  #order: string[] = [];
  #orderFirst = 0;
  #characters = 0;
  readonly #charactersMax: number;

  constructor(charactersMax = CHARACTERS_MAX) {
    this.#charactersMax = charactersMax;
  }

  add(topic: string, message: LoggedMessage): void {
    this.#ensureTopic(topic, message.place).messages.push(message);
    this.#order.push(topic);
    this.#characters += message.json.length;
    while (this.#characters > this.#charactersMax) this.#dropOldest();
  }

  /** Marks messages before a position as unknown; a repeated call replaces the position. */
  markIncompleteBefore(topic: string, from: LogPosition): void {
    this.#ensureTopic(topic, from).completeFrom = from;
  }

  /** Adds a topic whose messages are complete from a position on; an existing topic is unchanged. */
  addTopic(topic: string, from: LogPosition): void {
    this.#ensureTopic(topic, from);
  }

  /** The messages of topics and symbols after a position, in their order. */
  readAfter(
    topics: readonly string[],
    symbols: readonly string[] | undefined,
    place: LogPosition,
  ): { readonly messages: readonly LoggedMessage[]; readonly isWhole: boolean } {
    const symbolSet = symbols && new Set(symbols).add('');
    let isWhole = true;
    const lists = topics.map((name): readonly LoggedMessage[] => {
      const topic = this.#topics.get(name);
      if (topic === undefined || topic.completeFrom.tag !== place.tag) isWhole = false;
      if (topic === undefined) return [];
      if (isBefore(place, topic.completeFrom)) isWhole = false;
      return messagesAfter(topic, place).filter(({ symbol }) => symbolSet?.has(symbol) ?? true);
    });
    const [only = []] = lists;
    if (lists.length === 1) return { messages: only, isWhole };
    const messages = lists.flat().sort((one, other) => (isBefore(one.place, other.place) ? -1 : 1));
    return { messages, isWhole };
  }

  #ensureTopic(name: string, from: LogPosition): Topic {
    const existing = this.#topics.get(name);
    if (existing !== undefined) return existing;
    const topic: Topic = { messages: [], first: 0, completeFrom: from };
    this.#topics.set(name, topic);
    return topic;
  }

  #dropOldest(): void {
    const topic = this.#topics.get(this.#order[this.#orderFirst] ?? '');
    this.#orderFirst += 1;
    const dropped = topic?.messages[topic.first];
    if (topic === undefined || dropped === undefined) return;
    topic.messages[topic.first] = undefined;
    topic.first += 1;
    topic.completeFrom = dropped.place;
    this.#characters -= dropped.json.length;
    if (topic.first > DROPPED_MAX && topic.first * 2 > topic.messages.length) {
      topic.messages = topic.messages.slice(topic.first);
      topic.first = 0;
    }
    if (this.#orderFirst > DROPPED_MAX && this.#orderFirst * 2 > this.#order.length) {
      this.#order = this.#order.slice(this.#orderFirst);
      this.#orderFirst = 0;
    }
  }
}

/** Finds the messages after a position by binary search: positions ascend. */
function messagesAfter({ first, messages }: Topic, place: LogPosition): readonly LoggedMessage[] {
  let [least, most] = [first, messages.length];
  while (least < most) {
    const middle = (least + most) >>> 1;
    const one = messages[middle];
    if (one === undefined || !isBefore(place, one.place)) least = middle + 1;
    else most = middle;
  }
  return messages.slice(least).filter((one) => one !== undefined);
}
