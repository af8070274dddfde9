// Reads the schema in the footer of a Parquet file, and writes copies with times that DuckDB reads exactly:
// it reads nanoseconds with a zone, and times of day in nanoseconds, as microseconds. In the copy they are
// timestamps without a zone, which differ by some bytes of the footer.
import { constants, copyFile, open } from 'node:fs/promises';
import { Failure } from '../../../store/base/failure.ts';
import { Thrift, TYPE } from './thrift.ts';

/** A column, or a group of columns. */
export interface SchemaNode {
  readonly name: string;
  readonly children: readonly SchemaNode[];
  readonly physical: number | undefined;
  readonly decimal: { readonly precision: number; readonly scale: number } | undefined;
  readonly logical: LogicalType | undefined;
  /** Where the footer has the physical type and, if it does, the length of its values. */
  readonly physicalAt: Range | undefined;
  readonly lengthAt: Range | undefined;
}

/** Offsets in the footer. */
interface Range {
  readonly from: number;
  readonly to: number;
}

interface LogicalType {
  readonly kind: number;
  /** Unit of a time. */
  readonly unit: number | undefined;
  readonly isUtc: boolean;
  /** Offsets in the footer of the bytes that begin the type and its flag. */
  readonly at: number;
  readonly flagAt: number;
}

export interface FooterTask {
  readonly kind: 'footer';
  readonly from: string;
}

/** Writes a copy whose times DuckDB reads exactly: those in nanoseconds, or those of 96 bits as 12 bytes. */
export interface TimesTask {
  readonly kind: 'times';
  readonly times: 'nanoseconds' | 'int96';
  readonly from: string;
  readonly to: string;
}

interface Footer {
  readonly columns: readonly SchemaNode[];
  readonly bytes: Buffer;
  /** Offset in the file. */
  readonly from: number;
}

const LOGICAL = { decimal: 5, time: 7, timestamp: 8 } as const;
const CONVERTED_DECIMAL = 5;
const unusual = (): Failure =>
  new Failure('InvalidBody', 'the schema of the Parquet file has an unusual encoding');
const NANOSECONDS = 3;
const TRUE = 1;
const FALSE = 2;
const MAGIC = 'PAR1';
/** Length of the footer, and `PAR1`. */
const TAIL_BYTES = 8;
const NODES_MAX = 100_000;
/** Bytes of a footer, which has about 100 for each column of each group of rows. */
const FOOTER_BYTES_MAX = 64 * 1024 ** 2;
const DEPTH_MAX = 64;

const isNanoseconds = ({ logical }: SchemaNode): boolean => logical?.unit === NANOSECONDS;

/** Whether a column has instants in nanoseconds. */
export const isFineInstant = (node: SchemaNode): boolean =>
  isNanoseconds(node) && node.logical?.kind === LOGICAL.timestamp && node.logical.isUtc;

/** Whether a column has times of day in nanoseconds. */
export const isFineClock = (node: SchemaNode): boolean =>
  isNanoseconds(node) && node.logical?.kind === LOGICAL.time;

/** The columns with values below a node, from left to right. */
export const leavesOf = (node: SchemaNode): readonly SchemaNode[] =>
  node.children.length === 0 ? [node] : node.children.flatMap(leavesOf);

const tooLarge = (length: number): Failure =>
  new Failure(
    'InvalidBody',
    `the footer of the Parquet file has ${length} bytes, at most ${FOOTER_BYTES_MAX}: ` +
      'write larger groups of rows',
  );

/** Bytes of the footer; 0 for a file that has none in plain text. @throws Failure InvalidBody for too many */
export async function footerBytes(path: string): Promise<number> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(TAIL_BYTES);
    const { bytesRead } = await file.read(tail, 0, TAIL_BYTES, Math.max(0, size - TAIL_BYTES));
    const length = tail.readUInt32LE();
    const isWhole = length <= size - TAIL_BYTES - MAGIC.length;
    if (bytesRead < TAIL_BYTES || tail.toString('latin1', 4) !== MAGIC || !isWhole) return 0;
    if (length > FOOTER_BYTES_MAX) throw tooLarge(length);
    return length;
  } finally {
    await file.close();
  }
}

