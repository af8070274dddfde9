// Checks the columns of one decoded batch before a value is read: buffers are as long as their rows need,
// offsets ascend within the buffer they point into, indexes are within their dictionary, texts are UTF-8.
import { isUtf8 } from 'node:buffer';
import { type Data, Type } from 'apache-arrow';
import { ArrowRefusal } from './arrowRefusal.ts';

/** Bytes of one view: four of length, then either the text itself, or its prefix, buffer and offset. */
const VIEW_BYTES = 16;
const INLINE_BYTES_MAX = 12;

/** @throws Refused naming the column */
export function checkColumn(data: Data, column: string): void {
  const refuse = (what: string): never => {
    throw new ArrowRefusal(`column ${column}: ${what}`);
  };
  const { length, nullBitmap, nullCount } = data;
  if (nullCount > 0 && data.typeId !== Type.Null) {
    if (byteLength(nullBitmap) * 8 < length) refuse('its validity bits are too few for its rows');
  }
  const checks = CHECKS[data.typeId];
  checks?.(data, column, refuse);
}

type Refuse = (what: string) => never;
type Check = (data: Data, column: string, refuse: Refuse) => void;

const byteLength = (buffer: { readonly byteLength: number } | undefined): number =>
  buffer?.byteLength ?? 0;

const FEW_VALUES = 'its values are fewer than its rows';

const checkValues: Check = ({ length, stride, values }, _column, refuse) => {
  if (Number(values?.length ?? 0) < length * stride) refuse(FEW_VALUES);
};

const checkBits: Check = ({ length, values }, _column, refuse) => {
  if (byteLength(values) * 8 < length) refuse(FEW_VALUES);
};

/** Checks that the offsets of `length` rows ascend up to `end`. */
function checkOffsets({ length, valueOffsets }: Data, end: number, refuse: Refuse): void {
  if (length === 0) return;
  if (Number(valueOffsets?.length ?? 0) < length + 1) refuse('its offsets are fewer than its rows');
  let before = 0;
  for (let row = 0; row <= length; row += 1) {
    const offset = Number(valueOffsets[row]);
    if (offset < before || offset > end) {
      refuse(`offset ${offset} of row ${row + 1} is not between ${before} and ${end}`);
    }
    before = offset;
  }
}

const checkTexts: Check = (data, _column, refuse) => {
  const { length, valueOffsets, values } = data;
  checkOffsets(data, byteLength(values), refuse);
  if (length === 0) return;
  const bytes = asBuffer(values);
  const [start, end] = [Number(valueOffsets[0]), Number(valueOffsets[length])];
  // One pass for all texts: each begins with the first byte of a character, and all bytes together are
  // valid.
  if (isUtf8(bytes.subarray(start, end)) && beginCharacters(data, bytes, end)) return;
  for (let row = 0; row < length; row += 1) {
    const text = bytes.subarray(Number(valueOffsets[row]), Number(valueOffsets[row + 1]));
    if (data.getValid(row) && !isUtf8(text)) refuse(notUtf8Sentence(row));
  }
};

const notUtf8Sentence = (row: number): string => `the text of row ${row + 1} is not UTF-8`;

function beginCharacters({ length, valueOffsets }: Data, bytes: Buffer, end: number): boolean {
  for (let row = 0; row < length; row += 1) {
    const offset = Number(valueOffsets[row]);
    if (offset < end && ((bytes[offset] ?? 0) & 0xc0) === 0x80) return false;
  }
  return true;
}

const checkBytes: Check = (data, _column, refuse) =>
  checkOffsets(data, byteLength(data.values), refuse);

export const asBuffer = (values: Uint8Array): Buffer =>
  Buffer.from(values.buffer, values.byteOffset, values.byteLength);

/** @returns the bytes of a row of a column of views; undefined if they are outside its buffers */
export function viewBytes({ values, variadicBuffers }: Data, row: number): Buffer | undefined {
  const view = asBuffer(values as Uint8Array).subarray(row * VIEW_BYTES, (row + 1) * VIEW_BYTES);
  const size = view.readInt32LE(0);
  if (size < 0) return undefined;
  if (size <= INLINE_BYTES_MAX) return view.subarray(4, 4 + size);
  const buffer = variadicBuffers[view.readInt32LE(8)];
  const offset = view.readInt32LE(12);
  if (buffer === undefined || offset < 0 || offset + size > buffer.byteLength) return undefined;
  return asBuffer(buffer).subarray(offset, offset + size);
}

const checkViews: Check = (data, _column, refuse) => {
  const { length, values } = data;
  if (byteLength(values) < length * VIEW_BYTES) refuse(FEW_VALUES);
  for (let row = 0; row < length; row += 1) {
    if (!data.getValid(row)) continue;
    const bytes = viewBytes(data, row);
    if (bytes === undefined) refuse(`the text of row ${row + 1} lies outside its buffers`);
    else if (data.typeId === Type.Utf8View && !isUtf8(bytes)) {
      refuse(notUtf8Sentence(row));
    }
  }
};

const NO_CHILD = 'it is a list of nothing';

const checkLists: Check = (data, column, refuse) => {
  const child: Data | undefined = data.children[0];
  if (child === undefined) return refuse(NO_CHILD);
  checkOffsets(data, child.length, refuse);
  checkColumn(child, column);
};

const checkFixedLists: Check = (data, column, refuse) => {
  const child: Data | undefined = data.children[0];
  const { listSize } = data.type as unknown as { readonly listSize: number };
  if (child === undefined || listSize < 0) return refuse(NO_CHILD);
  if (child.length < data.length * listSize) refuse(FEW_VALUES);
  checkColumn(child, column);
};

const checkStructs: Check = (data, column, refuse) => {
  for (const child of data.children as readonly Data[]) {
    if (child.length < data.length) refuse('a member has fewer values than it has rows');
    checkColumn(child, column);
  }
};

const checkMaps: Check = (data, column, refuse) => {
  const entries: Data | undefined = data.children[0];
  if (entries?.children.length !== 2) return refuse('its entries are no pairs');
  checkLists(data, column, refuse);
};

const checkDictionary: Check = (data, column, refuse) => {
  checkValues(data, column, refuse);
  const pieces: readonly Data[] = data.dictionary?.data ?? [];
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
  for (const piece of pieces) checkColumn(piece, column);
  for (let row = 0; row < data.length; row += 1) {
    const index = Number(data.values[row]);
    if ((index < 0 || index >= size) && data.getValid(row)) {
      refuse(`index ${index} of row ${row + 1} is not in its dictionary of ${size}`);
    }
  }
};

const CHECKS: Readonly<Partial<Record<Type, Check>>> = {
  [Type.Bool]: checkBits,
  [Type.Int]: checkValues,
  [Type.Float]: checkValues,
  [Type.Decimal]: checkValues,
  [Type.Date]: checkValues,
  [Type.Time]: checkValues,
  [Type.Timestamp]: checkValues,
  [Type.FixedSizeBinary]: checkValues,
  [Type.Utf8]: checkTexts,
  [Type.LargeUtf8]: checkTexts,
  [Type.Binary]: checkBytes,
  [Type.LargeBinary]: checkBytes,
  [Type.Utf8View]: checkViews,
  [Type.BinaryView]: checkViews,
  [Type.List]: checkLists,
  [Type.LargeList]: checkLists,
  [Type.FixedSizeList]: checkFixedLists,
  [Type.Struct]: checkStructs,
  [Type.Map]: checkMaps,
  [Type.Dictionary]: checkDictionary,
};
