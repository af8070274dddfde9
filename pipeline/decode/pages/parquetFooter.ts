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

interface Footer {
  readonly columns: readonly SchemaNode[];
  /** Its first bytes. */
  readonly bytes: Buffer;
  /** Offset in the file. */
  readonly from: number;
}

const LOGICAL = { decimal: 5, time: 7, timestamp: 8 } as const;
const CONVERTED_DECIMAL = 5;
const UNUSUAL = new Failure(
  'InvalidBody',
  'the schema of the Parquet file has an unusual encoding',
);
const NANOSECONDS = 3;
const TRUE = 1;
const FALSE = 2;
const MAGIC = 'PAR1';
/** Length of the footer, and `PAR1`. */
const TAIL_BYTES = 8;
const NODES_MAX = 100_000;
/** Bytes of a footer that are read: its schema is at its beginning. */
const SCHEMA_BYTES_MAX = 8 * 1024 ** 2;
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

/** Undefined for a file whose footer is encrypted or damaged: DuckDB refuses it. */
export async function readFooter(path: string): Promise<Footer | undefined> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(TAIL_BYTES);
    await file.read(tail, 0, TAIL_BYTES, size - TAIL_BYTES);
    const length = tail.readUInt32LE();
    const from = size - TAIL_BYTES - length;
    if (tail.toString('latin1', 4) !== MAGIC || from < MAGIC.length) return undefined;
    const bytes = Buffer.alloc(Math.min(length, SCHEMA_BYTES_MAX));
    await file.read(bytes, 0, bytes.length, from);
    return { columns: readColumns(bytes), bytes, from };
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** A copy of the file whose times in nanoseconds are timestamps without a zone. */
export async function writeFineTimes(path: string, to: string, footer: Footer): Promise<void> {
  const bytes = Buffer.from(footer.bytes);
  const set = (at: number, high: number, low: number): void => {
    bytes[at] = high * 16 + low;
  };
  for (const node of footer.columns.flatMap(leavesOf)) {
    const { logical } = node;
    if (logical === undefined || (!isFineInstant(node) && !isFineClock(node))) continue;
    const isClock = logical.kind === LOGICAL.time;
    if (isClock && bytes[logical.at] !== LOGICAL.time * 16 + TYPE.struct) throw UNUSUAL;
    if (isClock) set(logical.at, LOGICAL.timestamp, TYPE.struct);
    if (logical.isUtc) set(logical.flagAt, (bytes[logical.flagAt] ?? 0) >> 4, FALSE);
  }
  await copyFile(path, to, constants.COPYFILE_FICLONE);
  const file = await open(to, 'r+');
  try {
    await file.write(bytes, 0, bytes.length, footer.from);
  } finally {
    await file.close();
  }
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
  let name = '';
  let logical: LogicalType | undefined;
  thrift.fields((id, type) => {
    if (TYPE.integers.includes(type)) numbers.set(id, thrift.integer());
    else if (id === 4 && type === TYPE.binary) name = thrift.text();
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
