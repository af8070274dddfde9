// Reads tables of a flat buffer, the encoding of Arrow's metadata. Every offset is checked against the
// buffer: an invalid one throws a RangeError and never reads another byte.

export interface FlatTable {
  readonly bytes: Buffer;
  /** Position of the table in `bytes`. */
  readonly at: number;
}

interface FlatVector {
  readonly bytes: Buffer;
  /** Position of the first element. */
  readonly at: number;
  readonly length: number;
}

/** Elements of a vector. Metadata has at most 16 MiB, so no valid vector has more. */
const ELEMENTS_MAX = 2 ** 22;

export const rootTable = (bytes: Buffer): FlatTable => ({ bytes, at: bytes.readUInt32LE(0) });

/** Position of field `n`; undefined if the table omits it because it has its default. */
function findField({ at, bytes }: FlatTable, n: number): number | undefined {
  const layout = at - bytes.readInt32LE(at);
  if (bytes.readUInt16LE(layout) < 6 + 2 * n) return undefined;
  const offset = bytes.readUInt16LE(layout + 4 + 2 * n);
  return offset === 0 ? undefined : at + offset;
}

export function readByte(table: FlatTable, n: number): number {
  const field = findField(table, n);
  return field === undefined ? 0 : table.bytes.readUInt8(field);
}

export function readShort(table: FlatTable, n: number): number {
  const field = findField(table, n);
  return field === undefined ? 0 : table.bytes.readInt16LE(field);
}

/** A 64-bit integer as a number: a value above 2^53 exceeds every limit anyway. */
export function readLong(table: FlatTable, n: number): number {
  const field = findField(table, n);
  return field === undefined ? 0 : longAt(table.bytes, field);
}

export const longAt = (bytes: Buffer, at: number): number => Number(bytes.readBigInt64LE(at));

export function readTable(table: FlatTable, n: number): FlatTable | undefined {
  const field = findField(table, n);
  if (field === undefined) return undefined;
  return { bytes: table.bytes, at: field + table.bytes.readUInt32LE(field) };
}

export function readVector(table: FlatTable, n: number): FlatVector {
  const { bytes } = table;
  const field = findField(table, n);
  if (field === undefined) return { bytes, at: 0, length: 0 };
  const start = field + bytes.readUInt32LE(field);
  const length = bytes.readUInt32LE(start);
  if (length > ELEMENTS_MAX) throw new RangeError('a vector is too long');
  return { bytes, at: start + 4, length };
}

export const readTables = (table: FlatTable, n: number): readonly FlatTable[] => {
  const { at, bytes, length } = readVector(table, n);
  return Array.from({ length }, (_, index) => {
    const place = at + 4 * index;
    return { bytes, at: place + bytes.readUInt32LE(place) };
  });
};

export function readText(table: FlatTable, n: number): string {
  const { at, bytes, length } = readVector(table, n);
  if (at + length > bytes.length) throw new RangeError('a text is too long');
  return bytes.toString('utf8', at, at + length);
}
