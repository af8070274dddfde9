// Messages of topics that somebody may come back to are kept where other nodes find them, before they are
// told: whoever resumes, at whichever node, gets what came after the place that was read.
import { monotonicMs } from '../base/clock.ts';
import { entriesOf, entriesText, type LogEntry } from './logEntries.ts';
import { LoggedTopics } from './loggedTopics.ts';
import { LAST_INDEX, type LogPlace } from './logPlace.ts';
import { LogStands } from './logStands.ts';

/** Where logs are kept. None of it throws: what is not there is undefined. */
export interface LogStore {
  /** Undefined: it can't be asked for now. `last` is the newest sequence. */
  open(): Promise<
    { readonly tag: string; readonly first: number; readonly last: number } | undefined
  >;
  /** What is there up to a sequence, oldest first. @returns whether it was read to the end */
  read(last: number, take: (sequence: number, text: string) => void): Promise<boolean>;
  /** Undefined: whether it is kept is not known. */
  append(text: string): Promise<Pick<LogPlace, 'tag' | 'sequence'> | undefined>;
}

/** A message, and what is done with it once it is kept. */
interface Telling {
  readonly topic: string;
  readonly symbol: string;
  readonly json: string;
  /** @param place undefined where it could not be kept @param ordinal rises with each message */
  readonly tell: (place: LogPlace | undefined, ordinal: number) => void;
}

/** What another node, or this one before, told of a topic. */
interface Recalled {
  /** Up to which everything was told. */
  readonly stand: string;
  /** Messages after that. */
  readonly told: Set<string>;
}

interface Kept {
  /** Since when it is wanted, or was asked for. */
  readonly sinceMs: number;
  stand: string | undefined;
  told: Set<string>;
  last: LogPlace;
}

interface LogParts {
  readonly hears: (topic: string) => boolean;
  /** Some messages were told. */
  readonly onTold: () => void;
}

/** Stands are told again, so that topics in which nothing happens are known; logs forget after five. */
const REFRESH_MS = 60_000;
/** Texts are cut: NATS takes a megabyte unless it is told otherwise, and a character is six bytes at most. */
const TEXT_CHARACTERS_MAX = 150_000;

export class TopicLog {
  readonly #store: LogStore;
  #topics = new LoggedTopics();
  readonly #kept = new Map<string, Kept>();
  readonly #recalled = new Map<string, Recalled>();
  #gathered: Telling[] = [];
  /** Of the next message. */
  #ordinal = 0;
  /** All before it were told. */
  #told = 0;
  readonly #stands = new LogStands();
  readonly #holes = new Set<string>();
  #tail: Promise<void> = Promise.resolve();
  #place: LogPlace | undefined;
  #opening: Promise<boolean> | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #parts: LogParts;

  constructor(store: LogStore, parts: LogParts) {
    this.#store = store;
    this.#parts = parts;
  }

  /** Of the newest message that was kept; undefined before it was opened. */
  get place(): LogPlace | undefined {
    return this.#place;
  }

  /** Of the next message that is told to this log. */
  get ordinal(): number {
    return this.#ordinal;
  }

  get isIdle(): boolean {
    return this.#told === this.#ordinal;
  }

