// Parent's side of Fastify over PostgreSQL.
import { answerOf, ended, forked } from '../http/childAsked.ts';
import type { Side } from '../http/clientProcess.ts';
import type { Records } from './fastifyPostgres.ts';

interface Served {
  readonly port: number | undefined;
}

/** Returns undefined if the machine has no PostgreSQL. */
export async function serveByPostgres(
  records: Records,
): Promise<(Side & AsyncDisposable) | undefined> {
  const child = forked('../hot/fastifyPostgres.ts');
  const { port } = await answerOf<Served>(child, records);
  const close = async (): Promise<void> => {
    await answerOf<Served>(child, 'ended');
    await ended(child);
  };
  if (port === undefined) {
    await close();
    return undefined;
  }
  return { port, pids: [child.pid ?? 0], [Symbol.asyncDispose]: close };
}
