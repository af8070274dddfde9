// Copies of the data folder of a first start: creating a catalog takes half of the processor time of a
// server, and most tests start one on a folder of their own.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { HEAD_FILE, parseHead } from '../../store/files/lakeHead.ts';

interface FileCopy {
  readonly path: string;
  readonly bytes: Buffer;
  readonly mode: number;
}

let folderFiles: Promise<readonly FileCopy[]> | undefined;

export const emptyFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'tapedeck-test-'));

/**
 * Returns a folder with a lake id of its own.
 * @param make starts and ends a server on a folder: it runs once, the next folders are copies
 */
export async function startedFolder(make: (folder: string) => Promise<void>): Promise<string> {
  folderFiles ??= madeOnce(make);
  const folder = await emptyFolder();
  const files = await folderFiles;
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

async function madeOnce(make: (folder: string) => Promise<void>): Promise<readonly FileCopy[]> {
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
