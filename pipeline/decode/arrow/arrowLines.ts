// Converts one Arrow file or stream to JSON lines, batch by batch, with the types of its schema. Runs in a
// child process only.
import { createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { zstdDecompressSync } from 'node:zlib';
import { CompressionType, compressionRegistry, type Data, RecordBatchReader } from 'apache-arrow';
import type { PropertyType } from '../../../store/lake/versions/columns.ts';
import type { Binary } from '../../bytes/reading.ts';
import { expandedMax } from '../../bytes/unpack.ts';
import { checkColumn } from './arrowChecks.ts';
import { BATCH_BYTES_MAX, checkMessages } from './arrowMessages.ts';
import { isBytes, bytesProperty, byteTexts } from './arrowBytes.ts';
import { toProperty, columnTexts, widerProperty } from './arrowValues.ts';
import { ArrowRefusal } from './arrowRefusal.ts';
import { unstorableSentence } from '../../bytes/columnFaults.ts';

const LINES_CHARACTERS = 64 * 1024;

export interface ArrowTask {
  readonly kind: 'arrow';
  readonly from: string;
  readonly to: string;
  readonly isFile: boolean;
  /** How columns of bytes are decoded; refused when undefined. */
  readonly binary?: Binary;
}

export interface ArrowColumn {
  readonly name: string;
  readonly property: PropertyType;
  /** Its lists or objects with doubles that are no number. */
  readonly noNumbers?: RowCount;
}

interface RowCount {
  readonly count: number;
  /** The row of the first one, from 1. */
  readonly first: number;
}

/**
 * Writes the lines and returns the columns.
 * @throws Refused, or any error of the decoder for a damaged file
 */
export async function writeArrowLines(task: ArrowTask): Promise<readonly ArrowColumn[]> {
  await checkMessages(task.from, task.isFile);
  const bytesMax = expandedMax((await stat(task.from)).size);
  limitExpansion(bytesMax);
  await using file = await open(task.from, 'r');
  const reader = await (task.isFile
    ? RecordBatchReader.from(file)
    : RecordBatchReader.from(file.createReadStream({ autoClose: false })));
  await reader.open();
  const columns = reader.schema.fields.map(({ name, type }) => {
    if (isBytes(type)) return { name, property: bytesProperty(name, type, task.binary) };
    const property = toProperty(type);
    if (property !== undefined) return { name, property };
    throw new ArrowRefusal(unstorableSentence(name, String(type)));
  });
  if (columns.length === 0) throw new ArrowRefusal('it has no schema, or no column');
  const wider = new Map<string, PropertyType>();
  const noNumbers = new Map<string, RowCount>();
  const writing = { columns, wider, noNumbers };
  const lines = Readable.from(toLines(reader, writing, { ...task, bytesMax }));
  await pipeline(lines, createWriteStream(task.to, { mode: 0o600 }));
  return columns.map(({ name, property }) => {
    const column = { name, property: wider.get(name) ?? property };
    const counted = noNumbers.get(name);
    return counted === undefined ? column : { ...column, noNumbers: counted };
  });
}

interface Writing {
  readonly columns: readonly ArrowColumn[];
  /** Types of columns whose values do not fit the type of their Arrow type. */
  readonly wider: Map<string, PropertyType>;
  readonly noNumbers: Map<string, RowCount>;
}

type Batches = AsyncIterable<{ readonly data: Data; readonly numRows: number }>;

async function* toLines(
  batches: Batches,
  { columns: typed, noNumbers, wider }: Writing,
  { binary = 'hex', bytesMax }: Pick<ArrowTask, 'binary'> & { readonly bytesMax: number },
): AsyncGenerator<string> {
  const names = typed.map(({ name }) => name);
  const keys = names.map((name) => JSON.stringify(name));
  let text = '';
  let written = 0;
  let rows = 0;
  for await (const { data, numRows } of batches) {
    const columns: readonly Data[] = data.children;
    for (const [at, column] of columns.entries()) {
      const name = names[at] ?? '';
      checkColumn(column, name);
      const property = widerProperty(column);
      if (property !== undefined) wider.set(name, property);
    }
    const texts = columns.map((column, at) => {
      const name = names[at] ?? '';
      if (isBytes(column.type)) return byteTexts(column, name, binary);
      if (column.children.length === 0) return columnTexts(column);
      return countingTexts(column, (row) => {
        const { count, first } = noNumbers.get(name) ?? { count: 0, first: rows + row + 1 };
        noNumbers.set(name, { count: count + 1, first });
      });
    });
    for (let row = 0; row < numRows; row += 1) {
      const members = texts.map((textAt, at) => `${keys[at]}:${textAt(row)}`);
      text += `{${members.join(',')}}\n`;
      if (text.length < LINES_CHARACTERS) continue;
      written += text.length;
      if (written > bytesMax)
        throw new ArrowRefusal(`its records are over ${bytesMax} bytes of JSON`);
      yield text;
      text = '';
    }
    rows += numRows;
  }
  yield text;
}

/** @param onNoNumber called with a row that has a double that is no number */
function countingTexts(
  column: Data,
  onNoNumber: (row: number) => void,
): ReturnType<typeof columnTexts> {
  const seen = { count: 0 };
  const textAt = columnTexts(column, seen);
  return (row) => {
    const before = seen.count;
    const text = textAt(row);
    if (seen.count > before) onNoNumber(row);
    return text;
  };
}

/** Limits the decompressed bytes of the whole file, over all of its batches. */
function limitExpansion(bytesMax: number): void {
  let total = 0;
  compressionRegistry.set(CompressionType.ZSTD, {
    decode: (bytes) => {
      const plain = zstdDecompressSync(bytes, { maxOutputLength: BATCH_BYTES_MAX });
      total += plain.byteLength;
      if (total > bytesMax) throw new ArrowRefusal(`it decompresses to over ${bytesMax} bytes`);
      return plain;
    },
  });
}

/** The reason of a refusal; the decoder's own errors are not helpful to users. */
export const explainArrow = (error: unknown): string =>
  `the body is not readable Arrow: ${error instanceof ArrowRefusal ? error.message : 'it is damaged'}`;
