// Marks a restored data folder as asleep. It is a copy: served in addition to the original, it would repeat
// pulls from sources, calls of receivers and exports. It stays asleep until its operator wakes it.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeSecretFile } from './secrets/secretFile.ts';

/** Name of the marker file in the folder. */
export const ASLEEP_FILE = 'asleep';

/** The state of a sleeping folder: a sentence that begins with the folder. */
export const ASLEEP = 'was restored and is asleep: schedules, webhooks and exports wait';

export const WAITING_WORK = 'schedules, webhooks, alerts and exports wait until `tapedeck wake`';

export const isAsleep = (folder: string): boolean => existsSync(join(folder, ASLEEP_FILE));

/** @param reason a text for people who open the file */
export const markAsleep = (folder: string, reason: string): void =>
  writeSecretFile(join(folder, ASLEEP_FILE), reason);

/** Wakes a folder; a running server begins within seconds. @returns whether it was asleep */
export function wake(folder: string): boolean {
  const wasAsleep = isAsleep(folder);
  rmSync(join(folder, ASLEEP_FILE), { force: true });
  return wasAsleep;
}
