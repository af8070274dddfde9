// Bytes behind the end of a zip, such as a second zip, are refused: they would be lost.
import { expect } from 'vitest';
import { load } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import { zipOf } from '../../soak/fuzz/http/bases.ts';

test('two zip files in one body are refused', async ({ server }) => {
  const zip = zipOf('a.csv', Buffer.from('id,v\n1,2\n'));
  const other = zipOf('b.csv', Buffer.from('id,v\n2,3\n'));
  expect((await load(server, 'ONE', zip)).status).toBe(200);
  for (const body of [
    Buffer.concat([zip, other]),
    Buffer.concat([zip, Buffer.from('symbol\nB\n')]),
  ]) {
    const answer = await load(server, 'TWO', body);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('zip')]);
  }
});
