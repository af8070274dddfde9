// What an operator's tools ask: alive, ready, metrics. And how the server speaks TLS.
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import type { FastifyInstance } from 'fastify';
import { reasonOf } from '../store/failure.ts';
import type { Settings } from '../store/settings.ts';
import type { Services } from './endpoint.ts';
import type { Metrics } from './metrics.ts';

export interface ServerState {
  /** The server takes no new work and ends soon. */
  draining: boolean;
  readonly metrics: Metrics;
}

/** `/healthz`, `/readyz` and `/metrics` stand outside the versions and need no token. */
export function addOperations(
  server: FastifyInstance,
  services: Services,
  state: ServerState,
): void {
  server.get('/healthz', (_request, reply) => reply.type('text/plain').send('ok\n'));
  server.get('/readyz', async (_request, reply) => {
    const reason = await notReady(services, state);
    const text = reason === undefined ? readyText(services) : `not ready: ${reason}\n`;
    return reply
      .code(reason === undefined ? 200 : 503)
      .type('text/plain')
      .send(text);
  });
  server.get('/metrics', async (_request, reply) =>
    reply.header('content-type', state.metrics.contentType).send(await state.metrics.text()),
  );
}

/** Damage of some files is no reason to take the server away: all the others are served. */
function readyText({ proofs }: Services): string {
  if (proofs.damaged === 0) return 'ready\n';
  const advice = 'see `tapedeck verify`';
  return `ready, but ${proofs.damaged} files of the lake are damaged: ${advice}\n`;
}

async function notReady(services: Services, state: ServerState): Promise<string | undefined> {
  if (state.draining) return 'draining';
  try {
    await sql`select 1`.execute(services.database);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Options that make the server speak HTTPS, when certificate and key are set. */
export async function tlsOf(
  settings: Settings,
): Promise<{ readonly https?: { readonly cert: Buffer; readonly key: Buffer } }> {
  if (settings.tlsCert === '') return {};
  const [cert, key] = await Promise.all([readFile(settings.tlsCert), readFile(settings.tlsKey)]);
  return { https: { cert, key } };
}
