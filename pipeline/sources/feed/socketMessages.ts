// Reads messages of a WebSocket.
import { resolveAddresses, pinnedLookup } from '../base/guard.ts';
import type { OutgoingRules } from '../http/outgoing.ts';
import { SourceFailure } from '../base/source.ts';
import {
  type FeedMessage,
  type FeedOrder,
  feedHeaders,
  toHttpUrl,
  MESSAGE_BYTES_MAX,
  SILENCE_MS,
} from './feedOrder.ts';

/** Maximum queued messages; a WebSocket has no backpressure. */
const WAITING_MAX = 50_000;
const WAITING_BYTES_MAX = 32 * 1024 ** 2;

export async function* socketMessages(
  order: FeedOrder,
  rules: OutgoingRules,
): AsyncGenerator<FeedMessage, void> {
  const { definition, signal } = order;
  const addresses = await resolveAddresses(
    new URL(toHttpUrl(definition.url)).hostname,
    rules,
    signal,
  );
  // Imported with the first feed, as in outgoing.ts.
  const { Agent, WebSocket } = await import('undici');
  const dispatcher = new Agent({
    webSocket: { maxPayloadSize: MESSAGE_BYTES_MAX },
    connect: {
      lookup: pinnedLookup(addresses),
      rejectUnauthorized: true,
      ...(rules.ca === undefined ? {} : { ca: rules.ca }),
    },
  });
  const queue = new MessageQueue(order);
  const headers = feedHeaders(order);
  const socket = new WebSocket(definition.url, { dispatcher, headers });
  const stop = (): void => socket.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    socket.addEventListener('open', () => {
      for (const message of definition.messages ?? []) socket.send(message);
      order.onOpen();
    });
    socket.addEventListener('message', ({ data }) => queue.add(data));
    socket.addEventListener('error', ({ error }) => queue.end(connectionFailure(error)));
    socket.addEventListener('close', ({ code, reason }) => {
      queue.end(new SourceFailure(`it was closed: ${code} ${reason}`.trim(), true));
    });
    yield* queue.messages();
  } finally {
    signal.removeEventListener('abort', stop);
    socket.close();
    await dispatcher.destroy();
  }
}

function connectionFailure(error: unknown): SourceFailure {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const why = cause instanceof Error ? cause.message : '';
  return new SourceFailure(why === '' ? 'it can not be reached' : why, true);
}

/** The queue of messages that were received and not yet consumed. */
class MessageQueue {
  readonly #signal: AbortSignal;
  #texts: string[] = [];
  #bytes = 0;
  #ended: unknown;
  #isEnded = false;
  #wake: () => void = () => undefined;
  readonly #silence: NodeJS.Timeout;

  constructor({ signal }: FeedOrder) {
    this.#signal = signal;
    const silent = new SourceFailure(`nothing came for ${SILENCE_MS / 1_000} s`, true);
    this.#silence = setTimeout(() => this.end(silent), SILENCE_MS).unref();
    signal.addEventListener('abort', () => this.end(signal.reason), { once: true });
  }

  add(data: unknown): void {
    this.#silence.refresh();
    // Records are text messages; binary ones are ignored.
    if (typeof data !== 'string') return;
    this.#texts.push(data);
    this.#bytes += data.length;
    if (this.#texts.length > WAITING_MAX || this.#bytes > WAITING_BYTES_MAX) {
      this.end(new SourceFailure('it is faster than its records are stored', true));
    }
    this.#wake();
  }

  end(reason: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#ended = reason;
    clearTimeout(this.#silence);
    this.#wake();
  }

  /** Yields the messages received before the end first. */
  async *messages(): AsyncGenerator<FeedMessage, void> {
    for (;;) {
      const texts = this.#texts;
      [this.#texts, this.#bytes] = [[], 0];
      for (const text of texts) yield { text, id: undefined };
      this.#signal.throwIfAborted();
      if (this.#texts.length > 0) continue;
      if (this.#isEnded) throw this.#ended;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
