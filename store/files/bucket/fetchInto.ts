// A file of the bucket comes to its place whole and synced, or not at all.
import { dirname, join } from 'node:path';
import type { Disk } from '../../base/disk.ts';
import { newUuid } from '../../base/random.ts';

interface FetchOrder {
  readonly disk: Disk;
  /** Where it is until it is whole: on the disk of its place. */
  readonly temporary: string;
  /** Into a local file; false where there is none. */
  readonly fetch: (part: string) => Promise<boolean>;
  /** Looks at what came; false, or a failure, and it does not get its place. */
  readonly isRight?: (part: string) => Promise<boolean>;
}

/** False where there is none, or not the right one: what is in its place stays. */
export async function fetchInto(
  target: string,
  { disk, fetch, isRight, temporary }: FetchOrder,
): Promise<boolean> {
  const part = join(temporary, newUuid());
  try {
    if (!(await fetch(part))) return false;
    if (isRight !== undefined && !(await isRight(part))) return false;
    // What a loss of power took away of it would be taken for damage.
    await disk.syncFile(part);
    await disk.makeFolder(dirname(target));
    await disk.rename(part, target);
    return true;
  } finally {
    await disk.remove(part);
  }
}
