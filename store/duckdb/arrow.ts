// Encodes result rows as an Arrow IPC stream, column by column from the memory of DuckDB's vectors.
// That memory is freed with its chunk, so values are copied. The bytes under a null are undefined, possibly
// another record's, and are not copied.
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
import { type Body, BODY_BYTES_MAX, fileTooLarge } from './protocol.ts';
import { checkTypes, tooLarge, uniqueNames } from './render.ts';

/** Rows and bytes at which a batch ends: so large that its overhead is negligible. */
const BATCH_ROWS = 65_536;
const BATCH_BYTES = 8 * 1024 ** 2;

/** The part of one column in a chunk. */
interface Piece {
  readonly rows: number;
  readonly items: Uint8Array;
  /** Validity bits by row, lowest first; undefined if no value is null. */
  readonly valid: Uint8Array | undefined;
}

/** The pieces of a column of a batch, and its nulls. */
interface Cells {
  readonly pieces: readonly Piece[];
  readonly length: number;
  readonly nullCount: number;
  /** Empty if no value is null. */
  readonly nullBitmap: Uint8Array;
}

interface Kind {
  readonly type: arrow.DataType;
  /** Bytes of a value in DuckDB's memory. */
  readonly itemBytes: number;
  readonly data: (cells: Cells) => arrow.Data;
}

interface Batch {
  /** Referenced as long as the pieces, which point into them. */
  readonly chunks: DuckDBDataChunk[];
  /** By column. */
  readonly pieces: readonly Piece[][];
  rows: number;
  bytes: number;
}

export async function renderArrow(result: DuckDBResult): Promise<Body> {
  const batches: arrow.RecordBatch[] = [];
  let [objects, bytes] = [0, 0];
  for await (const { batch, rows, size } of renderBatches(result)) {
    bytes += size;
    if (bytes > BODY_BYTES_MAX) throw tooLarge();
    batches.push(batch);
    objects += rows;
  }
  const stream = arrow.RecordBatchStreamWriter.writeAll(batches).toUint8Array(true);
  if (stream.byteLength > BODY_BYTES_MAX) throw tooLarge();
  return { objects, bytes: stream };
}

/** Writes the stream to a new file, batch by batch. @throws Failure TooLarge as soon as it is too long. */
export async function writeArrowFile(
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
    for (const piece of sink.takeAll()) {
      length += piece.byteLength;
      if (length > bytesMax) throw fileTooLarge(bytesMax);
      await file.writeFile(piece);
    }
  };
  for await (const { batch, rows } of renderBatches(result)) {
    objects += rows;
    writer.write(batch);
    await drain();
  }
  writer.finish();
  await drain();
  return { objects, bytes: new Uint8Array(), file: { path, length } };
}

/** Collects the writer's output: a read of its own queue waits for ever when the queue is empty. */
class Pieces extends arrow.AsyncByteQueue {
  #pieces: Uint8Array[] = [];

  override write(value: Uint8Array): void {
    if (value.byteLength > 0) this.#pieces.push(value);
  }

  takeAll(): readonly Uint8Array[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }
}

interface RenderedBatch {
  readonly batch: arrow.RecordBatch;
  readonly rows: number;
  /** Bytes of its values. */
  readonly size: number;
}

