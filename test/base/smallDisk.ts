// A disk of a few megabytes for a test: a file system in memory, filled up to a limit of the test.
import { execFileSync } from 'node:child_process';
import { mkdtemp, open, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext } from 'vitest';

/** Small enough to fill quickly, large enough for an empty lake. */
const DISK_MB = 24;

/** The unit in which it is filled. */
const PIECE = Buffer.alloc(1 << 20);

interface SmallDisk {
  readonly folder: string;
  /** Leaves this many bytes free, or all. */
  readonly leave: (bytes: number | undefined) => Promise<void>;
}

/** A test without the right to mount is skipped; in CI that is a failure. */
export async function smallDisk(t: TestContext): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-disk-'));
  const isMounted = mount(folder);
  t.onTestFinished(async () => {
    if (isMounted) execFileSync('umount', ['--lazy', folder]);
    await rm(folder, { recursive: true, force: true });
  });
  if (!isMounted) {
    expect(process.env['CI'], 'a tmpfs can be mounted').not.toBe('true');
    t.skip('a tmpfs could not be mounted');
  }
  const ballast = join(folder, 'ballast');
  const leave = async (bytes: number | undefined): Promise<void> => {
    await rm(ballast, { force: true });
    if (bytes === undefined) return;
    await fill(ballast, folder, bytes);
  };
  return { folder, leave };
}

/** A server on the disk writes meanwhile: the free space is read again after each piece. */
async function fill(ballast: string, folder: string, leaves: number): Promise<void> {
  const file = await open(ballast, 'a');
  try {
    for (;;) {
      const { bavail, bsize } = await statfs(folder);
      const size = Math.min(bavail * bsize - leaves, PIECE.length);
      if (size <= 0) return;
      await file.appendFile(PIECE.subarray(0, size));
    }
  } catch (error) {
    // The server has used the space of the piece: the disk is as full as it gets.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    await file.close();
  }
}

function mount(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', folder], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
