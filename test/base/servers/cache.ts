// What Swift keeps for a while of accounts and buckets: the few words of memcached's protocol that it says.
// Without it each request first asks two of its stores what they are.
import { createServer, type Socket } from 'node:net';
import { listening, type ListeningServer } from './http.ts';

interface Kept {
  readonly flags: string;
  readonly value: Buffer;
  readonly untilMs: number;
}

const LINE_END = '\r\n';
/** Epoch seconds are told where it is longer. */
const SPAN_S_MAX = 30 * 86_400;

function untilOf(text: string): number {
  const seconds = Number(text);
  if (seconds === 0) return Number.POSITIVE_INFINITY;
  return seconds > SPAN_S_MAX ? seconds * 1_000 : Date.now() + seconds * 1_000;
}

/** What is said to a command line. @param body what follows the line of one that stores */
function answerTo(
  kept: Map<string, Kept>,
  words: readonly string[],
  body: Buffer,
): Buffer | string {
  const [command = '', key = ''] = words;
  const found = (name: string): Kept | undefined => {
    const one = kept.get(name);
    return one !== undefined && one.untilMs > Date.now() ? one : undefined;
  };
  const known = found(key);
  if (command === 'get') {
    const values = words.slice(1).flatMap((name) => {
      const one = found(name);
      if (one === undefined) return [];
      const head = `VALUE ${name} ${one.flags} ${one.value.length}${LINE_END}`;
      return [Buffer.from(head), one.value, Buffer.from(LINE_END)];
    });
    return Buffer.concat([...values, Buffer.from(`END${LINE_END}`)]);
  }
  if (command === 'set' || (command === 'add' && known === undefined)) {
    const [, , flags = '0', seconds = '0'] = words;
    kept.set(key, { flags, value: body, untilMs: untilOf(seconds) });
    return `STORED${LINE_END}`;
  }
  if (command === 'add') return `NOT_STORED${LINE_END}`;
  if (known === undefined) return `NOT_FOUND${LINE_END}`;
  if (command === 'delete') {
    kept.delete(key);
    return `DELETED${LINE_END}`;
  }
  const by = Number(words[2]) * (command === 'decr' ? -1 : 1);
  const value = String(Math.max(0, Number(known.value.toString()) + by));
  kept.set(key, { ...known, value: Buffer.from(value) });
  return `${value}${LINE_END}`;
}

const isStoring = ([command]: readonly string[]): boolean => command === 'set' || command === 'add';

export function startCache(): Promise<ListeningServer> {
  const kept = new Map<string, Kept>();
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
        const answer = answerTo(kept, words, body);
        if (words.at(-1) !== 'noreply') socket.write(answer);
      }
    });
  });
  return listening(server, () => {
    for (const socket of sockets) socket.destroy();
  });
}
