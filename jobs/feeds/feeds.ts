// The feeds of a server, one of a name; they begin when somebody listens.
import { Feed, pause } from './feed.ts';

/** A feed that takes longer is not waited for. */
const READY_MS = 5_000;
const NEVER = new AbortController().signal;

export class Feeds {
  readonly #feeds = new Map<string, Feed>();

  /** One of the same name is stopped. */
  async add(parts: ConstructorParameters<typeof Feed>[0]): Promise<void> {
    await this.#feeds.get(parts.name)?.stop();
    this.#feeds.set(parts.name, new Feed(parts));
  }

  /** Somebody listens: those that do not run yet begin. Resolves when they know where things stand. */
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
