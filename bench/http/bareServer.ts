// Bare Fastify in a separate process: answers all paths with the same headers and body.
import Fastify from 'fastify';
import { serveParent } from './childRequests.ts';

export interface BareAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

serveParent(async ({ body, headers }: BareAnswer) => {
  const server = Fastify({ logger: false });
  const bytes = Buffer.from(body);
  server.get('/v1/*', (_request, reply) => {
    void reply.headers({ ...headers }).send(bytes);
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  return Number(new URL(address).port);
});
