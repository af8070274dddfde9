// Bare Fastify that answers every path with the headers and the bytes of one of our answers, and both driven
// in turn by one client process.
import Fastify from 'fastify';
import { median, type Ratio, rounded } from '../measure.ts';
import { drive } from './hotReads.ts';

/** Requests that are asked over and over, and the file that they are in. */
export interface Asked {
  readonly name: string;
  readonly paths: readonly string[];
  readonly list: string;
  readonly pairs: number;
}

export async function measure(
  [ourPort, theirPort]: readonly [number, number],
  { list, name, pairs }: Asked,
  target: string,
): Promise<Ratio> {
  const ratios: { ours: number; theirs: number }[] = [];
  for (let pair = 0; pair <= pairs; pair += 1) {
    const ours = await drive(ourPort, list);
    const theirs = await drive(theirPort, list);
    if (pair > 0) ratios.push({ ours, theirs });
  }
  return {
    bench: name,
    ratio: rounded(median(ratios.map(({ ours, theirs }) => ours / theirs))),
    target,
    pairs,
    oursMs: rounded(median(ratios.map(({ ours }) => 1000 / ours))),
    bareMs: rounded(median(ratios.map(({ theirs }) => 1000 / theirs))),
    note: 'milliseconds an answer, 32 connections of one client process',
  };
}

/** Answers all paths with the headers and the body of one of our answers. */
export async function bareFastify(
  url: string,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const sample = await fetch(url);
  const body = Buffer.from(await sample.arrayBuffer());
  const skipped = new Set(['connection', 'keep-alive', 'date', 'content-length']);
  const headers = Object.fromEntries([...sample.headers].filter(([name]) => !skipped.has(name)));
  const server = Fastify({ logger: false });
  server.get('/v1/*', (_request, reply) => {
    void reply.headers(headers).send(body);
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  return { port: Number(new URL(address).port), close: () => server.close() };
}
