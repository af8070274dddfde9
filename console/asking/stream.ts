// A stream of the API: server-sent events read from a fetch, since an EventSource can send no header.
import { createParser } from 'eventsource-parser';
import { problemOf, type Problem, send } from './ask.ts';

interface Told {
  readonly onOpen: () => void;
  /** The data of one message, as text. */
  readonly onMessage: (text: string) => void;
  /** Undefined: it ended. */
  readonly onEnd: (problem: Problem | undefined) => void;
}

/** Messages until it is called. */
export function openStream(path: string, { onEnd, onMessage, onOpen }: Told): () => void {
  const gone = new AbortController();
  const listen = async (): Promise<void> => {
    const response = await send(path, { signal: gone.signal }, 'text/event-stream');
    onOpen();
    const parser = createParser({ onEvent: ({ data }) => onMessage(data) });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const piece = await reader?.read();
      if (piece === undefined || piece.done) break;
      parser.feed(piece.value);
    }
  };
  listen().then(
    () => gone.signal.aborted || onEnd(undefined),
    (reason: unknown) => gone.signal.aborted || onEnd(problemOf(reason)),
  );
  return () => gone.abort();
}
