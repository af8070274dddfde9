// A stream reader that is disconnected repeatedly, and each time resumes after its last message, at any
// server.
import { setTimeout as sleep } from 'node:timers/promises';

interface Going {
  /** Below the version, with its query; the reader adds ids and events. */
  readonly path: string;
  readonly token: string;
  /** Base URL of its next connection. */
  readonly base: () => string;
}

export interface GoingReader {
  /** JSON of each message, in the order of arrival. */
  readonly messages: readonly string[];
  /** Data of the gap events that it received. */
  readonly gaps: readonly string[];
  /** Number of its connections so far. */
  readonly begun: () => number;
  /** Its current connection was accepted. */
  readonly isOpen: () => boolean;
  readonly end: () => Promise<void>;
}

const AGAIN_MS = 20;

export function goingReader({ base, path, token }: Going): GoingReader {
  const messages: string[] = [];
  const gaps: string[] = [];
  const leaving = new AbortController();
  let [id, begun, isOpen] = ['', 0, false];
  const take = (event: string): void => {
    const data = /^data: (.*)$/m.exec(event)?.[1] ?? '';
    if (event.startsWith('event: gap')) gaps.push(data);
    if (event.startsWith('event: ')) return;
    id = /^id: (.*)$/m.exec(event)?.[1] ?? id;
    if (data !== '') messages.push(data);
  };
  const once = async (): Promise<void> => {
    begun += 1;
    const headers = { accept: 'text/event-stream', ...(id === '' ? {} : { 'last-event-id': id }) };
    const url = `${base()}/v1${path}&ids=true&events=true&token=${token}`;
    const answer = await fetch(url, { headers, signal: leaving.signal });
    if (answer.status !== 200 || answer.body === null) return;
    isOpen = true;
    let text = '';
    for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
      const events = `${text}${part}`.split('\r\n\r\n');
      text = events.pop() ?? '';
      for (const event of events) take(event.replaceAll('\r\n', '\n'));
    }
  };
  const reading = (async () => {
    while (!leaving.signal.aborted) {
      await once().catch(() => undefined);
      isOpen = false;
      await sleep(AGAIN_MS);
    }
  })();
  const end = async (): Promise<void> => {
    leaving.abort();
    await reading;
  };
  return { messages, gaps, begun: () => begun, isOpen: () => isOpen, end };
}
