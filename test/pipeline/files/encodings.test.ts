// An encoding that the bytes do not declare is returned with the reason.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { load } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

async function encodingsOf(
  id: string,
  body: Uint8Array,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const answer = await load(server, id, body, query);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  const { inferred } = JSON.parse(text) as { readonly inferred: readonly string[] };
  return inferred.filter((note) => note.includes('encoding'));
}

const OTHERWISE =
  'if it is another, pass encoding=, such as encoding=windows-1250 (--encoding windows-1250)';
const note = (encoding: string, why: string): string =>
  `inferred encoding: ${encoding}, because ${why}; ${OTHERWISE}`;

// \u0159 and \u00E1 of windows-1250, and a word of Shift-JIS.
const CZECH = Buffer.from('symbol,name\nA,plain\nB,Dvo\xF8\xE1k\n', 'latin1');
const JAPANESE = Buffer.from('symbol,name\nA,\x93\xFA\x96\x7B\n', 'latin1');
const LINES = Buffer.from('{"symbol":"A","name":"\xFF"}\n{"symbol":"B"}\n', 'latin1');
const WIDE = 'symbol,name\nA,one\nB,two\n';

test('a guessed encoding is in `inferred`, with its first byte and the parameter', async () => {
  assert.deepEqual(await encodingsOf('CZECH', CZECH), [
    note('windows-1252', 'byte 0xF8 in line 3 is no UTF-8'),
  ]);
  assert.deepEqual(await encodingsOf('JAPANESE', JAPANESE), [
    note('windows-1252', 'byte 0x93 in line 2 is no UTF-8'),
  ]);
  assert.deepEqual(await encodingsOf('LINES', LINES), [
    note('windows-1252', 'byte 0xFF in line 1 is no UTF-8'),
  ]);
  assert.deepEqual(await encodingsOf('WIDE', Buffer.from(WIDE, 'utf16le')), [
    note('utf-16le', 'every other byte is zero and there is no byte order mark'),
  ]);
});

test('an encoding that a mark or the request declares has no note', async () => {
  assert.deepEqual(await encodingsOf('PLAIN', Buffer.from('symbol,name\nA,\u0159\n')), []);
  assert.deepEqual(await encodingsOf('MARK', Buffer.from(`\uFEFF${WIDE}`)), []);
  assert.deepEqual(await encodingsOf('WIDE_MARK', Buffer.from(`\uFEFF${WIDE}`, 'utf16le')), []);
  assert.deepEqual(await encodingsOf('DECLARED', CZECH, { encoding: 'windows-1250' }), []);
  assert.deepEqual(await encodingsOf('SHIFT', JAPANESE, { encoding: 'shift_jis' }), []);
});