  /** Reads what there is, once. @returns false where it can't be asked for now */
  async opened(): Promise<boolean> {
    if (this.#place !== undefined) return true;
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  isKept(topic: string): boolean {
    return this.#kept.has(topic);
  }

  /** Of a topic that is not kept yet. */
  recalled(topic: string): Readonly<Recalled> | undefined {
    return this.#recalled.get(topic);
  }

  /**
   * From here on its messages are kept; whoever is to go on from here waits until that is settled. Again it
   * does nothing.
   * @param missing messages that came since it was recalled; undefined where nobody knows
   */
  keep(topic: string, missing?: readonly Pick<Telling, 'symbol' | 'json'>[]): void {
    const last = this.#place;
    if (last === undefined || this.#kept.has(topic)) return;
    this.#recalled.delete(topic);
    this.#kept.set(topic, { sinceMs: monotonicMs(), stand: undefined, told: new Set(), last });
    if (missing === undefined) {
      // Nobody knows at other nodes either, whatever stands are told from now on.
      this.#holes.add(topic);
      this.#topics.cut(topic, last);
    } else this.#topics.begin(topic, last);
    for (const { json, symbol } of missing ?? []) {
      this.add({ topic, symbol, json, tell: () => undefined });
    }
    this.#timer ??= setInterval(() => this.#refresh(), REFRESH_MS).unref();
  }

  /** Nobody makes its messages any more. */
  forget(topic: string): void {
    const kept = this.#kept.get(topic);
    this.#kept.delete(topic);
    this.#stands.forget(topic);
    if (kept?.stand === undefined) return;
    this.#recalled.set(topic, { stand: kept.stand, told: kept.told });
  }

  /** It is told with the next turn. */
  add(telling: Telling): void {
    this.#kept.get(telling.topic)?.told.add(telling.json);
    this.#gathered.push(telling);
    this.#ordinal += 1;
  }

  /** Everything up to a stand is among the messages that were added. */
  mark(topic: string, stand: string): void {
    const kept = this.#kept.get(topic);
    if (kept === undefined) return;
    kept.stand = stand;
    kept.told.clear();
    this.#stands.mark(topic, stand, this.#ordinal, kept.last);
    if (this.isIdle) this.#stands.told(this.#ordinal);
  }

  get gathered(): number {
    return this.#gathered.length;
  }

  /** Keeps what was gathered, and tells it then, in its order. */
  flush(): void {
    const gathered = this.#gathered;
    this.#gathered = [];
    const parts = partsOf(gathered);
    if (parts.length === 0 && (this.#stands.isReady || this.#holes.size > 0)) parts.push([]);
    for (const part of parts) this.#append(part);
  }

  /** Everything that was added until now was told. */
  async settled(): Promise<void> {
    this.flush();
    await this.#tail;
  }

  /** What came after a place, of those that resume. */
  after(...asked: Parameters<LoggedTopics['after']>): ReturnType<LoggedTopics['after']> {
    return this.#topics.after(...asked);
  }

  close(): void {
    clearInterval(this.#timer);
    this.flush();
  }

  #append(part: readonly Telling[]): void {
    const holes = [...this.#holes].map((topic): LogEntry => ({ kind: 'hole', topic }));
    const messages = part.map((one): LogEntry => ({ kind: 'message', ...one }));
    const stands = this.#stands.take().map((one): LogEntry => ({ kind: 'stand', ...one }));
    const entries = [...holes, ...messages, ...stands];
    const sending = this.#store.append(entriesText(entries));
    this.#tail = this.#tail.then(async () => {
      this.#took(entries, await sending, part);
      // Else they go with the messages that wait.
      if (this.isIdle && this.#stands.isReady) this.flush();
    });
  }

  #took(
    entries: readonly LogEntry[],
    kept: Pick<LogPlace, 'tag' | 'sequence'> | undefined,
    part: readonly Telling[],
  ): void {
    if (kept === undefined) this.#missed(entries);
    else this.#remember(entries, kept);
    const first = entries.findIndex(({ kind }) => kind === 'message');
    for (const [at, { tell }] of part.entries()) {
      tell(kept && { ...kept, index: first + at }, this.#told);
      this.#told += 1;
    }
    this.#stands.told(this.#told);
    this.#parts.onTold();
  }

  /** Who resumes from before is told so: here at once, at other nodes by what is kept next. */
  #missed(entries: readonly LogEntry[]): void {
    const last = this.#place;
    for (const { topic } of entries) {
      this.#holes.add(topic);
      if (last !== undefined) this.#topics.cut(topic, { ...last, index: last.index + 1 });
    }
  }

  #remember(
    entries: readonly LogEntry[],
    { sequence, tag }: Pick<LogPlace, 'tag' | 'sequence'>,
  ): void {
    if (tag !== this.#place?.tag) this.#renewed(tag);
    let ordinal = this.#told;
    for (const [index, entry] of entries.entries()) {
      const place = { tag, sequence, index };
      if (entry.kind === 'hole') this.#holes.delete(entry.topic);
      else if (entry.kind === 'message') {
        this.#topics.add(entry.topic, { ...entry, place });
        this.#stands.kept(entry.topic, ordinal, place);
        const kept = this.#kept.get(entry.topic);
        if (kept !== undefined) kept.last = place;
        ordinal += 1;
      }
      this.#place = place;
    }
  }

  /** Another log has its name: nothing of the former one is there. */
  #renewed(tag: string): void {
    const place = { tag, sequence: 0, index: LAST_INDEX };
    this.#topics = new LoggedTopics();
    for (const [topic, kept] of this.#kept) {
      this.#topics.cut(topic, place);
      kept.last = place;
    }
    this.#recalled.clear();
  }

  #refresh(): void {
    for (const [topic, { sinceMs, stand }] of this.#kept) {
      if (!this.#parts.hears(topic) && monotonicMs() - sinceMs > REFRESH_MS) this.forget(topic);
      else if (stand !== undefined && !this.#stands.has(topic)) this.mark(topic, stand);
    }
    this.flush();
  }

  async #open(): Promise<boolean> {
    const found = await this.#store.open();
    if (found === undefined) return false;
    const { first, last, tag } = found;
    const before = { tag, sequence: first - 1, index: LAST_INDEX };
    const isRead = await this.#store.read(last, (sequence, text) => {
      for (const [index, entry] of entriesOf(text).entries()) {
        this.#recall(entry, { tag, sequence, index }, before);
      }
    });
    if (!isRead) {
      this.#topics = new LoggedTopics();
      this.#recalled.clear();
      return false;
    }
    this.#place = { tag, sequence: last, index: LAST_INDEX };
    return true;
  }

  #recall(entry: LogEntry, place: LogPlace, before: LogPlace): void {
    const { kind, topic } = entry;
    if (kind === 'hole') return this.#topics.cut(topic, place);
    if (kind === 'stand') {
      const last = entry.last.tag === place.tag ? entry.last : before;
      this.#topics.begin(topic, last);
      const { messages } = this.#topics.after([topic], undefined, last);
      const told = new Set(messages.map(({ json }) => json));
      this.#recalled.set(topic, { stand: entry.stand, told });
      return;
    }
    this.#topics.begin(topic, before);
    this.#topics.add(topic, { ...entry, place });
    this.#recalled.get(topic)?.told.add(entry.json);
  }
}

/** As many at once as one append takes. */
function partsOf(gathered: readonly Telling[]): Telling[][] {
  const parts: Telling[][] = [];
  let characters = Infinity;
  for (const telling of gathered) {
    if (characters + telling.json.length > TEXT_CHARACTERS_MAX) {
      parts.push([]);
      characters = 0;
    }
    parts.at(-1)?.push(telling);
    characters += telling.json.length;
  }
  return parts;
}
