// Columns of bytes: refused, or decoded to texts as the load specifies.
import { isUtf8 } from 'node:buffer';
import { type Data, type DataType, Type } from 'apache-arrow';
import type { PropertyType } from '../../../store/lake/versions/columns.ts';
import type { Binary } from '../../bytes/reading.ts';
import { asBuffer, viewBytes } from './arrowChecks.ts';
import { ArrowRefusal } from './arrowRefusal.ts';
import { BINARY_HINT, notTextSentence, unstorableSentence } from '../../bytes/columnFaults.ts';

const BYTES: readonly Type[] = [
  Type.Binary,
  Type.LargeBinary,
  Type.FixedSizeBinary,
  Type.BinaryView,
];

export const isBytes = (type: DataType): boolean => BYTES.includes(type.typeId);

/** @throws Refused if the load does not specify how they are decoded */
export function bytesProperty(
  name: string,
  type: DataType,
  binary: Binary | undefined,
): PropertyType {
  if (binary !== undefined) return { type: 'string' };
  throw new ArrowRefusal(`${unstorableSentence(name, String(type))}: ${BINARY_HINT}`);
}

/** @returns a function from a row to its value as JSON. @throws Refused for bytes that are not text */
export function byteTexts(data: Data, name: string, binary: Binary): (row: number) => string {
  const read = bytesReader(data);
  return (row) => {
    if (!data.getValid(row)) return 'null';
    const bytes = read(row);
    if (binary === 'hex') return `"${bytes.toString('hex')}"`;
    if (isUtf8(bytes)) return JSON.stringify(bytes.toString('utf8'));
    throw new ArrowRefusal(notTextSentence(name, row + 1));
  };
}

function bytesReader(data: Data): (row: number) => Buffer {
  const { stride, typeId, valueOffsets, values } = data;
  if (typeId === Type.BinaryView) return (row) => viewBytes(data, row) ?? Buffer.alloc(0);
  const bytes = asBuffer(values as Uint8Array);
  if (typeId === Type.FixedSizeBinary) {
    return (row) => bytes.subarray(row * stride, (row + 1) * stride);
  }
  return (row) => bytes.subarray(Number(valueOffsets[row]), Number(valueOffsets[row + 1]));
}
