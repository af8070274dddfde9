// The cache of Swift for accounts and buckets: the few commands of memcached's protocol that it uses.
// Without it each request first queries two of its stores.
import { createServer, type Socket } from 'node:net';
import { listening, type ListeningServer } from './http.ts';

interface CacheEntry {
  readonly flags: string;
  readonly value: Buffer;
  readonly untilMs: number;
}

const LINE_END = '\r\n';
/** A longer span is sent as epoch seconds. */
const SPAN_S_MAX = 30 * 86_400;

function untilOf(text: string): number {
  const seconds = Number(text);
  if (seconds === 0) return Number.POSITIVE_INFINITY;
  return seconds > SPAN_S_MAX ? seconds * 1_000 : Date.now() + seconds * 1_000;
}

/** The answer to a command line. @param body the data after the line of a storing command */
function answerTo(
  entries: Map<string, CacheEntry>,
  words: readonly string[],
  body: Buffer,
): Buffer | string {
  const [command = '', key = ''] = words;
  const findEntry = (name: string): CacheEntry | undefined => {
    const one = entries.get(name);
    return one !== undefined && one.untilMs > Date.now() ? one : undefined;
  };
  const entry = findEntry(key);
  if (command === 'get') {
    const values = words.slice(1).flatMap((name) => {
      const one = findEntry(name);
      if (one === undefined) return [];
      const head = `VALUE ${name} ${one.flags} ${one.value.length}${LINE_END}`;
      return [Buffer.from(head), one.value, Buffer.from(LINE_END)];
    });
    return Buffer.concat([...values, Buffer.from(`END${LINE_END}`)]);
  }
  if (command === 'set' || (command === 'add' && entry === undefined)) {
    const [, , flags = '0', seconds = '0'] = words;
    entries.set(key, { flags, value: body, untilMs: untilOf(seconds) });
    return `STORED${LINE_END}`;
  }
  if (command === 'add') return `NOT_STORED${LINE_END}`;
  if (entry === undefined) return `NOT_FOUND${LINE_END}`;
  if (command === 'delete') {
    entries.delete(key);
    return `DELETED${LINE_END}`;
  }
  const by = Number(words[2]) * (command === 'decr' ? -1 : 1);
  const value = String(Math.max(0, Number(entry.value.toString()) + by));
  entries.set(key, { ...entry, value: Buffer.from(value) });
  return `${value}${LINE_END}`;
}

const isStoring = ([command]: readonly string[]): boolean => command === 'set' || command === 'add';

export function startCache(): Promise<ListeningServer> {
  const entries = new Map<string, CacheEntry>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let heard = Buffer.alloc(0);
    socket.on('data', (part: Buffer) => {
      heard = Buffer.concat([heard, part]);
      for (;;) {
        const end = heard.indexOf(LINE_END);
        if (end < 0) return;
        const words = heard.subarray(0, end).toString('latin1').split(' ');
        const from = end + LINE_END.length;
        const length = isStoring(words) ? Number(words[4]) : 0;
        const next = isStoring(words) ? from + length + LINE_END.length : from;
        if (heard.length < next) return;
        const body = Buffer.from(heard.subarray(from, from + length));
        heard = heard.subarray(next);
        const answer = answerTo(entries, words, body);
        if (words.at(-1) !== 'noreply') socket.write(answer);
      }
    });
  });
  return listening(server, () => {
    for (const socket of sockets) socket.destroy();
  });
}
