// Closes the servers gracefully.
import type { FastifyInstance } from 'fastify';

/** Shares of the shutdown time: for answers in progress, then for running jobs. */
export const ANSWERS_SHARE = 0.5;
export const JOBS_SHARE = 0.25;

/**
 * Refuses new connections and closes idle ones. Answers and bodies in progress have the grace period; then
 * their connections are cut, including slow readers, incomplete requests and waits for jobs.
 */
export async function closeServers(
  servers: readonly FastifyInstance[],
  graceMs: number,
): Promise<void> {
  const timeout = setTimeout(() => {
    for (const { server } of servers) server.closeAllConnections();
  }, graceMs);
  await Promise.all(servers.map((server) => server.close()));
  clearTimeout(timeout);
}
