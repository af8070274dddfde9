// A data folder that was restored is a copy: whoever serves it beside the first one would pull sources twice,
// call receivers twice and export twice. It sleeps until its operator wakes it.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeSecretFile } from './secrets/secretFile.ts';

/** A file of this name in the folder. */
export const ASLEEP = 'asleep';

export const isAsleep = (folder: string): boolean => existsSync(join(folder, ASLEEP));

/** @param reason for a person who looks into the folder */
export const putAsleep = (folder: string, reason: string): void =>
  writeSecretFile(join(folder, ASLEEP), reason);

/** Whether it slept. A server that runs on it begins within seconds. */
export function wake(folder: string): boolean {
  const slept = isAsleep(folder);
  rmSync(join(folder, ASLEEP), { force: true });
  return slept;
}
