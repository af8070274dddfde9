// Finds the serving node of a catalog that several servers share; commands send their requests to it.
import { fingerprintOf, type ServerEndpoint } from './serverEndpoint.ts';
import type { Settings } from '../../store/base/settings/settings.ts';

interface Serving {
  readonly server: ServerEndpoint;
  /** Fingerprint of its operator's token, which is the same setting on all nodes. */
  readonly operator: string | undefined;
}

/** Returns undefined if no node serves. */
export async function servingNode({
  adminToken,
  database,
}: Pick<Settings, 'adminToken' | 'database'>): Promise<Serving | undefined> {
  if (database === undefined) return undefined;
  const { withConnection } = await import('../../store/postgres/postgresConnection.ts');
  const { findServing } = await import('../../store/postgres/nodeTable.ts');
  const node = await withConnection(database, (link) => findServing(link, database));
  if (node === undefined) return undefined;
  const { certificate, doors } = node;
  const tls = certificate === '' ? {} : { ca: certificate, isPinned: true };
  const operator = adminToken === '' ? undefined : fingerprintOf(adminToken);
  return { server: { base: doors.production, ...tls }, operator };
}
