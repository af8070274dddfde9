// Reads a server-sent event stream of the API with fetch, because EventSource cannot send headers.
import { createParser } from 'eventsource-parser';
import { toProblem, type Problem, send } from './client.ts';

interface StreamHandlers {
  readonly onOpen: () => void;
  /** Receives the data of one message as text. */
  readonly onMessage: (text: string) => void;
  /** The problem is undefined if the stream ended normally. */
  readonly onEnd: (problem: Problem | undefined) => void;
}

/** Opens a stream; returns the function that closes it. */
export function openStream(path: string, { onEnd, onMessage, onOpen }: StreamHandlers): () => void {
  const controller = new AbortController();
  const listen = async (): Promise<void> => {
    const response = await send(path, { signal: controller.signal }, 'text/event-stream');
    onOpen();
    const parser = createParser({ onEvent: ({ data }) => onMessage(data) });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) break;
      parser.feed(chunk.value);
    }
  };
  listen().then(
    () => controller.signal.aborted || onEnd(undefined),
    (reason: unknown) => controller.signal.aborted || onEnd(toProblem(reason)),
  );
  return () => controller.abort();
}
