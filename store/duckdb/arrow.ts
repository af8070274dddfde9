// Result rows as an Arrow IPC stream, made column by column from the memory of DuckDB's own vectors.
// That memory goes with its chunk, so all is copied out of it; what lies under a null may be
// anything, another record's too, and is not.
import { open } from 'node:fs/promises';
import {
  type DuckDBDataChunk,
  type DuckDBDecimalType,
  type DuckDBResult,
  type DuckDBType,
  DuckDBTypeId,
} from '@duckdb/node-api';
import bindings from '@duckdb/node-bindings';
import * as arrow from 'apache-arrow';
import { Failure } from '../base/failure.ts';
import { nextChunk } from './chunks.ts';
import { tooLong } from './fileBody.ts';
import { type Body, BODY_BYTES_MAX } from './protocol.ts';
import { checkTypes, tooLarge, uniqueNames } from './render.ts';

/** Rows and bytes at which a batch is closed: so large that its own words do not count. */
const BATCH_ROWS = 65_536;
const BATCH_BYTES = 8 * 1024 ** 2;

/** What a chunk holds of one column. */
interface Piece {
  readonly rows: number;
  readonly items: Uint8Array;
  /** A bit for each row, the lowest first; undefined when none is null. */
  readonly valid: Uint8Array | undefined;
}

/** A column of a batch before it has its values. */
interface Cells {
  readonly pieces: readonly Piece[];
  readonly length: number;
  readonly nullCount: number;
  /** Empty when none is null. */
  readonly nullBitmap: Uint8Array;
}

interface Kind {
  readonly type: arrow.DataType;
  /** Bytes of an item in DuckDB's memory. */
  readonly itemBytes: number;
  readonly data: (cells: Cells) => arrow.Data;
}

interface Batch {
  /** Kept as long as the pieces: they point into them. */
  readonly chunks: DuckDBDataChunk[];
  /** By column. */
  readonly pieces: readonly Piece[][];
  rows: number;
  bytes: number;
}

export async function renderArrow(result: DuckDBResult): Promise<Body> {
  const batches: arrow.RecordBatch[] = [];
  let [objects, bytes] = [0, 0];
  for await (const { made, rows, size } of batchesOf(result)) {
    bytes += size;
    if (bytes > BODY_BYTES_MAX) throw tooLarge();
    batches.push(made);
    objects += rows;
  }
  const stream = arrow.RecordBatchStreamWriter.writeAll(batches).toUint8Array(true);
  if (stream.byteLength > BODY_BYTES_MAX) throw tooLarge();
  return { objects, bytes: stream };
}

/** The same into a new file, a batch at a time. @throws Failure TooLarge, as soon as it is. */
export async function arrowFile(
  result: DuckDBResult,
  path: string,
  bytesMax: number,
): Promise<Body> {
  let [objects, length] = [0, 0];
  await using file = await open(path, 'wx');
  const writer = new arrow.RecordBatchStreamWriter();
  const sink = new Pieces();
  writer.reset(sink);
  const drain = async (): Promise<void> => {
    for (const piece of sink.taken()) {
      length += piece.byteLength;
      if (length > bytesMax) throw tooLong(bytesMax);
      await file.writeFile(piece);
    }
  };
  for await (const { made, rows } of batchesOf(result)) {
    objects += rows;
    writer.write(made);
    await drain();
  }
  writer.finish();
  await drain();
  return { objects, bytes: new Uint8Array(), file: { path, length } };
}

/** The writer's own queue can only be asked for more than it has, and then waits for ever. */
class Pieces extends arrow.AsyncByteQueue {
  #pieces: Uint8Array[] = [];

  override write(value: Uint8Array): void {
    if (value.byteLength > 0) this.#pieces.push(value);
  }

  taken(): readonly Uint8Array[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }
}

interface MadeBatch {
  readonly made: arrow.RecordBatch;
  readonly rows: number;
  /** Bytes of its values. */
  readonly size: number;
}

async function* batchesOf(result: DuckDBResult): AsyncGenerator<MadeBatch, void> {
  checkTypes(result);
  const kinds = result.columnTypes().map(kindOf);
  const names = uniqueNames(result.columnNames());
  const fields = kinds.map(({ type }, at) => new arrow.Field(names[at] ?? '', type, true));
  const schema = new arrow.Schema(fields);
  const begin = (): Batch => ({ chunks: [], pieces: kinds.map(() => []), rows: 0, bytes: 0 });
  const end = (batch: Batch): MadeBatch => {
    const { bytes: size, rows } = batch;
    return { made: closed(batch, schema, kinds), rows, size };
  };
  let batch = begin();
  let isFirst = true;
  for (;;) {
    const chunk = await nextChunk(result);
    if (chunk === undefined) break;
    addChunk(batch, chunk, kinds);
    if (batch.rows < BATCH_ROWS && batch.bytes < BATCH_BYTES) continue;
    yield end(batch);
    isFirst = false;
    batch = begin();
  }
  // The schema comes with the first batch, also where there is no record.
  if (batch.rows > 0 || isFirst) yield end(batch);
}

