// Bytes behind the end of a zip, such as a second zip, are refused: they would be lost.
import { expect } from 'vitest';
import { load } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import { zipOf } from '../../soak/fuzz/http/bases.ts';

/** The end of a zip without a comment. */
const END_BYTES = 22;

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

test('a zip with a comment loads, and one with the larger form of its end', async ({ server }) => {
  const zip = zipOf('a.csv', Buffer.from('id,v\n1,2\n'));
  const end = zip.subarray(-END_BYTES);
  const comment = Buffer.from('of the vendor');
  const commented = Buffer.concat([zip, comment]);
  commented.writeUInt16LE(comment.length, zip.length - 2);
  expect((await load(server, 'COMMENT', commented)).status).toBe(200);
  const body = zip.subarray(0, -END_BYTES);
  const [size, offset] = [end.readUInt32LE(12), end.readUInt32LE(16)];
  const larger = Buffer.alloc(56);
  larger.writeUInt32LE(0x06064b50);
  larger.writeBigUInt64LE(44n, 4);
  larger.writeBigUInt64LE(1n, 24);
  larger.writeBigUInt64LE(1n, 32);
  larger.writeBigUInt64LE(BigInt(size), 40);
  larger.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50);
  locator.writeBigUInt64LE(BigInt(body.length), 8);
  locator.writeUInt32LE(1, 16);
  const last = Buffer.from(end).fill(0xff, 8, 20);
  const zip64 = Buffer.concat([body, larger, locator, last]);
  const answer = await load(server, 'LARGER', zip64);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('completed')]);
});
