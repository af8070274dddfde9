// Bare Fastify that answers every path with the headers and bytes of one of our responses. One client process
// drives both sides alternately.
import { requestChild, endChild, forkChild } from '../http/childRequests.ts';
import { byPace, type Client, type Side } from '../http/clientProcess.ts';
import type { BareAnswer } from '../http/bareServer.ts';
import { type Ratio, measureRatio } from '../base/measure.ts';
import { CONNECTIONS, driveReads } from './hotReads.ts';

/** Requests to repeat. */
export interface ReadPlan {
  readonly name: string;
  readonly paths: readonly string[];
  readonly pairs: number;
}

export async function measure(
  client: Client,
  [ours, theirs]: readonly [Side, Side],
  { name, pairs, paths }: ReadPlan,
  target: string,
): Promise<Ratio> {
  const ratio = await measureRatio(
    { name, target, pairs },
    async () => byPace(await driveReads(client, ours, paths)),
    async () => byPace(await driveReads(client, theirs, paths)),
  );
  const note = `milliseconds by answers of ${CONNECTIONS} connections; p50 and p99 of one answer`;
  return { ...ratio, note };
}

/** Starts a server that answers all paths with the headers and body of one of our responses. */
export async function bareFastify(url: string): Promise<Side & AsyncDisposable> {
  const sample = await fetch(url);
  const body = Buffer.from(await sample.arrayBuffer());
  if (!sample.ok) throw new Error(`${url} answered ${sample.status} ${body.toString()}`);
  const skipped = new Set(['connection', 'keep-alive', 'date', 'content-length']);
  const headers = Object.fromEntries([...sample.headers].filter(([name]) => !skipped.has(name)));
  const child = forkChild('./bareServer.ts');
  const answer: BareAnswer = { headers, body };
  const port = await requestChild<number>(child, answer);
  return { port, pids: [child.pid ?? 0], [Symbol.asyncDispose]: () => endChild(child) };
}
