// Columns of Parquet and Arrow keep the types that no number and no date-time holds.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as arrow from 'apache-arrow';
import { expect } from 'vitest';
import { connectionHere } from '../../base/duckdbHere.ts';
import { loaded, read } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import type { TestServer } from '../../base/server.ts';

async function parquet(select: string): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'typed-'));
  const connection = await connectionHere();
  try {
    await connection.run(`COPY (${select}) TO '${join(folder, 'typed.parquet')}' (FORMAT parquet)`);
    return new Uint8Array(await readFile(join(folder, 'typed.parquet')));
  } finally {
    connection.closeSync();
    await rm(folder, { recursive: true });
  }
}

const typesOf = (server: TestServer, id: string): unknown =>
  server.tapedeck.services.lake.directory.dataset('WS', id)?.schema.properties;

const csvOf = (server: TestServer, id: string): Promise<string> =>
  read(server, `/data/WS/${id}?limit=9&sort=asc&format=csv`);

const WIDE = {
  k: { type: 'string' },
  d: { type: 'number', format: 'decimal', precision: 38, scale: 18 },
  u: { type: 'integer', format: 'int128' },
  n: { type: 'string', format: 'date-time-ns' },
};
const NARROW = {
  ...WIDE,
  u: { type: 'integer' },
  n: { type: 'string', format: 'date-time' },
};
const CSV = `k,d,u,n
a,12345678901234567890.123456789012345678,18446744073709551615,2024-01-02T03:04:05.123456789Z
b,,,
`;

test('of Parquet', async ({ server }) => {
  const row = (u: string, n: string): string => `SELECT 'a' AS k,
    CAST('12345678901234567890.123456789012345678' AS DECIMAL(38, 18)) AS d,
    CAST('${u}' AS UBIGINT) AS u, CAST('${n}' AS TIMESTAMP_NS) AS n
    UNION ALL SELECT 'b', NULL, NULL, NULL ORDER BY 1`;
  const wide = await parquet(row('18446744073709551615', '2024-01-02 03:04:05.123456789'));
  await loaded(server, 'WIDE', wide, { key: 'k' });
  expect(typesOf(server, 'WIDE')).toEqual(WIDE);
  expect(await csvOf(server, 'WIDE')).toBe(CSV);
  await loaded(server, 'NARROW', await parquet(row('7', '2024-01-02 03:04:05.123456')), {
    key: 'k',
  });
  expect(typesOf(server, 'NARROW')).toEqual(NARROW);
  // A value that a date-time would round is rejected, not rounded.
  const job = await loaded(server, 'NARROW', wide);
  expect(job).toMatchObject({ recordsInvalid: 1 });
});

test('of Parquet, as the date of the index', async ({ server }) => {
  const file = await parquet(`SELECT 'a' AS k, TIMESTAMP_NS '2024-01-02 03:04:05.123456789' AS n`);
  await loaded(server, 'DATED', file, { key: 'k', date: 'n' });
  expect(await read(server, '/data/WS/DATED/a?last=1')).toBe(
    '[{"k":"a","n":"2024-01-02T03:04:05.123456789Z"}]',
  );
});

test('of Arrow', async ({ server }) => {
  const digits = 12_345_678_901_234_567_890_123_456_789_012_345_678n;
  const words = new Uint32Array(8);
  for (let at = 0; at < 4; at += 1) words[at] = Number((digits >> BigInt(32 * at)) & 0xffff_ffffn);
  const type = new arrow.Decimal(18, 38, 128);
  const d = new arrow.Vector([
    arrow.makeData({ type, length: 2, nullCount: 1, nullBitmap: new Uint8Array([1]), data: words }),
  ]);
  const encodeTable = (u: bigint, n: bigint): Uint8Array =>
    arrow.tableToIPC(
      new arrow.Table({
        k: arrow.vectorFromArray(['a', 'b'], new arrow.Utf8()),
        d,
        u: arrow.vectorFromArray([u, null], new arrow.Uint64()),
        n: new arrow.Vector([
          arrow.makeData({
            type: new arrow.TimestampNanosecond(),
            length: 2,
            nullCount: 1,
            nullBitmap: new Uint8Array([1]),
            data: BigInt64Array.from([n, 0n]),
          }),
        ]),
      }),
      'stream',
    );
  await loaded(server, 'WIDE', encodeTable(2n ** 64n - 1n, 1_704_164_645_123_456_789n), {
    key: 'k',
  });
  expect(typesOf(server, 'WIDE')).toEqual(WIDE);
  expect(await csvOf(server, 'WIDE')).toBe(CSV);
  await loaded(server, 'NARROW', encodeTable(7n, 1_704_164_645_123_456_000n), { key: 'k' });
  expect(typesOf(server, 'NARROW')).toEqual(NARROW);
});
