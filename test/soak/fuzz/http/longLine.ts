// One line without an end, of a given size: refused with a sentence, while the memory of the server does
// not grow with it.
import type { FuzzOrder, FuzzReport } from './requests.ts';
import { faultOf, openArena } from './judge.ts';

const MEGABYTE = 1024 ** 2;
/** The server's own growth while the body arrives: it is streamed to the disk. */
const GROWTH_MAX = 300 * MEGABYTE;

/** A body that is generated while it is sent: `total` bytes of one letter. */
export function streamed(prefix: string, total: number): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(MEGABYTE).fill(97);
  let sent = 0;
  return new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from(prefix)),
    pull(controller) {
      controller.enqueue(chunk);
      sent += chunk.length;
      if (sent >= total) controller.close();
    },
  });
}

/** Lines of `count` MB: one alone, one after a header. */
export async function longLine({ count, log }: FuzzOrder): Promise<FuzzReport> {
  await using arena = await openArena();
  const { base, secret, folder } = arena.server;
  const failures: string[] = [];
  const before = process.memoryUsage().rss;
  for (const prefix of ['', 'symbol,v\nA,']) {
    const body = streamed(prefix, count * MEGABYTE);
    const url = `${base}/v1/data/WS/LONG?wait=true&token=${secret}`;
    const answer = await fetch(url, { method: 'POST', body, duplex: 'half' });
    const text = await answer.text();
    const fault = faultOf({ status: answer.status, body: text }, folder);
    if (fault !== undefined) failures.push(fault);
    if (answer.status !== 400) failures.push(`status ${answer.status}: ${text.slice(0, 300)}`);
  }
  const grown = process.memoryUsage().rss - before;
  if (grown > GROWTH_MAX) failures.push(`the server grew by ${Math.round(grown / MEGABYTE)} MB`);
  failures.push(...(await arena.faults()));
  log(`2 lines of ${count} MB, the server grew by ${Math.round(grown / MEGABYTE)} MB`);
  return { runs: 2, failures };
}
