// Checks the messages of an Arrow file or stream before any of it is decoded: byte order, types,
// lengths of columns, positions of buffers. Metadata is compared with the actual bytes.
import { open } from 'node:fs/promises';
import {
  type FlatTable,
  longAt,
  readByte,
  readLong,
  readShort,
  readTable,
  readTables,
  readText,
  readVector,
  rootTable,
} from './flatBuffer.ts';
import { ArrowRefusal } from './arrowRefusal.ts';
import { unstorableSentence } from '../../bytes/columnFaults.ts';

/** Bytes of one batch, compressed or not: it is in memory as a whole. */
export const BATCH_BYTES_MAX = 256 * 1024 ** 2;
/** Bytes of a message's metadata. */
const METADATA_BYTES_MAX = 16 * 1024 ** 2;
/** Rows that a file of any size may have, and values of all its columns. */
const FREE_ROWS = 100_000;
const FREE_VALUES = 1_000_000;
/** Rows and values per byte of the file: a column of booleans has 8, one compressed by zstd some hundred. */
const VALUES_PER_BYTE = 200;
/** Depth of nested columns. */
const DEPTH_MAX = 64;
const COLUMNS_MAX = 20_000;

/** Types of the format that the decoder does not support, by number. */
const UNREAD_TYPES: Readonly<Record<number, string>> = {
  11: 'interval',
  14: 'union',
  18: 'duration',
  22: 'run-end encoded',
  25: 'list view',
  26: 'large list view',
};
const TYPE_MAX = 26;
/** The only supported codec of compressed buffers. */
const ZSTD = 1;

const HEADER = { schema: 1, dictionary: 2, batch: 3 } as const;
const DAMAGED = 'a message is damaged';
const CUT = 'it is cut short';
const OPENING_BYTES = 8;
/** Bytes of the index length and the format's mark. */
const CLOSING_BYTES = 10;
/** Bytes of an index entry: the position of a message, and the lengths of its two parts. */
const BLOCK_BYTES = 24;

/** The state of the checks. */
interface Walk {
  readonly size: number;
  readonly read: (at: number, bytes: number) => Promise<Buffer>;
  readonly rowsMax: number;
  readonly valuesMax: number;
  /** The number of field nodes of each column; undefined before the schema. */
  columns: readonly number[] | undefined;
  rows: number;
  values: number;
}

/** @throws Refused */
export async function checkMessages(path: string, isFile: boolean): Promise<void> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const walk: Walk = {
      size,
      read: async (at, bytes) => {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, at);
        if (bytesRead < bytes) throw new ArrowRefusal(CUT);
        return buffer;
      },
      rowsMax: Math.max(FREE_ROWS, size * VALUES_PER_BYTE),
      valuesMax: Math.max(FREE_VALUES, size * VALUES_PER_BYTE),
      columns: undefined,
      rows: 0,
      values: 0,
    };
    await (isFile ? checkFile(walk) : checkStream(walk));
  } finally {
    await file.close();
  }
}

/** Checks one message after the other, up to an end mark or the end. */
async function checkStream(walk: Walk): Promise<void> {
  for (let at = 0; at < walk.size;) {
    const bytes = await checkMessageAt(at, walk);
    if (bytes === 0) return;
    at += bytes;
  }
}

/** @returns bytes of the message and its body; 0 at an end mark */
async function checkMessageAt(at: number, walk: Walk): Promise<number> {
  if (at < 0 || at + OPENING_BYTES > walk.size) throw new ArrowRefusal(CUT);
  const opening = await walk.read(at, OPENING_BYTES);
  if (opening.readInt32LE(0) !== -1) {
    throw new ArrowRefusal('a message does not begin as it must, as in versions before 0.15');
  }
  const length = opening.readInt32LE(4);
  if (length === 0) return 0;
  if (length < 0 || length > METADATA_BYTES_MAX) throw new ArrowRefusal(DAMAGED);
  const bytes = OPENING_BYTES + length;
  const body = checkMessage(await walk.read(at + OPENING_BYTES, length), walk);
  if (at + bytes + body > walk.size) throw new ArrowRefusal(CUT);
  return bytes + body;
}

/** Checks a file by the index at its end: its schema, and the positions of dictionaries and batches. */
async function checkFile(walk: Walk): Promise<void> {
  const at = walk.size - CLOSING_BYTES;
  if (at < OPENING_BYTES) throw new ArrowRefusal(CUT);
  const closing = await walk.read(at, CLOSING_BYTES);
  const length = closing.readInt32LE(0);
  if (closing.toString('latin1', 4) !== 'ARROW1') throw new ArrowRefusal(CUT);
  if (length <= 0 || length > Math.min(METADATA_BYTES_MAX, at)) throw new ArrowRefusal(DAMAGED);
  const footer = await walk.read(at - length, length);
  const blocks = readFooter(footer, walk);
  for (const block of blocks) {
    if ((await checkMessageAt(block, walk)) === 0) throw new ArrowRefusal(DAMAGED);
  }
}

/** @returns the positions of the messages of dictionaries and batches */
function readFooter(bytes: Buffer, walk: Walk): readonly number[] {
  try {
    const footer = rootTable(bytes);
    const schema = readTable(footer, 1);
    if (schema === undefined) throw new ArrowRefusal(DAMAGED);
    checkSchema(schema, walk);
    return [2, 3].flatMap((field) => {
      const { at, length } = readVector(footer, field);
      return Array.from({ length }, (_, n) => longAt(bytes, at + BLOCK_BYTES * n));
    });
  } catch (error) {
    throw error instanceof ArrowRefusal ? error : new ArrowRefusal(DAMAGED);
  }
}

