// Parent's side of Fastify over PostgreSQL.
import { requestChild, endChild, forkChild } from '../http/childRequests.ts';
import type { Side } from '../http/clientProcess.ts';
import type { Records } from './fastifyPostgres.ts';

interface PostgresReply {
  readonly port: number | undefined;
}

/** Returns undefined if the machine has no PostgreSQL. */
export async function serveByPostgres(
  records: Records,
): Promise<(Side & AsyncDisposable) | undefined> {
  const child = forkChild('../hot/fastifyPostgres.ts');
  const { port } = await requestChild<PostgresReply>(child, records);
  const close = async (): Promise<void> => {
    await requestChild<PostgresReply>(child, 'ended');
    await endChild(child);
  };
  if (port === undefined) {
    await close();
    return undefined;
  }
  return { port, pids: [child.pid ?? 0], [Symbol.asyncDispose]: close };
}
