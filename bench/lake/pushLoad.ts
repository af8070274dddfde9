// Client process that pushes records at a constant rate: `pushLoad.ts <base> <token> <dataset> <date>
// <per second> <seconds>`. Half of them replace. Prints the times of pushes after the first second, in which
// connections open and code is compiled.
import { Agent, request } from 'node:http';
import { cpuSince } from '../http/cpuTime.ts';
import { symbolOf, SYMBOLS } from '../base/stored.ts';

const [base = '', token = '', dataset = '', date = '', pace = '', seconds = ''] =
  process.argv.slice(2);
const TICK_MS = 10;
const perTick = (Number(pace) * TICK_MS) / 1000;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const times: number[] = [];

function push(at: number): Promise<void> {
  const how = at % 2 === 0 ? 'replace' : 'ignore';
  const url = `${base}/v1/record/WS/${dataset}?duplicateKeyHandling=${how}&token=${token}`;
  const body = `{"symbol":"${symbolOf(at % SYMBOLS)}","date":"${date}","close":${at}.5}`;
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': body.length };
    const outgoing = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => {
        if (answer.statusCode !== 200) return reject(new Error(String(answer.statusCode)));
        if (start - began > 1000) times.push(performance.now() - start);
        resolve();
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const began = performance.now();
const spent = process.cpuUsage();
const pushes: Promise<void>[] = [];
let sent = 0;
for (let tick = 1; tick <= (Number(seconds) * 1000) / TICK_MS; tick += 1) {
  while (sent < tick * perTick) {
    pushes.push(push(sent));
    sent += 1;
  }
  const waitMs = began + tick * TICK_MS - performance.now();
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
}
await Promise.all(pushes);
const result = { times, cpuMs: cpuSince(spent), pushes: sent };
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