function addChunk(batch: Batch, chunk: DuckDBDataChunk, kinds: readonly Kind[]): void {
  const rows = chunk.rowCount;
  batch.chunks.push(chunk);
  batch.rows += rows;
  for (const [at, { itemBytes, type }] of kinds.entries()) {
    const vector = bindings.data_chunk_get_vector(chunk.chunk, at);
    const items = bindings.vector_get_data(vector, rows * itemBytes);
    const valid: Uint8Array | null = bindings.vector_get_validity(
      vector,
      Math.ceil(rows / 64) * BigUint64Array.BYTES_PER_ELEMENT,
    );
    const piece = { rows, items, valid: valid ?? undefined };
    batch.pieces[at]?.push(piece);
    batch.bytes += arrow.DataType.isUtf8(type) ? textBytes(piece) : items.byteLength;
  }
}

function closed(batch: Batch, schema: arrow.Schema, kinds: readonly Kind[]): arrow.RecordBatch {
  const { pieces, rows: length } = batch;
  const children = kinds.map(({ data }, at) => {
    const own = pieces[at] ?? [];
    return data({ pieces: own, length, ...nullsOf(own, length) });
  });
  const type = new arrow.Struct(schema.fields);
  return new arrow.RecordBatch(schema, arrow.makeData({ type, length, nullCount: 0, children }));
}

function nullsOf(
  pieces: readonly Piece[],
  length: number,
): Pick<Cells, 'nullBitmap' | 'nullCount'> {
  if (pieces.every(({ valid }) => valid === undefined)) {
    return { nullCount: 0, nullBitmap: new Uint8Array() };
  }
  const nullBitmap = new Uint8Array(Math.ceil(length / 8));
  let [at, nullCount] = [0, 0];
  for (const piece of pieces) {
    for (let row = 0; row < piece.rows; row += 1, at += 1) {
      if (isValid(piece, row)) setBit(nullBitmap, at);
      else nullCount += 1;
    }
  }
  return { nullCount, nullBitmap };
}

