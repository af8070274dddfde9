// A client process that keeps connections busy: `httpLoad.ts <port> <seconds> <connections> <file>`.
// The file has one path a line; they are asked in turn. Prints answers a second, their bytes, and the
// p99 of their milliseconds.
// A socket and a search for the end of each answer: a client library costs as much as the server.
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { p99, rounded } from '../measure.ts';

const [port = '', seconds = '', connections = '', file = ''] = process.argv.slice(2);
const requests = (await readFile(file, 'utf8'))
  .split('\n')
  .filter((path) => path !== '')
  .map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`));

let next = 0;
let answers = 0;
let bytes = 0;
let failures = 0;
const times: number[] = [];
const began = performance.now();
const until = began + Number(seconds) * 1000;

const HEAD_END = Buffer.from('\r\n\r\n');

function run(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.setNoDelay(true);
    let waiting: Buffer = Buffer.alloc(0);
    let left = 0;
    let asked = 0;
    const ask = (): void => {
      if (performance.now() >= until) {
        socket.end();
        resolve();
        return;
      }
      asked = performance.now();
      socket.write(requests[next % requests.length] ?? Buffer.alloc(0));
      next += 1;
    };
    socket.on('error', reject);
    socket.on('connect', ask);
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (left > 0) {
        left -= chunk.length;
      } else {
        waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
        const end = waiting.indexOf(HEAD_END);
        if (end < 0) return;
        const head = waiting.toString('latin1', 0, end);
        if (!head.startsWith('HTTP/1.1 200')) failures += 1;
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        left = end + HEAD_END.length + length - waiting.length;
        waiting = Buffer.alloc(0);
      }
      if (left > 0) return;
      answers += 1;
      times.push(performance.now() - asked);
      ask();
    });
  });
}

await Promise.all(Array.from({ length: Number(connections) }, run));
const tookMs = performance.now() - began;
const told = { perSecond: (answers / tookMs) * 1000, bytes, failures, p99: rounded(p99(times)) };
process.stdout.write(`${JSON.stringify(told)}\n`);
process.exit(0);
