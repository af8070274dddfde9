// Arrow files with false metadata: each is refused in words, immediately, and the server goes on.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import * as arrow from 'apache-arrow';
import { afterAll, beforeAll, test } from 'vitest';
import { load, loaded } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { arrowOf } from '../../soak/fuzz/http/bases.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const INPUTS = join(import.meta.dirname, 'inputs');

/** Far below what decoding the claimed rows would take, and above a start of the decoder. */
const QUICK_MS = 5_000;

const vector = (type: arrow.DataType, values: readonly unknown[]): arrow.Vector =>
  arrow.vectorFromArray(values, type);

const stream = (columns: Readonly<Record<string, arrow.Vector>>): Buffer =>
  Buffer.from(arrow.tableToIPC(new arrow.Table(columns), 'stream'));

/** The bytes with the only occurrence of a pattern replaced. */
function patched(bytes: Buffer, from: Buffer, to: Buffer): Buffer {
  const at = bytes.indexOf(from);
  assert.ok(at >= 0 && bytes.indexOf(from, at + 1) < 0, 'the pattern occurs once');
  return Buffer.concat([bytes.subarray(0, at), to, bytes.subarray(at + from.length)]);
}

const int32s = (...values: readonly number[]): Buffer =>
  Buffer.from(Int32Array.from(values).buffer);

const texts = stream({ t: vector(new arrow.Utf8(), ['abc', 'defg']) });
const words = stream({
  w: vector(new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()), ['u', 'v', 'u']),
});

/**
 * A stream whose schema names a byte order: ours leave it at its default, so it is read from another
 * field.
 */
function bigEndian(): Buffer {
  const bytes = Buffer.from(texts);
  const message = 8 + bytes.readUInt32LE(8);
  const header = message + bytes.readUInt16LE(message - bytes.readInt32LE(message) + 8);
  const schema = header + bytes.readUInt32LE(header);
  const layout = schema - bytes.readInt32LE(schema);
  bytes.writeUInt16LE(bytes.readUInt16LE(layout + 6), layout + 4);
  return bytes;
}

const CASES: readonly (readonly [string, () => Buffer | Promise<Buffer>, RegExp])[] = [
  [
    'a list of two billion values in 392 bytes',
    () => readFile(join(INPUTS, 'list-of-2-billion.arrow')),
    /column v: offset 2147483647 of row 2 is not between 0 and 8/,
  ],
  [
    'five million rows of nulls in 240 bytes',
    () => readFile(join(INPUTS, 'five-million-null-rows.arrow')),
    /it claims 5000000 rows, more than its bytes can hold/,
  ],
  [
    'a text that ends beyond its bytes',
    () => patched(texts, int32s(0, 3, 7), int32s(0, 3, 2_000_000_000)),
    /column t: offset 2000000000 of row 3 is not between 3 and \d+/,
  ],
  [
    'offsets that descend',
    () => patched(texts, int32s(0, 3, 7), int32s(5, 3, 7)),
    /column t: offset 3 of row 2 is not between 5 and/,
  ],
  [
    'a negative offset',
    () => patched(texts, int32s(0, 3, 7), int32s(-1, 3, 7)),
    /column t: offset -1 of row 1/,
  ],
  [
    'a text that is no UTF-8',
    () => patched(texts, Buffer.from('abcdefg'), Buffer.from('ab\xFFdefg', 'latin1')),
    /column t: the text of row 1 is not UTF-8/,
  ],
  [
    'an index outside its dictionary',
    () => patched(words, int32s(0, 1, 0), int32s(0, 9, 0)),
    /column w: index 9 of row 2 is not in its dictionary of 2/,
  ],
  ['another byte order', bigEndian, /it is big-endian: write it again in little-endian byte order/],
  ['half a stream', () => texts.subarray(0, texts.length >> 1), /it is cut short/],
  ['half a file', () => arrowOf('file').subarray(0, 700), /it is cut short/],
  ['a file of its mark', () => Buffer.from('ARROW1\0\0ARROW1'), /it is cut short/],
  [
    'an index of a file that points past it',
    () => {
      const bytes = arrowOf('file');
      bytes.writeInt32LE(2 ** 30, bytes.length - 10);
      return bytes;
    },
    /a message is damaged/,
  ],
];

for (const [name, bytes, reason] of CASES) {
  test(name, async () => {
    const from = performance.now();
    const answer = await load(server, 'LIES', await bytes());
    const text = await answer.text();
    assert.equal(answer.status, 400, text);
    assert.match(text, /the body is not readable Arrow: /);
    assert.match(text, reason);
    assert.ok(performance.now() - from < QUICK_MS, 'it is refused immediately');
    assert.equal((await fetch(`${server.base}/v1/status`)).status, 200);
  });
}

test('an intact file loads after all the damaged ones', async () => {
  for (const format of ['file', 'stream'] as const) {
    const job = await loaded(server, `WHOLE_${format}`, arrowOf(format), { key: 'symbol' });
    assert.equal(job.recordsValidated, 3);
  }
  const packed = await loaded(server, 'PACKED', zstdCompressSync(arrowOf('stream')));
  assert.equal(packed.recordsValidated, 3);
});