const isValid = ({ valid }: Piece, row: number): boolean =>
  valid === undefined || (((valid[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;

function setBit(bits: Uint8Array, at: number): void {
  bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
}

const LONG = BigInt64Array.BYTES_PER_ELEMENT;

/** How a column goes out; text in DuckDB's memory is 16 bytes, which hold or name its place. */
/**
 * The types that stand for those that have none here; undefined when all have. What is exact in a type
 * stays exact in its other: a UUID as a text.
 */
export function arrowCasts(result: DuckDBResult): readonly string[] | undefined {
  const types = result.columnTypes().map(({ typeId }) => CASTS.get(typeId));
  return types.every((type) => type === undefined) ? undefined : types.map((type) => type ?? '');
}

const WHOLE = [
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
];
const TEXTS = [
  DuckDBTypeId.INTERVAL,
  DuckDBTypeId.UUID,
  DuckDBTypeId.UHUGEINT,
  DuckDBTypeId.SQLNULL,
  DuckDBTypeId.LIST,
];
const CASTS: ReadonlyMap<DuckDBTypeId, string> = new Map([
  ...WHOLE.map((type) => [type, 'BIGINT'] as const),
  ...TEXTS.map((type) => [type, 'VARCHAR'] as const),
  [DuckDBTypeId.UBIGINT, 'HUGEINT'],
  [DuckDBTypeId.FLOAT, 'DOUBLE'],
  [DuckDBTypeId.TIMESTAMP_TZ, 'TIMESTAMP'],
]);

function kindOf(type: DuckDBType): Kind {
  switch (type.typeId) {
    case DuckDBTypeId.BIGINT:
      return fixed(new arrow.Int64(), LONG, (bytes) => new BigInt64Array(bytes));
    case DuckDBTypeId.DOUBLE:
      return fixed(new arrow.Float64(), LONG, (bytes) => new Float64Array(bytes));
    case DuckDBTypeId.TIMESTAMP:
      return fixed(
        new arrow.TimestampMicrosecond('UTC'),
        LONG,
        (bytes) => new BigInt64Array(bytes),
      );
    case DuckDBTypeId.TIME:
      return fixed(new arrow.TimeMicrosecond(), LONG, (bytes) => new BigInt64Array(bytes));
    case DuckDBTypeId.DATE:
      return fixed(new arrow.DateDay(), LONG / 2, (bytes) => new Int32Array(bytes));
    case DuckDBTypeId.TIMESTAMP_NS:
      return fixed(new arrow.TimestampNanosecond('UTC'), LONG, (bytes) => new BigInt64Array(bytes));
    case DuckDBTypeId.DECIMAL:
      return decimalKind(type);
    case DuckDBTypeId.HUGEINT:
      return fixed(new arrow.Decimal(0, 38, 128), 2 * LONG, (bytes) => new Uint32Array(bytes));
    case DuckDBTypeId.BOOLEAN:
      return fixed(new arrow.Bool(), 1, bitsOf);
    case DuckDBTypeId.VARCHAR:
      return { type: new arrow.Utf8(), itemBytes: TEXT_BYTES, data: textData };
    default:
      throw new Failure('SystemError', `${type.toString()} has no Arrow type here`);
  }
}

/** DuckDB keeps a decimal in an integer that just holds its digits, Arrow in one of 128 bits. */
function decimalKind({ scale, width }: DuckDBDecimalType): Kind {
  const type = new arrow.Decimal(scale, width, 128);
  if (width > 18) return fixed(type, 2 * LONG, (bytes) => new Uint32Array(bytes));
  const [itemBytes, view] =
    width > 9
      ? ([LONG, (bytes: ArrayBuffer) => new BigInt64Array(bytes)] as const)
      : width > 4
        ? ([LONG / 2, (bytes: ArrayBuffer) => new Int32Array(bytes)] as const)
        : ([LONG / 4, (bytes: ArrayBuffer) => new Int16Array(bytes)] as const);
  return fixed(type, itemBytes, (bytes) => widened(view(bytes)));
}

function widened(items: ArrayLike<number | bigint>): Uint32Array {
  const words = new BigInt64Array(2 * items.length);
  for (let at = 0; at < items.length; at += 1) {
    const value = BigInt(items[at] ?? 0);
    words[2 * at] = value;
    words[2 * at + 1] = value < 0n ? -1n : 0n;
  }
  return new Uint32Array(words.buffer);
}

type Values = BigInt64Array | Float64Array | Int32Array | Uint32Array | Uint8Array;

function fixed(
  type: arrow.DataType,
  itemBytes: number,
  view: (bytes: ArrayBuffer) => Values,
): Kind {
  return {
    type,
    itemBytes,
    data: ({ pieces, length, nullCount, nullBitmap }) => {
      const bytes = new Uint8Array(length * itemBytes);
      let at = 0;
      for (const piece of pieces) {
        bytes.set(piece.items, at * itemBytes);
        for (let row = 0; piece.valid !== undefined && row < piece.rows; row += 1) {
          const start = (at + row) * itemBytes;
          if (!isValid(piece, row)) bytes.fill(0, start, start + itemBytes);
        }
        at += piece.rows;
      }
      const { DATA, VALIDITY } = arrow.BufferType;
      const buffers = { [DATA]: view(bytes.buffer), [VALIDITY]: nullBitmap };
      return new arrow.Data(type, 0, length, nullCount, buffers);
    },
  };
}

/** DuckDB's booleans are bytes, Arrow's are bits. */
function bitsOf(bytes: ArrayBuffer): Uint8Array {
  const values = new Uint8Array(bytes);
  const bits = new Uint8Array(Math.ceil(values.length / 8));
  for (const [at, value] of values.entries()) if (value !== 0) setBit(bits, at);
  return bits;
}

const TEXT_BYTES = 16;
/** Text up to this stands in its item, after the length; longer text where the item points. */
const TEXT_INLINE_BYTES = 12;

function textData({ pieces, length, nullCount, nullBitmap }: Cells): arrow.Data {
  const valueOffsets = new Int32Array(length + 1);
  const total = pieces.reduce((sum, piece) => sum + textBytes(piece), 0);
  const data = new Uint8Array(total);
  let [at, end] = [0, 0];
  for (const piece of pieces) {
    const view = viewOf(piece);
    for (let row = 0; row < piece.rows; row += 1) {
      const start = row * TEXT_BYTES;
      const size = isValid(piece, row) ? view.getUint32(start, true) : 0;
      copyText(piece, start, size, data, end);
      end += size;
      valueOffsets[++at] = end;
    }
  }
  const type = new arrow.Utf8();
  return arrow.makeData({ type, length, nullCount, nullBitmap, valueOffsets, data });
}

function copyText(
  { items }: Piece,
  start: number,
  size: number,
  into: Uint8Array,
  at: number,
): void {
  if (size > TEXT_INLINE_BYTES) {
    const place = items.byteOffset + start + LONG;
    into.set(bindings.get_data_from_pointer(items.buffer as ArrayBuffer, place, size), at);
    return;
  }
  const first = start + Uint32Array.BYTES_PER_ELEMENT;
  for (let index = 0; index < size; index += 1) into[at + index] = items[first + index] ?? 0;
}

function textBytes(piece: Piece): number {
  const view = viewOf(piece);
  let bytes = 0;
  for (let row = 0; row < piece.rows; row += 1) {
    if (isValid(piece, row)) bytes += view.getUint32(row * TEXT_BYTES, true);
  }
  return bytes;
}

const viewOf = ({ items }: Piece): DataView =>
  new DataView(items.buffer, items.byteOffset, items.byteLength);
