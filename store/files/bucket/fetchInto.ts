// Fetches a file of the bucket to its local path, complete and synced, or not at all.
import { dirname, join } from 'node:path';
import type { Disk } from '../../base/disk.ts';
import { newUuid } from '../../base/random.ts';

interface FetchOrder {
  readonly disk: Disk;
  /** Folder of incomplete files, on the same disk as the target. */
  readonly temporary: string;
  /** Downloads to a local file; false if the object does not exist. */
  readonly fetch: (part: string) => Promise<boolean>;
  /** Checks the downloaded file; if it returns false or throws, the file is discarded. */
  readonly isRight?: (part: string) => Promise<boolean>;
}

/** @returns false if the object does not exist or is not correct: the target is unchanged */
export async function fetchInto(
  target: string,
  { disk, fetch, isRight, temporary }: FetchOrder,
): Promise<boolean> {
  const part = join(temporary, newUuid());
  try {
    if (!(await fetch(part))) return false;
    if (isRight !== undefined && !(await isRight(part))) return false;
    // After a power loss an unsynced file would look damaged.
    await disk.syncFile(part);
    await disk.makeFolder(dirname(target));
    await disk.rename(part, target);
    return true;
  } finally {
    await disk.remove(part);
  }
}