async function* renderBatches(result: DuckDBResult): AsyncGenerator<RenderedBatch, void> {
  checkTypes(result);
  const kinds = result.columnTypes().map(columnKind);
  const names = uniqueNames(result.columnNames());
  const fields = kinds.map(({ type }, at) => new arrow.Field(names[at] ?? '', type, true));
  const schema = new arrow.Schema(fields);
  const begin = (): Batch => ({ chunks: [], pieces: kinds.map(() => []), rows: 0, bytes: 0 });
  const end = (batch: Batch): RenderedBatch => {
    const { bytes: size, rows } = batch;
    return { batch: toRecordBatch(batch, schema, kinds), rows, size };
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
  // The first batch contains the schema, also if there are no records.
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

function toRecordBatch(
  batch: Batch,
  schema: arrow.Schema,
  kinds: readonly Kind[],
): arrow.RecordBatch {
  const { pieces, rows: length } = batch;
  const children = kinds.map(({ data }, at) => {
    const own = pieces[at] ?? [];
    return data({ pieces: own, length, ...collectNulls(own, length) });
  });
  const type = new arrow.Struct(schema.fields);
  return new arrow.RecordBatch(schema, arrow.makeData({ type, length, nullCount: 0, children }));
}

function collectNulls(
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

const LONG_BYTES = BigInt64Array.BYTES_PER_ELEMENT;

/**
 * The types to which columns without an Arrow type are cast; undefined if no cast is needed. Casts are exact:
 * a UUID becomes a text.
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

function columnKind(type: DuckDBType): Kind {
  switch (type.typeId) {
    case DuckDBTypeId.BIGINT:
      return fixedWidthKind(new arrow.Int64(), LONG_BYTES, (bytes) => new BigInt64Array(bytes));
    case DuckDBTypeId.DOUBLE:
      return fixedWidthKind(new arrow.Float64(), LONG_BYTES, (bytes) => new Float64Array(bytes));
    case DuckDBTypeId.TIMESTAMP:
      return fixedWidthKind(
        new arrow.TimestampMicrosecond('UTC'),
        LONG_BYTES,
        (bytes) => new BigInt64Array(bytes),
      );
    case DuckDBTypeId.TIME:
      return fixedWidthKind(
        new arrow.TimeMicrosecond(),
        LONG_BYTES,
        (bytes) => new BigInt64Array(bytes),
      );
    case DuckDBTypeId.DATE:
      return fixedWidthKind(new arrow.DateDay(), LONG_BYTES / 2, (bytes) => new Int32Array(bytes));
    case DuckDBTypeId.TIMESTAMP_NS:
      return fixedWidthKind(
        new arrow.TimestampNanosecond('UTC'),
        LONG_BYTES,
        (bytes) => new BigInt64Array(bytes),
      );
    case DuckDBTypeId.DECIMAL:
      return decimalKind(type);
    case DuckDBTypeId.HUGEINT:
      return fixedWidthKind(
        new arrow.Decimal(0, 38, 128),
        2 * LONG_BYTES,
        (bytes) => new Uint32Array(bytes),
      );
    case DuckDBTypeId.BOOLEAN:
      return fixedWidthKind(new arrow.Bool(), 1, packBits);
    case DuckDBTypeId.VARCHAR:
      return { type: new arrow.Utf8(), itemBytes: TEXT_BYTES, data: textData };
    default:
      throw new Failure('SystemError', `${type.toString()} has no Arrow type here`);
  }
}

/** DuckDB stores a decimal in the smallest integer for its digits, Arrow in one of 128 bits. */
function decimalKind({ scale, width }: DuckDBDecimalType): Kind {
  const type = new arrow.Decimal(scale, width, 128);
  if (width > 18) return fixedWidthKind(type, 2 * LONG_BYTES, (bytes) => new Uint32Array(bytes));
  const [itemBytes, view] =
    width > 9
      ? ([LONG_BYTES, (bytes: ArrayBuffer) => new BigInt64Array(bytes)] as const)
      : width > 4
        ? ([LONG_BYTES / 2, (bytes: ArrayBuffer) => new Int32Array(bytes)] as const)
        : ([LONG_BYTES / 4, (bytes: ArrayBuffer) => new Int16Array(bytes)] as const);
  return fixedWidthKind(type, itemBytes, (bytes) => widenTo128(view(bytes)));
}

function widenTo128(items: ArrayLike<number | bigint>): Uint32Array {
  const words = new BigInt64Array(2 * items.length);
  for (let at = 0; at < items.length; at += 1) {
    const value = BigInt(items[at] ?? 0);
    words[2 * at] = value;
    words[2 * at + 1] = value < 0n ? -1n : 0n;
  }
  return new Uint32Array(words.buffer);
}

type TypedValues = BigInt64Array | Float64Array | Int32Array | Uint32Array | Uint8Array;

function fixedWidthKind(
  type: arrow.DataType,
  itemBytes: number,
  view: (bytes: ArrayBuffer) => TypedValues,
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
function packBits(bytes: ArrayBuffer): Uint8Array {
  const values = new Uint8Array(bytes);
  const bits = new Uint8Array(Math.ceil(values.length / 8));
  for (const [at, value] of values.entries()) if (value !== 0) setBit(bits, at);
  return bits;
}

const TEXT_BYTES = 16;
/** A text up to this length is stored in its item, after the length; the item points to a longer text. */
const TEXT_INLINE_BYTES = 12;

function textData({ pieces, length, nullCount, nullBitmap }: Cells): arrow.Data {
  const valueOffsets = new Int32Array(length + 1);
  const total = pieces.reduce((sum, piece) => sum + textBytes(piece), 0);
  const data = new Uint8Array(total);
  let [at, end] = [0, 0];
  for (const piece of pieces) {
    const view = dataView(piece);
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
    const place = items.byteOffset + start + LONG_BYTES;
    into.set(bindings.get_data_from_pointer(items.buffer as ArrayBuffer, place, size), at);
    return;
  }
  const first = start + Uint32Array.BYTES_PER_ELEMENT;
  for (let index = 0; index < size; index += 1) into[at + index] = items[first + index] ?? 0;
}

function textBytes(piece: Piece): number {
  const view = dataView(piece);
  let bytes = 0;
  for (let row = 0; row < piece.rows; row += 1) {
    if (isValid(piece, row)) bytes += view.getUint32(row * TEXT_BYTES, true);
  }
  return bytes;
}

const dataView = ({ items }: Piece): DataView =>
  new DataView(items.buffer, items.byteOffset, items.byteLength);
