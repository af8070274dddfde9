// The list of a folder's files, while folders are created and removed concurrently.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { localDisk } from '../../../store/base/disk.ts';

const LISTS = 300;

test('a folder that is removed meanwhile hides none of the other files', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tapedeck-listing-'));
  const stays = ['a/b/stays', 'stays', 'z/stays'];
  for (const path of stays) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), '');
  }
  const listing = new AbortController();
  const passing = Array.from({ length: 4 }, async (_, at) => {
    for (let turn = 0; !listing.signal.aborted; turn += 1) {
      const folder = join(root, `m${at}-${turn}`);
      await mkdir(join(folder, 'inner'), { recursive: true });
      await rm(folder, { recursive: true });
    }
  });
  try {
    for (let turn = 0; turn < LISTS; turn += 1) {
      assert.deepEqual([...(await localDisk.list(root))].sort(), stays);
    }
  } finally {
    listing.abort();
    await Promise.all(passing);
    await rm(root, { recursive: true });
  }
  assert.deepEqual(await localDisk.list(root), [], 'no folder, no files');
});
