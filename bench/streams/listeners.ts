// Process with many stream readers: `listeners.ts <port> <connections> <path> <token>`. It reports to its
// parent when all are connected, and when the expected number of messages has arrived.
import { connect, type Socket } from 'node:net';
import { cpuSince } from '../http/cpuTime.ts';
import { median, p99, roundFigure } from '../base/measure.ts';

/** Symbols per reader, and all symbols. */
const [OF_ONE, SYMBOLS] = [10, 100];

const [port = '', connections = '', path = '', token = ''] = process.argv.slice(2);
const END = ']'.charCodeAt(0);
const TIME = Buffer.from('"time":');
const TIME_CHARACTERS = 13;

let messages = 0;
let expected = Number.POSITIVE_INFINITY;
let delays: number[] = [];
let spent = process.cpuUsage();

function listen(at: number): Promise<Socket> {
  const symbols = Array.from({ length: OF_ONE }, (_, place) => `S${(at * 7 + place) % SYMBOLS}`);
  const query = `symbols=${symbols.join()}&nosnapshot=true&token=${token}`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', reject);
    socket.write(
      `GET ${path}?${query} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n`,
    );
    socket.once('data', (head) => {
      if (!head.toString('latin1').startsWith('HTTP/1.1 200')) reject(new Error(String(head)));
      socket.on('data', count);
      resolve(socket);
    });
  });
}

/** Counts messages by their one closing bracket. */
function count(chunk: Buffer): void {
  for (const byte of chunk) if (byte === END) messages += 1;
  const at = chunk.lastIndexOf(TIME);
  const text =
    at < 0 ? '' : chunk.toString('latin1', at + TIME.length, at + TIME.length + TIME_CHARACTERS);
  if (/^\d{13}$/.test(text)) delays.push(Date.now() - Number(text));
  if (messages < expected) return;
  expected = Number.POSITIVE_INFINITY;
  const delay = { p50: roundFigure(median(delays)), p99: roundFigure(p99(delays)) };
  process.send?.({ messages, ...delay, cpuMs: cpuSince(spent) });
}

process.on('message', (target: number) => {
  messages = 0;
  delays = [];
  expected = target;
  spent = process.cpuUsage();
  process.send?.('expecting');
});
for (let at = 0; at < Number(connections); at += 50) {
  await Promise.all(Array.from({ length: 50 }, (_, place) => listen(at + place)));
}
process.send?.('ready');
