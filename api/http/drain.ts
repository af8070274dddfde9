// The end of the doors: what is on its way may arrive, for a while.
import type { FastifyInstance } from 'fastify';

/** Of the time from the signal to the end: for answers on their way, then for jobs that run. */
export const ANSWERS_SHARE = 0.5;
export const JOBS_SHARE = 0.25;

/**
 * Takes no new connection and closes idle ones; answers and bodies on their way have so long, then
 * their connections are cut: readers that do not read, requests that are half sent, jobs waited for.
 */
export async function closeDoors(
  servers: readonly FastifyInstance[],
  graceMs: number,
): Promise<void> {
  const cut = setTimeout(() => {
    for (const { server } of servers) server.closeAllConnections();
  }, graceMs);
  await Promise.all(servers.map((server) => server.close()));
  clearTimeout(cut);
}
