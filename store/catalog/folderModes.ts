// Restricts the data folder to this user, also if it was created by others.
import { chmodSync, statSync } from 'node:fs';
import { Failure } from '../base/failure.ts';

/** Permission bits of the group and of all others. */
const OTHERS = 0o077;

/**
 * Removes the permissions of other users.
 * @returns the path, if its mode had to be changed
 * @throws Failure Conflict with what to do if this user can't change the mode.
 */
export function restrictToOwner(path: string): readonly string[] {
  // Windows has no such permissions.
  if (process.getuid === undefined) return [];
  const before = statSync(path).mode;
  if ((before & OTHERS) === 0) return [];
  const modeFailure = (why: string): Failure => {
    const rights = (before & 0o777).toString(8);
    const what = `others may read ${path} (mode ${rights}), and it can not be changed: ${why}`;
    return new Failure(
      'Conflict',
      `${what}; chmod go-rwx it, or set TAPEDECK_DATA to a folder below it`,
    );
  };
  try {
    chmodSync(path, before & 0o700);
  } catch (error) {
    throw modeFailure(String((error as { code?: string }).code));
  }
  // Some file systems accept the change without applying it.
  if ((statSync(path).mode & OTHERS) !== 0) throw modeFailure('its file system has no such rights');
  return [path];
}
