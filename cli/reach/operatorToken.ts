// Which token tells a server that its operator asks: what that asks for costs nothing.
import { existsSync } from 'node:fs';
import { adminToken } from '../../store/catalog/secrets/adminToken.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { Reached } from './folderAccess.ts';
import { fingerprintOf } from './serverDoor.ts';

/**
 * The operator's token of a server that was reached; undefined where it is not known here: then its
 * answers are charged as those of everybody.
 */
export function operatorToken(
  { folder, operator }: Extract<Reached, { kind: 'server' }>,
  { adminToken: given }: Settings,
): string | undefined {
  if (folder === undefined) return given === '' ? undefined : given;
  if (given === '' && !existsSync(folder.adminToken)) return undefined;
  const token = adminToken(given, folder.adminToken);
  return fingerprintOf(token) === operator ? token : undefined;
}
