// Who else may look into the data folder: nobody. A folder that was made by other hands is closed.
import { chmodSync, statSync } from 'node:fs';
import { Failure } from '../base/failure.ts';

/** Rights of the group and of all others. */
const OTHERS = 0o077;

/**
 * Takes the rights of others away.
 * @returns the path, when it had to be changed
 * @throws Failure Conflict with what to do, when it is not ours to change.
 */
export function closeToOthers(path: string): readonly string[] {
  // Windows has no such rights.
  if (process.getuid === undefined) return [];
  const before = statSync(path).mode;
  if ((before & OTHERS) === 0) return [];
  const told = (why: string): Failure => {
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
    throw told(String((error as { code?: string }).code));
  }
  // Some file systems take the change and keep their rights.
  if ((statSync(path).mode & OTHERS) !== 0) throw told('its file system has no such rights');
  return [path];
}
