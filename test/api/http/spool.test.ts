// A refused body leaves nothing behind, at any point of the refusal.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Disk, localDisk } from '../../../store/base/disk.ts';
import { test } from '../../base/fixtures.ts';
import { startServer } from '../../base/server.ts';

const REQUESTS: readonly (readonly [path: string, status: number])[] = [
  ['/data/WS/D?wide=date', 400],
  ['/data/WS/D?columns=nonsense', 400],
  ['/data/WS/D?encoding=nonsense', 400],
  ['/data/WS/D?duplicateKeyHandling=nonsense', 400],
  ['/record/WS/D?duplicateKeyHandling=nonsense', 400],
  ['/generate-schema/WS?dateOrder=nonsense', 400],
];

test('bodies of invalid requests', async ({ server }) => {
  for (const [path, status] of REQUESTS) {
    const url = `${server.base}/v1${path}&token=${server.secret}`;
    const answer = await fetch(url, { method: 'POST', body: '[{"symbol":"A"}]' });
    assert.equal(answer.status, status, `${path}: ${await answer.text()}`);
    assert.deepEqual(readdirSync(join(server.folder, 'spool')), [], path);
  }
});

test('a disk that fails once while a large body arrives', async () => {
  let syncs = 0;
  const failing: Disk = {
    ...localDisk,
    // The second call would succeed: an operating system reports such an error only once.
    syncFile: (path) => {
      syncs += path.includes('/spool/') ? 1 : 0;
      if (path.includes('/spool/') && syncs === 1) return Promise.reject(new Error('EIO: no disk'));
      return localDisk.syncFile(path);
    },
  };
  await using server = await startServer({ seams: { disk: failing } });
  const body = `symbol,date,close\n${'A,2024-01-01,1\n'.repeat(1_200_000)}`;
  const url = `${server.base}/v1/data/WS/D?wait=true&token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body });
  assert.equal(answer.status, 500, await answer.text());
  assert.deepEqual(readdirSync(join(server.folder, 'spool')), []);
  assert.equal(syncs, 1);
});
