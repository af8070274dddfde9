// A body that is refused leaves nothing behind, wherever it is refused.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from '../../fixtures.ts';

const ASKED: readonly (readonly [path: string, status: number])[] = [
  ['/data/WS/D?wide=date', 400],
  ['/data/WS/D?columns=nonsense', 400],
  ['/data/WS/D?encoding=nonsense', 400],
  ['/data/WS/D?duplicateKeyHandling=nonsense', 400],
  ['/record/WS/D?duplicateKeyHandling=nonsense', 400],
  ['/generate-schema/WS?dateOrder=nonsense', 400],
];

test('bodies of requests that are asked wrongly', async ({ server }) => {
  for (const [path, status] of ASKED) {
    const url = `${server.base}/v1${path}&token=${server.secret}`;
    const answer = await fetch(url, { method: 'POST', body: '[{"symbol":"A"}]' });
    assert.equal(answer.status, status, `${path}: ${await answer.text()}`);
    assert.deepEqual(readdirSync(join(server.folder, 'spool')), [], path);
  }
});
