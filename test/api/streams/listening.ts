// A client of streams, with its received bytes and messages.
import { request } from 'node:http';
import type { TestServer } from '../../base/server.ts';

interface Listening {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The whole body, without the chunks of HTTP. */
  readonly text: () => string;
  /** The first object of each message. */
  readonly messages: () => readonly Readonly<Record<string, unknown>>[];
  readonly isEnded: () => boolean;
  /** Breaks the connection. */
  readonly close: () => Promise<void>;
  readonly pause: () => void;
  readonly resume: () => void;
}

/** @param path below the version; the publishable token is added */
export function openStream(
  { base, publishable }: Pick<TestServer, 'base' | 'publishable'>,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Listening> {
  const url = `${base}/v1${path}${path.includes('?') ? '&' : '?'}token=${publishable}`;
  return new Promise((resolve, reject) => {
    const accept = { accept: 'text/event-stream', ...headers };
    const clientRequest = request(url, { headers: accept, agent: false }, (answer) => {
      let text = '';
      let isEnded = false;
      const messagesOf = messageReader();
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => (text += chunk));
      answer.on('close', () => (isEnded = true));
      answer.on('error', () => undefined);
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        text: () => text,
        messages: () => messagesOf(text),
        isEnded: () => isEnded,
        close: async () => {
          clientRequest.destroy();
          await until(() => isEnded);
        },
        pause: () => void answer.pause(),
        resume: () => void answer.resume(),
      });
    });
    clientRequest.on('error', reject);
    clientRequest.end();
  });
}

type Message = Readonly<Record<string, unknown>>;
const MESSAGE_END = '\r\n\r\n';

/**
 * Parses like the sample of the original, which many copied: the text without `data: `, split at blank
 * lines, and the first element of each message. Text that is no JSON stays the beginning of a message.
 * Each message is parsed once, independent of the number of calls.
 */
function messageReader(): (text: string) => readonly Message[] {
  const messages: Message[] = [];
  let [partial, read] = ['', 0];
  const take = (part: string): readonly Message[] => {
    const whole = partial + part.replaceAll('data: ', '');
    if (whole === '') return [];
    try {
      const [first] = JSON.parse(whole) as readonly Message[];
      partial = '';
      return first === undefined ? [] : [first];
    } catch {
      partial = whole;
      return [];
    }
  };
  return (text) => {
    for (;;) {
      const end = text.indexOf(MESSAGE_END, read);
      if (end < 0) break;
      messages.push(...take(text.slice(read, end)));
      read = end + MESSAGE_END.length;
    }
    // The rest may be an incomplete message.
    const was = partial;
    const last = take(text.slice(read));
    partial = was;
    return [...messages, ...last];
  };
}

const STEP_MS = 5;
const UNTIL_MS = 60_000;

/** @throws if it does not become true in time. */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  mostMs = UNTIL_MS,
): Promise<void> {
  for (let waited = 0; !(await isTrue()); waited += STEP_MS) {
    if (waited > mostMs) throw new Error(`not true after ${mostMs} ms: ${isTrue.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
}
