// The simple way to stream: Fastify with one write per message and reader.
import type { ServerResponse } from 'node:http';
import Fastify from 'fastify';

interface Naive {
  readonly port: number;
  readonly publish: (symbol: string, message: object) => void;
  close(): Promise<void>;
}

export async function startNaive(): Promise<Naive> {
  const readers = new Map<string, Set<ServerResponse>>();
  const server = Fastify({ logger: false, forceCloseConnections: true });
  server.get('/last', (request, reply) => {
    const { symbols } = request.query as { readonly symbols: string };
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, { 'content-type': 'text/event-stream' });
    raw.flushHeaders();
    for (const symbol of symbols.split(',')) {
      const own = readers.get(symbol) ?? new Set<ServerResponse>();
      readers.set(symbol, own.add(raw));
      raw.once('close', () => own.delete(raw));
    }
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    port: Number(new URL(address).port),
    publish: (symbol, message) => {
      const text = `data: [${JSON.stringify(message)}]\r\n\r\n`;
      for (const raw of readers.get(symbol) ?? []) raw.write(text);
    },
    close: () => server.close(),
  };
}
