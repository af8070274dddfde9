// Finds the token that identifies the operator to a server: the operator's requests are free.
import { existsSync } from 'node:fs';
import { loadAdminToken } from '../../store/catalog/secrets/adminToken.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { Reached } from './folderAccess.ts';
import { fingerprintOf } from './serverEndpoint.ts';

/**
 * Returns the operator's token of a server; undefined if it is unknown here: then its answers are charged
 * like those of every caller.
 */
export function operatorToken(
  { folder, operator }: Extract<Reached, { kind: 'server' }>,
  { adminToken: configured }: Settings,
): string | undefined {
  if (folder === undefined) return configured === '' ? undefined : configured;
  if (configured === '' && !existsSync(folder.adminToken)) return undefined;
  const token = loadAdminToken(configured, folder.adminToken);
  return fingerprintOf(token) === operator ? token : undefined;
}
