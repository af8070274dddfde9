// An existing data folder with open permissions.
import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { openFolder } from '../../../store/catalog/folder.ts';
import { restrictToOwner } from '../../../store/catalog/folderModes.ts';

test('a data folder that others could read is closed to them, and the change is reported', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tapedeck-modes-'));
  try {
    const modeOf = async (name: string): Promise<string> =>
      ((await stat(join(root, name))).mode & 0o777).toString(8);
    await mkdir(join(root, 'lake'), { mode: 0o755 });
    await writeFile(join(root, 'key'), 'x', { mode: 0o644 });
    for (const name of ['.', 'lake']) await chmod(join(root, name), 0o755);
    const { restrictedPaths } = openFolder(root);
    assert.deepEqual(restrictedPaths, [root, join(root, 'lake'), join(root, 'key')]);
    for (const name of ['.', 'lake', 'spool', 'exports', 'tmp']) {
      assert.equal(await modeOf(name), '700', name);
    }
    assert.equal(await modeOf('key'), '600');
    assert.deepEqual(openFolder(root).restrictedPaths, [], 'once');
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

test('a folder that can not be closed is refused with its path and what to do', (t) => {
  // No user may change it, not even root.
  t.skip(process.platform !== 'linux', 'no /proc');
  const rule = {
    type: 'Conflict',
    message: /others may read \/proc\/self \(mode 555\).*chmod go-rwx/,
  };
  assert.throws(() => restrictToOwner('/proc/self'), rule);
});