/** @returns bytes of the message's body */
function checkMessage(metadata: Buffer, walk: Walk): number {
  try {
    const message = rootTable(metadata);
    const body = readLong(message, 3);
    if (body < 0) throw new ArrowRefusal(DAMAGED);
    if (body > BATCH_BYTES_MAX) {
      throw new ArrowRefusal(
        `a batch is over ${BATCH_BYTES_MAX} bytes: write it in smaller batches`,
      );
    }
    const kind = readByte(message, 1);
    const header = readTable(message, 2);
    if (header === undefined) throw new ArrowRefusal(DAMAGED);
    if (kind === HEADER.schema) checkSchema(header, walk);
    else if (kind === HEADER.batch) checkBatch(header, body, walk);
    else if (kind === HEADER.dictionary) checkDictionary(header, body, walk);
    else throw new ArrowRefusal('it has a message that is no schema, dictionary or batch');
    return body;
  } catch (error) {
    throw error instanceof ArrowRefusal ? error : new ArrowRefusal(DAMAGED);
  }
}

const MANY_COLUMNS = `it has over ${COLUMNS_MAX} columns`;

function checkSchema(schema: FlatTable, walk: Walk): void {
  if (readShort(schema, 0) !== 0) {
    throw new ArrowRefusal('it is big-endian: write it again in little-endian byte order');
  }
  if (walk.columns !== undefined) throw new ArrowRefusal('it has a second schema');
  const fields = readTables(schema, 1);
  let nodes = 0;
  walk.columns = fields.map((field) => {
    const count = countNodes(field, readText(field, 0), 0);
    nodes += count;
    if (nodes > COLUMNS_MAX) throw new ArrowRefusal(MANY_COLUMNS);
    return count;
  });
}

/** Counts the field nodes of a column: its own, and those of nested columns. */
function countNodes(field: FlatTable, column: string, depth: number): number {
  if (depth > DEPTH_MAX)
    throw new ArrowRefusal(`column ${column} is nested over ${DEPTH_MAX} deep`);
  const type = readByte(field, 2);
  const unread = UNREAD_TYPES[type];
  if (unread !== undefined) {
    throw new ArrowRefusal(unstorableSentence(column, unread));
  }
  if (type === 0 || type > TYPE_MAX) throw new ArrowRefusal(`column ${column} has an unknown type`);
  const children = readTables(field, 5);
  if (children.length > COLUMNS_MAX) throw new ArrowRefusal(MANY_COLUMNS);
  const nested = children.reduce((sum, child) => sum + countNodes(child, column, depth + 1), 0);
  // Values of a column with a dictionary are indexes: its batches have one node.
  return readTable(field, 4) === undefined ? nested + 1 : 1;
}

function checkDictionary(dictionary: FlatTable, body: number, walk: Walk): void {
  const data = readTable(dictionary, 1);
  if (data === undefined) throw new ArrowRefusal(DAMAGED);
  checkNodes(data, body, walk);
}

function checkBatch(batch: FlatTable, body: number, walk: Walk): void {
  const { columns } = walk;
  if (columns === undefined) throw new ArrowRefusal('a batch comes before the schema');
  const length = readLong(batch, 0);
  walk.rows += length;
  if (length < 0) throw new ArrowRefusal(DAMAGED);
  if (walk.rows > walk.rowsMax) {
    throw new ArrowRefusal(`it claims ${walk.rows} rows, more than its bytes can hold`);
  }
  const nodes = checkNodes(batch, body, walk);
  let node = 0;
  for (const count of columns) {
    if (nodes[node] !== length) throw new ArrowRefusal('columns of a batch differ in length');
    node += count;
  }
  if (node !== nodes.length)
    throw new ArrowRefusal('a batch does not have the columns of the schema');
}

/** @returns the lengths of the columns */
function checkNodes(batch: FlatTable, body: number, walk: Walk): readonly number[] {
  const compression = readTable(batch, 3);
  if (compression !== undefined && readByte(compression, 0) !== ZSTD) {
    throw new ArrowRefusal('it is compressed by LZ4: write it uncompressed, or compressed by zstd');
  }
  const nodes = readVector(batch, 1);
  const lengths: number[] = [];
  for (let n = 0; n < nodes.length; n += 1) {
    const length = longAt(nodes.bytes, nodes.at + 16 * n);
    const nulls = longAt(nodes.bytes, nodes.at + 16 * n + 8);
    if (length < 0 || nulls < 0 || nulls > length) throw new ArrowRefusal(DAMAGED);
    walk.values += length;
    lengths.push(length);
  }
  if (walk.values > walk.valuesMax) {
    throw new ArrowRefusal(`it claims ${walk.values} values, more than its bytes can hold`);
  }
  const buffers = readVector(batch, 2);
  for (let n = 0; n < buffers.length; n += 1) {
    const offset = longAt(buffers.bytes, buffers.at + 16 * n);
    const bytes = longAt(buffers.bytes, buffers.at + 16 * n + 8);
    if (offset < 0 || bytes < 0 || offset + bytes > body) {
      throw new ArrowRefusal('a buffer lies outside its batch');
    }
  }
  return lengths;
}