/** The columns of a file; none if its footer is encrypted or damaged: DuckDB refuses it. */
export const readSchema = async (path: string): Promise<readonly SchemaNode[]> =>
  (await readFooter(path))?.columns ?? [];

export async function writeTimes({ from, times, to }: TimesTask): Promise<void> {
  const footer = await readFooter(from);
  if (footer === undefined) throw unusual();
  await (times === 'int96' ? writeInt96AsBytes : writeFineTimes)(from, to, footer);
}

/** Undefined for a footer that is encrypted or damaged. */
async function readFooter(path: string): Promise<Footer | undefined> {
  const length = await footerBytes(path);
  if (length === 0) return undefined;
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const from = size - TAIL_BYTES - length;
    const bytes = Buffer.alloc(length);
    await file.read(bytes, 0, length, from);
    return { columns: readColumns(bytes), bytes, from };
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** A copy of the file whose times in nanoseconds are timestamps without a zone. */
async function writeFineTimes(path: string, to: string, footer: Footer): Promise<void> {
  const bytes = Buffer.from(footer.bytes);
  const set = (at: number, high: number, low: number): void => {
    bytes[at] = high * 16 + low;
  };
  for (const node of footer.columns.flatMap(leavesOf)) {
    const { logical } = node;
    if (logical === undefined || (!isFineInstant(node) && !isFineClock(node))) continue;
    const isClock = logical.kind === LOGICAL.time;
    if (isClock && bytes[logical.at] !== LOGICAL.time * 16 + TYPE.struct) throw unusual();
    if (isClock) set(logical.at, LOGICAL.timestamp, TYPE.struct);
    if (logical.isUtc) set(logical.flagAt, (bytes[logical.flagAt] ?? 0) >> 4, FALSE);
  }
  await writeCopy(path, to, footer.from, bytes);
}

/** Writes a copy of the file with another footer. */
async function writeCopy(path: string, to: string, from: number, footer: Buffer): Promise<void> {
  await copyFile(path, to, constants.COPYFILE_FICLONE);
  const tail = Buffer.alloc(TAIL_BYTES);
  tail.writeUInt32LE(footer.length);
  tail.write(MAGIC, 4);
  const file = await open(to, 'r+');
  try {
    await file.truncate(from);
    await file.write(Buffer.concat([footer, tail]), 0, footer.length + TAIL_BYTES, from);
  } finally {
    await file.close();
  }
}

const INT96 = 3;
/** Thrift's spelling of the type of bytes of a fixed length, and of the length of 12. */
const FIXED_TYPE = Buffer.from([0x0e]);
const LENGTH_OF_12 = Buffer.from([0x18]);
/** Thrift's header of an integer whose number follows that of the field before. */
const NEXT_INTEGER = 0x15;

/** Whether a column has instants of 96 bits: nanoseconds of a day, and the day. */
export const isInt96 = (node: SchemaNode): boolean =>
  node.children.length === 0 && node.physical === INT96;

/** A copy of the file whose columns of 96-bit instants, apart from those within others, are 12 bytes. */
async function writeInt96AsBytes(path: string, to: string, footer: Footer): Promise<void> {
  const pieces: Buffer[] = [];
  let done = 0;
  const replace = ({ from, to: end }: Range, bytes: Buffer): void => {
    pieces.push(footer.bytes.subarray(done, from), bytes);
    done = end;
  };
  const areInt96 = footer.columns.flatMap((column) =>
    leavesOf(column).map((leaf) => leaf === column && isInt96(leaf)),
  );
  for (const { lengthAt, physicalAt } of footer.columns.filter(isInt96)) {
    if (physicalAt === undefined) throw unusual();
    replace(physicalAt, FIXED_TYPE);
    if (lengthAt !== undefined) replace(lengthAt, LENGTH_OF_12);
    else {
      const { to: at } = physicalAt;
      const head = footer.bytes[at] ?? 0;
      // The next field counts from the length now.
      const next = head >> 4 === 0 ? head : head - 0x10;
      const added = [NEXT_INTEGER, ...LENGTH_OF_12, next];
      replace({ from: at, to: at + 1 }, Buffer.from(added));
    }
  }
  for (const range of readChunkTypes(footer.bytes, areInt96)) replace(range, FIXED_TYPE);
  pieces.push(footer.bytes.subarray(done));
  await writeCopy(path, to, footer.from, Buffer.concat(pieces));
}

/** Where the footer has the physical types of the pages of some columns, by number. */
function readChunkTypes(footer: Buffer, isWanted: readonly boolean[]): readonly Range[] {
  const thrift = new Thrift(footer);
  const ranges: Range[] = [];
  const readChunk = (at: number): void => {
    const readMetadata = (id: number, type: number): boolean => {
      if (id !== 1 || !TYPE.integers.includes(type)) return false;
      const from = thrift.at;
      thrift.integer();
      if (isWanted[at] === true) ranges.push({ from, to: thrift.at });
      return true;
    };
    thrift.fields((id, type) => {
      if (id !== 3 || type !== TYPE.struct) return false;
      thrift.fields(readMetadata);
      return true;
    });
  };
  const each = (read: (at: number) => void): void => {
    const { count } = thrift.list();
    for (let at = 0; at < count; at += 1) read(at);
  };
  const readGroup = (): void => {
    thrift.fields((id, type) => {
      if (id !== 1 || !TYPE.lists.includes(type)) return false;
      each(readChunk);
      return true;
    });
  };
  thrift.fields((id, type) => {
    if (id !== 4 || !TYPE.lists.includes(type)) return false;
    each(readGroup);
    return 'end';
  });
  return ranges;
}

function readColumns(footer: Buffer): readonly SchemaNode[] {
  const thrift = new Thrift(footer);
  let flat: readonly FlatNode[] = [];
  thrift.fields((id) => {
    if (id !== 2) return false;
    const { count } = thrift.list();
    if (count > NODES_MAX) throw new Error('the schema is too large');
    flat = Array.from({ length: count }, () => readNode(thrift));
    return 'end';
  });
  let at = 0;
  const nest = (depth: number): SchemaNode => {
    const node = flat[at];
    at += 1;
    if (node === undefined || depth > DEPTH_MAX) throw new Error('the schema is damaged');
    const children = Array.from({ length: node.childCount }, () => nest(depth + 1));
    return { ...node, children };
  };
  return nest(0).children;
}

type FlatNode = Omit<SchemaNode, 'children'> & { readonly childCount: number };

function readNode(thrift: Thrift): FlatNode {
  const numbers = new Map<number, number>();
  const ranges = new Map<number, Range>();
  let name = '';
  let logical: LogicalType | undefined;
  thrift.fields((id, type) => {
    const from = thrift.at;
    if (TYPE.integers.includes(type)) {
      numbers.set(id, thrift.integer());
      ranges.set(id, { from, to: thrift.at });
    } else if (id === 4 && type === TYPE.binary) name = thrift.text();
    else if (id === 10 && type === TYPE.struct) logical = readLogical(thrift);
    else return false;
    return true;
  });
  const isDecimal = numbers.get(6) === CONVERTED_DECIMAL || logical?.kind === LOGICAL.decimal;
  const [precision = 0, scale = 0] = [numbers.get(8), numbers.get(7)];
  return {
    name,
    childCount: numbers.get(5) ?? 0,
    physical: numbers.get(1),
    physicalAt: ranges.get(1),
    lengthAt: ranges.get(2),
    decimal: isDecimal ? { precision, scale } : undefined,
    logical,
  };
}

/** A union: a structure of one field. */
function readLogical(thrift: Thrift): LogicalType | undefined {
  let logical: LogicalType | undefined;
  thrift.fields((kind, type) => {
    if (type !== TYPE.struct) return false;
    const at = thrift.at - 1;
    let [isUtc, flagAt, unit]: [boolean, number, number | undefined] = [false, -1, undefined];
    thrift.fields((id, inner) => {
      if (id === 1 && (inner === TRUE || inner === FALSE)) {
        [isUtc, flagAt] = [inner === TRUE, thrift.at - 1];
        return true;
      }
      if (id !== 2 || inner !== TYPE.struct) return false;
      thrift.fields((member) => {
        unit = member;
        return false;
      });
      return true;
    });
    logical = { kind, unit, isUtc, at, flagAt };
    return true;
  });
  return logical;
}
