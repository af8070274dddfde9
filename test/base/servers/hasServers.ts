// Finds the third-party servers on this machine; their absence is a counted skip, and a failure under CI.
import { globSync } from 'node:fs';
import { programIn } from './daemon.ts';

const isHere = {
  postgres: async () => globSync('/usr/lib/postgresql/*/bin/initdb').length > 0,
  swift: async () => globSync('/usr/bin/swift-proxy-server').length > 0,
  nats: async () => (await programIn('nats-server', ['/usr/sbin'])) !== undefined,
} as const;

export async function hasServers(...names: readonly (keyof typeof isHere)[]): Promise<boolean> {
  const availability = await Promise.all(names.map((name) => isHere[name]()));
  return availability.every(Boolean);
}

/** Tests of missing servers are skipped, except in CI, which must have all of them. */
export const isLeftOut = (hasAll: boolean): boolean => !hasAll && process.env['CI'] !== 'true';
