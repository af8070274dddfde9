// The feeds of a server, by name; they start with the first listener.
import { Feed, pause } from './feed.ts';

/** Longest wait for a feed to become ready. */
const READY_MS = 5_000;
const NEVER = new AbortController().signal;

export class Feeds {
  readonly #feeds = new Map<string, Feed>();

  /** Adds a feed; one of the same name is stopped. */
  async add(parts: ConstructorParameters<typeof Feed>[0]): Promise<void> {
    await this.#feeds.get(parts.name)?.stop();
    this.#feeds.set(parts.name, new Feed(parts));
  }

  /** Starts feeds that do not run yet. Resolves when their boards are current. */
  async wake(): Promise<void> {
    const ready = Promise.all([...this.#feeds.values()].map((feed) => feed.start()));
    await Promise.race([ready, pause(READY_MS, NEVER)]);
  }

  state(): readonly ReturnType<Feed['state']>[] {
    return [...this.#feeds.values()].map((feed) => feed.state());
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#feeds.values()].map((feed) => feed.stop()));
  }
}
