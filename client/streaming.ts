// Messages of an endless stream: a broken connection is resumed at its last message, so that nothing is
// charged twice, and lost messages are reported as a gap.
import { frameReader } from './frames.ts';
import { toTapedeckError, pause, type Retries } from './request.ts';

export type StreamItem<T> =
  | { readonly kind: 'message'; readonly value: T; readonly id: string | undefined }
  /** Messages that the server has already dropped. */
  | { readonly kind: 'gap'; readonly detail: unknown }
  /** Any other event of the stream. */
  | { readonly kind: 'notice'; readonly detail: unknown };

export interface StreamRequest {
  /** With its query, except for the resume position. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
  readonly retries: Retries;
  /** Id of the last message that was read before. */
  readonly after: string | undefined;
}

/**
 * Ends when the server ends it for good, and when `signal` is aborted.
 * @throws TapedeckError when it is refused
 */
export async function* streamMessages<T>(
  fetch: typeof globalThis.fetch,
  { after, headers, retries, signal, url }: StreamRequest,
): AsyncGenerator<StreamItem<T>, void, undefined> {
  let last = after;
  for (let tries = 0; ; tries += 1) {
    try {
      for await (const frame of framesOf(fetch, url, { headers, last, signal })) {
        tries = 0;
        last = frame.id ?? last;
        if (frame.event === 'end') return;
        yield itemOf<T>(frame.event, frame.data, frame.id);
      }
    } catch (error) {
      if (isAborted(signal)) return;
      // A refused request is refused again; a broken connection is not.
      if (!(error instanceof TypeError) && !isPassing(error)) throw error;
      if (tries >= retries.most) throw error;
    }
    if (isAborted(signal)) return;
    await pause(Math.min(retries.waitMsMax, retries.waitMs * 2 ** tries), signal).catch(
      () => undefined,
    );
    if (isAborted(signal)) return;
  }
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

const isPassing = (error: unknown): boolean => {
  const { status } = error as { readonly status?: number };
  return status === 429 || status === 503;
};

interface Place {
  readonly headers: Readonly<Record<string, string>>;
  readonly last: string | undefined;
  readonly signal: AbortSignal | undefined;
}

async function* framesOf(
  fetch: typeof globalThis.fetch,
  url: string,
  { headers, last, signal }: Place,
): AsyncGenerator<ReturnType<ReturnType<typeof frameReader>>[number], void, undefined> {
  const answer = await fetch(url, {
    headers: {
      ...headers,
      accept: 'text/event-stream',
      ...(last === undefined ? {} : { 'last-event-id': last }),
    },
    ...(signal === undefined ? {} : { signal }),
  });
  if (!answer.ok) throw await toTapedeckError(answer);
  const read = frameReader();
  const pieces = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (pieces === undefined) return;
  try {
    for (;;) {
      const { done, value } = await pieces.read();
      if (done) return;
      yield* read(value);
    }
  } finally {
    await pieces.cancel().catch(() => undefined);
  }
}

/** A message is an array of one object, as the original sends it. */
function itemOf<T>(event: string, data: string, id: string | undefined): StreamItem<T> {
  const value = JSON.parse(data) as unknown;
  if (event === 'gap') return { kind: 'gap', detail: value };
  if (event !== 'message') return { kind: 'notice', detail: value };
  return { kind: 'message', value: (Array.isArray(value) ? value[0] : value) as T, id };
}
