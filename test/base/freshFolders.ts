// Data folders as a first start leaves them: making a catalog takes half of the processor time of a server,
// and most tests start one on a folder of their own.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { HEAD_FILE, parseHead } from '../../store/files/lakeHead.ts';

interface Kept {
  readonly path: string;
  readonly bytes: Buffer;
  readonly mode: number;
}

let kept: Promise<readonly Kept[]> | undefined;

export const emptyFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'tapedeck-test-'));

/**
 * Each is a lake of its own.
 * @param make a first start on a folder, and its end: it happens once, the next folders are copies
 */
export async function startedFolder(make: (folder: string) => Promise<void>): Promise<string> {
  kept ??= madeOnce(make);
  const folder = await emptyFolder();
  const files = await kept;
  const head = files.find(({ path }) => path === join('lake', HEAD_FILE))?.bytes.toString();
  const lake = parseHead(head)?.lake;
  assert.ok(lake);
  const other = randomUUID();
  for (const { bytes: copied, mode, path } of files) {
    const bytes = Buffer.from(copied);
    const at = bytes.indexOf(lake);
    if (at >= 0) bytes.write(other, at);
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, path), bytes, { mode });
  }
  return folder;
}

async function madeOnce(make: (folder: string) => Promise<void>): Promise<readonly Kept[]> {
  const folder = await emptyFolder();
  try {
    await make(folder);
    const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    const paths = files.map(({ name, parentPath }) =>
      join(parentPath, name).slice(folder.length + 1),
    );
    return await Promise.all(
      paths.map(async (path) => {
        const [bytes, { mode }] = await Promise.all([
          readFile(join(folder, path)),
          stat(join(folder, path)),
        ]);
        return { path, bytes, mode: mode & 0o777 };
      }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
