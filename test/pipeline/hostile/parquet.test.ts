// Parquet and Arrow: rows of nulls are records, bytes are refused by name or read as the load specifies.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import * as arrow from 'apache-arrow';
import { afterAll, beforeAll, test } from 'vitest';
import { load, loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { parquetOf } from '../../soak/fuzz/http/bases.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const inputOf = (name: string): Promise<Buffer> =>
  readFile(join(import.meta.dirname, 'inputs', name));

async function refused(body: Uint8Array, reason: RegExp, query = {}): Promise<void> {
  const answer = await load(server, 'REFUSED', body, query);
  const text = await answer.text();
  assert.equal(answer.status, 400, text);
  assert.match(text, reason);
}

test('a row of nulls is a record in every format of rows', async () => {
  const table = new arrow.Table({
    k: arrow.vectorFromArray([1, null, 3], new arrow.Int32()),
    t: arrow.vectorFromArray(['x', null, 'z'], new arrow.Utf8()),
  });
  const bodies: Readonly<Record<string, string | Uint8Array>> = {
    PARQUET: await inputOf('row-of-nulls.parquet'),
    ARROW: arrow.tableToIPC(table, 'stream'),
    JSON: '[{"k":1,"t":"x"},{"k":null,"t":null},{"k":3,"t":"z"}]',
    LINES: '{"k":1,"t":"x"}\n{}\n{"k":3,"t":"z"}\n',
  };
  for (const [id, body] of Object.entries(bodies)) {
    const job = await loaded(server, id, body);
    assert.deepEqual([job.recordsIngested, job.recordsInvalid], [3, 0], id);
    assert.ok((await read(server, `/data/WS/${id}?limit=9`)).includes('{"k":null,"t":null}'), id);
  }
  const csv = await loaded(server, 'CSV', 'k,t\n1,x\n,\n3,z\n');
  assert.deepEqual([csv.recordsIngested, csv.recordsInvalid], [2, 1], 'a line without a value');
});

test('bytes of Parquet are refused by name, or read as the load specifies', async () => {
  const bytes = await inputOf('bytes.parquet');
  await refused(bytes, /column name has type BLOB.*: pass binary=text \(--binary text\) for UTF-8/);
  await loaded(server, 'BYTES', bytes, { binary: 'text' });
  assert.equal(await read(server, '/data/WS/BYTES?limit=9'), '[{"k":1,"name":"abc"}]');
  await loaded(server, 'HEX', bytes, { binary: 'hex' });
  assert.equal(await read(server, '/data/WS/HEX?limit=9'), '[{"k":1,"name":"616263"}]');
  const odd = await parquetOf(`SELECT 1 AS k, 'ok'::BLOB AS b UNION ALL SELECT 2, '\\xFF'::BLOB`);
  await refused(odd, /column b: the bytes of row 2 are not UTF-8; pass binary=hex/, {
    binary: 'text',
  });
  const nested = await parquetOf(`SELECT 1 AS k, ['a'::BLOB] AS list`);
  await refused(nested, /column list has type BLOB\[\], which records can not hold/);
});

test('bytes of Arrow are refused by name, or read as the load specifies', async () => {
  const table = new arrow.Table({
    k: arrow.vectorFromArray([1, 2], new arrow.Int32()),
    b: arrow.vectorFromArray([Buffer.from('é'), null], new arrow.Binary()),
  });
  for (const format of ['file', 'stream'] as const) {
    const bytes = arrow.tableToIPC(table, format);
    await refused(bytes, /column b has type Binary.*: pass binary=text/);
    await loaded(server, `TEXT_${format}`, bytes, { binary: 'text' });
    const records = await read(server, `/data/WS/TEXT_${format}?limit=9&format=csv`);
    assert.deepEqual(records.trim().split(/\r?\n/).sort(), ['1,é', '2,', 'k,b']);
    await loaded(server, `HEX_${format}`, bytes, { binary: 'hex' });
    assert.match(await read(server, `/data/WS/HEX_${format}?limit=9`), /"b":"c3a9"/);
  }
});

test('encrypted and damaged Parquet is named', async () => {
  const whole = await inputOf('bytes.parquet');
  const encrypted = Buffer.from(whole);
  encrypted.write('PARE', 0);
  encrypted.write('PARE', encrypted.length - 4);
  await refused(encrypted, /the body is an encrypted Parquet file: write it without encryption/);
  await refused(whole.subarray(0, 200), /not readable Parquet: damaged or cut short/);
});

/** The only page of a file of one column, with the checksum of its bytes in its header. */
function withChecksum(bytes: Buffer, isRight: boolean): Buffer {
  // Thrift: type, size and compressed size are the first three fields, each a number of some bytes.
  let at = 4;
  let compressed = 0;
  for (let field = 0; field < 3; field += 1) {
    assert.equal(bytes[at], 0x15);
    at += 1;
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    compressed = value / 2;
  }
  const end = headerEnd(bytes, at);
  const sum = (crc32(bytes.subarray(end, end + compressed)) + (isRight ? 0 : 1)) | 0;
  const field = [0x15];
  for (let zigzag = ((sum << 1) ^ (sum >> 31)) >>> 0; ; zigzag = zigzag >>> 7) {
    field.push(zigzag < 0x80 ? zigzag : (zigzag & 0x7f) | 0x80);
    if (zigzag < 0x80) break;
  }
  const rest = Buffer.from(bytes.subarray(at));
  // The next field counts from the checksum now.
  rest[0] = (rest[0] ?? 0) - 0x10;
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(field), rest]);
}

/** DuckDB's header of a data page ends in two empty structures. */
function headerEnd(bytes: Buffer, from: number): number {
  for (let at = from; at < from + 200; at += 1) {
    if (bytes[at] === 0 && bytes[at + 1] === 0) return at + 2;
  }
  throw new Error('no end of the header');
}

test('a page that does not match its checksum is refused', async () => {
  const plain = await parquetOf(
    "SELECT 'v' || range AS v FROM range(300)",
    ", COMPRESSION 'uncompressed'",
  );
  await loaded(server, 'WITHOUT', plain);
  await loaded(server, 'RIGHT', withChecksum(plain, true));
  assert.equal(await read(server, '/data/WS/RIGHT?limit=1&sort=asc'), '[{"v":"v0"}]');
  const what = /not readable Parquet: a page of column v does not match its checksum/;
  await refused(withChecksum(plain, false), what);
});
