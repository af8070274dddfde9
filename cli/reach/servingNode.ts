// The node that serves a catalog which several servers share: what a command asks is for it.
import { fingerprintOf, type ServerDoor } from './serverDoor.ts';
import type { Settings } from '../../store/base/settings/settings.ts';

interface Serving {
  readonly server: ServerDoor;
  /** Fingerprint of its operator's token: nodes have the same, by their settings. */
  readonly operator: string | undefined;
}

/** Undefined where none serves. */
export async function servingNode({
  adminToken,
  database,
}: Pick<Settings, 'adminToken' | 'database'>): Promise<Serving | undefined> {
  if (database === undefined) return undefined;
  const { withLink } = await import('../../store/postgres/link.ts');
  const { findServing } = await import('../../store/postgres/nodeTable.ts');
  const found = await withLink(database, (link) => findServing(link, database));
  if (found === undefined) return undefined;
  const { certificate, doors } = found;
  const tls = certificate === '' ? {} : { ca: certificate, isPinned: true };
  const operator = adminToken === '' ? undefined : fingerprintOf(adminToken);
  return { server: { base: doors.production, ...tls }, operator };
}
