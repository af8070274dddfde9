// Messages of a log as they are remembered: those of each topic by their places, and from which place on
// all of them are there.
import { isBefore, type LogPlace } from './logPlace.ts';

/** Text that is remembered of all topics; of what is over the oldest goes first. */
const CHARACTERS_MAX = 64 * 1024 ** 2;
/** A list is cut once so many of its first are over: each message is moved about once. */
const OVER_MAX = 1_000;

interface LoggedMessage {
  readonly place: LogPlace;
  /** '' is for everybody. */
  readonly symbol: string;
  readonly json: string;
}

interface Topic {
  messages: (LoggedMessage | undefined)[];
  first: number;
  /** Nobody knows what came before. */
  wholeFrom: LogPlace;
}

export class LoggedTopics {
  readonly #topics = new Map<string, Topic>();
  /** Whose message is the next oldest one. */
  #order: string[] = [];
  #orderFirst = 0;
  #characters = 0;
  readonly #charactersMax: number;

  constructor(charactersMax = CHARACTERS_MAX) {
    this.#charactersMax = charactersMax;
  }

  add(topic: string, message: LoggedMessage): void {
    this.#topicOf(topic, message.place).messages.push(message);
    this.#order.push(topic);
    this.#characters += message.json.length;
    while (this.#characters > this.#charactersMax) this.#dropOldest();
  }

  /** What came before a place is not known; again, and of a later one, it takes the place of the former. */
  cut(topic: string, from: LogPlace): void {
    this.#topicOf(topic, from).wholeFrom = from;
  }

  /** All messages from a place on are there, unless it is known already that they are not. */
  begin(topic: string, from: LogPlace): void {
    this.#topicOf(topic, from);
  }

  /** Messages of these topics and symbols after a place, in their order. */
  after(
    topics: readonly string[],
    symbols: readonly string[] | undefined,
    place: LogPlace,
  ): { readonly messages: readonly LoggedMessage[]; readonly isWhole: boolean } {
    const wanted = symbols && new Set(symbols).add('');
    let isWhole = true;
    const lists = topics.map((name): readonly LoggedMessage[] => {
      const topic = this.#topics.get(name);
      if (topic === undefined || topic.wholeFrom.tag !== place.tag) isWhole = false;
      if (topic === undefined) return [];
      if (isBefore(place, topic.wholeFrom)) isWhole = false;
      return newerOf(topic, place).filter(({ symbol }) => wanted?.has(symbol) ?? true);
    });
    const [only = []] = lists;
    if (lists.length === 1) return { messages: only, isWhole };
    const messages = lists.flat().sort((one, other) => (isBefore(one.place, other.place) ? -1 : 1));
    return { messages, isWhole };
  }

  #topicOf(name: string, from: LogPlace): Topic {
    const known = this.#topics.get(name);
    if (known !== undefined) return known;
    const made: Topic = { messages: [], first: 0, wholeFrom: from };
    this.#topics.set(name, made);
    return made;
  }

  #dropOldest(): void {
    const topic = this.#topics.get(this.#order[this.#orderFirst] ?? '');
    this.#orderFirst += 1;
    const dropped = topic?.messages[topic.first];
    if (topic === undefined || dropped === undefined) return;
    topic.messages[topic.first] = undefined;
    topic.first += 1;
    topic.wholeFrom = dropped.place;
    this.#characters -= dropped.json.length;
    if (topic.first > OVER_MAX && topic.first * 2 > topic.messages.length) {
      topic.messages = topic.messages.slice(topic.first);
      topic.first = 0;
    }
    if (this.#orderFirst > OVER_MAX && this.#orderFirst * 2 > this.#order.length) {
      this.#order = this.#order.slice(this.#orderFirst);
      this.#orderFirst = 0;
    }
  }
}

/** Places rise: the first one behind a place is found by halves. */
function newerOf({ first, messages }: Topic, place: LogPlace): readonly LoggedMessage[] {
  let [least, most] = [first, messages.length];
  while (least < most) {
    const middle = (least + most) >>> 1;
    const one = messages[middle];
    if (one === undefined || !isBefore(place, one.place)) least = middle + 1;
    else most = middle;
  }
  return messages.slice(least).filter((one) => one !== undefined);
}
