// Small valid files of every format that can be loaded, to be mutated.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import * as arrow from 'apache-arrow';

export interface Base {
  readonly name: string;
  readonly bytes: Buffer;
}

const NAMES = ['symbol', 'date', 'price', 'volume', 'live', 'note'] as const;

/** The records of every base; `n` of them. */
const records = (n: number): readonly Readonly<Record<string, unknown>>[] =>
  Array.from({ length: n }, (_, at) => ({
    symbol: `S${at % 7}`,
    date: `2024-01-${String(1 + (at % 28)).padStart(2, '0')}`,
    price: 100 + at / 4,
    volume: at * 1_000,
    live: at % 2 === 0,
    note: at % 5 === 0 ? 'with "quotes", maybe' : `é${at}`,
  }));

const cell = (value: unknown): string => {
  const text = String(value);
  return /[",\n|\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export const csvOf = (n: number, delimiter = ','): string =>
  [NAMES, ...records(n).map((record) => NAMES.map((name) => record[name]))]
    .map((row) => `${row.map(cell).join(delimiter)}\n`)
    .join('');

const jsonlOf = (n: number): string =>
  records(n)
    .map((record) => `${JSON.stringify(record)}\n`)
    .join('');

const SELECT = `SELECT 'S' || (i % 7) AS symbol, DATE '2024-01-01' + (i % 28)::INTEGER AS date,
  100 + i / 4 AS price, i AS volume, i % 2 = 0 AS live, 'n' || i AS note,
  [i, i + 1] AS list, {a: i, b: 'x'} AS object FROM range(300) t(i)`;

/** A Parquet file that DuckDB writes from a SELECT. */
export async function parquetOf(select: string, options = ''): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-fuzz-'));
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  try {
    const path = join(folder, 'made.parquet');
    await connection.run(`COPY (${select}) TO '${path}' (FORMAT parquet${options})`);
    return await readFile(path);
  } finally {
    connection.closeSync();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A zip of one file, as small as the format allows. */
export function zipOf(name: string, content: Buffer): Buffer {
  const packed = deflateRawSync(content);
  const title = Buffer.from(name);
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(8, 4);
  common.writeUInt32LE(crc32(content), 10);
  common.writeUInt32LE(packed.length, 14);
  common.writeUInt32LE(content.length, 18);
  common.writeUInt16LE(title.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, title, packed]);
  const central = Buffer.concat([
    Buffer.from('PK\x01\x02\x14\x00', 'latin1'),
    common,
    Buffer.alloc(14),
    title,
  ]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, end]);
}

/** Columns of most types that can be loaded, nested ones among them. */
export function arrowOf(format: 'file' | 'stream'): Buffer {
  const vector = (type: arrow.DataType, values: readonly unknown[]): arrow.Vector =>
    arrow.vectorFromArray(values, type);
  const field = (name: string, type: arrow.DataType): arrow.Field =>
    new arrow.Field(name, type, true);
  const pair = new arrow.Struct([
    field('x', new arrow.Float64()),
    field('y', new arrow.Utf8()),
  ]) as arrow.DataType;
  const table = new arrow.Table({
    symbol: vector(new arrow.Utf8(), ['S1', 'é', 'S3']),
    date: vector(new arrow.DateDay(), [new Date('2024-01-01'), new Date('2024-01-02'), null]),
    price: vector(new arrow.Float64(), [1.5, 2, null]),
    volume: vector(new arrow.Int64(), [1n, null, 3n]),
    live: vector(new arrow.Bool(), [true, null, false]),
    note: vector(new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()), ['u', 'v', 'u']),
    moment: vector(new arrow.TimestampMillisecond(), [1, 2, null]),
    list: vector(new arrow.List(field('item', new arrow.Int32())), [[1, 2], null, [3]]),
    two: vector(new arrow.FixedSizeList(2, field('item', new arrow.Float32())), [
      [1, 2],
      null,
      [3, 4],
    ]),
    object: vector(pair, [{ x: 1, y: 'q' }, { x: 2, y: null }, null]),
  });
  return Buffer.from(arrow.tableToIPC(table, format));
}

export async function bases(): Promise<readonly [Base, ...Base[]]> {
  const csv = Buffer.from(csvOf(300));
  const array = Buffer.from(JSON.stringify(records(300)));
  const lines = Buffer.from(jsonlOf(300));
  const nested = Buffer.from(JSON.stringify({ data: { rows: records(50) } }));
  const parquet = await parquetOf(SELECT);
  const parquetRaw = await parquetOf(SELECT, ', COMPRESSION uncompressed, ROW_GROUP_SIZE 100');
  return [
    { name: 'csv', bytes: csv },
    { name: 'small csv', bytes: Buffer.from(csvOf(3)) },
    { name: 'tsv', bytes: Buffer.from(csvOf(40, '\t')) },
    { name: 'json array', bytes: array },
    { name: 'small json array', bytes: Buffer.from(JSON.stringify(records(2))) },
    { name: 'json lines', bytes: lines },
    { name: 'nested json', bytes: nested },
    { name: 'parquet', bytes: parquet },
    { name: 'plain parquet', bytes: parquetRaw },
    { name: 'gzip of csv', bytes: gzipSync(csv) },
    { name: 'zstd of json lines', bytes: zstdCompressSync(lines) },
    { name: 'zip of csv', bytes: zipOf('prices.csv', csv) },
    { name: 'zip of parquet', bytes: zipOf('prices.parquet', parquet) },
    { name: 'gzip of json array', bytes: gzipSync(array) },
    { name: 'arrow file', bytes: arrowOf('file') },
    { name: 'arrow stream', bytes: arrowOf('stream') },
    { name: 'gzip of arrow', bytes: gzipSync(arrowOf('stream')) },
  ];
}
