// Converts JSON of any shape to JSON lines, one record each: below a path, in lists, in columns, or line by
// line with each faulty line at its position. Runs in a child process, or in the server for a small file.
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Failure } from '../../../store/base/failure.ts';
import { quoteWord } from '../../../store/base/shellWord.ts';
import { type JsonStep, printJsonPath } from './jsonPath.ts';
import { readPieces } from '../../bytes/pieces.ts';
import { findShape, type FoundList } from './jsonShapes.ts';
import { sketchValue } from './jsonSketch.ts';
import {
  describePosition,
  JsonFault,
  JsonText,
  noValueSentence,
  oneDocument,
  type Slice,
  unreadableFailure,
} from './jsonText.ts';
import { LineWriter } from './lineWriter.ts';
import { ListRows } from './listRows.ts';
import { writeShape } from './shapedLines.ts';

/** Bytes of a document that is read by a path or its shape, and of a text that is scanned for its fault. */
export const DOCUMENT_BYTES_MAX = 64 * 1024 ** 2;
const TEXT_BYTES_MAX = 1024 ** 3;
/** Bytes per read, and bytes of a line. */
const PIECE_BYTES = 1024 ** 2;
const LINE_BYTES_MAX = 4 * 1024 ** 2;
/** Error for records with a member that has the name of a path property. */
const CLASH = 'records have a member';

export interface JsonTask {
  readonly kind: 'json';
  readonly from: string;
  readonly to: string;
  /**
   * `lines`: each line is a record. `values`: each value of the text, or the value at `steps` in it.
   * `document`: the text is one value, and its shape decides.
   */
  readonly as: 'lines' | 'values' | 'document';
  readonly steps: readonly JsonStep[];
  /** Whether the first of records that are lists has their names; undefined: decided by its values. */
  readonly header?: boolean;
}

export type JsonAnswer =
  /** The lines were written. */
  | { readonly kind: 'lines'; readonly notes: readonly string[] }
  | {
      readonly kind: 'lists';
      readonly lists: readonly FoundList[];
      /** The `type` member of the document. */
      readonly type: string | undefined;
    }
  /** The text is one record. */
  | { readonly kind: 'record' };

/** @throws Failure InvalidBody with the position of a fault */
export async function writeJsonLines(task: JsonTask): Promise<JsonAnswer> {
  if (task.as === 'lines') return writeLines(task);
  const { size } = await stat(task.from);
  const isSmall = task.as === 'values' && task.steps.every(({ kind }) => kind === 'elements');
  const most = isSmall ? TEXT_BYTES_MAX : DOCUMENT_BYTES_MAX;
  if (size > most) {
    throw new Failure('InvalidBody', `${oneDocument(size)}, over ${most}`);
  }
  const text = new JsonText(readFileSync(task.from), 1, task.as !== 'document');
  try {
    return task.as === 'document' ? writeDocument(text, task) : writeValues(text, task);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const place = describePosition(text.bytes, error.at);
    throw unreadableFailure(`${place}: ${error.message}`);
  }
}

function writeValues(text: JsonText, task: JsonTask): JsonAnswer {
  const writer = new LineWriter(task.to);
  try {
    const rows = new ListRows(text, writer, {
      depth: task.steps.length + 1,
      header: task.header,
    });
    const walk: Walk = { text, writer, rows, steps: task.steps, keys: [], names: [] };
    walkSteps(walk, 0);
    // Several documents may follow each other; a list of records must be the only one.
    const isList = task.steps.length === 1 && task.steps[0]?.kind === 'elements';
    while (!isList && text.peek() !== undefined) walkSteps(walk, 0);
    checkEnd(text);
    rows.end();
    if (writer.lines === 0 && task.steps.length > 0) {
      const path = printJsonPath(task.steps);
      throw new Failure('InvalidBody', `jsonPath: nothing is at ${path} of the body`);
    }
    return { kind: 'lines', notes: [...describeRows(rows), ...describeRespelled(text, writer)] };
  } finally {
    writer.close();
  }
}

function checkEnd(text: JsonText): void {
  if (text.peek() !== undefined) throw text.fault('behind the end of the document');
}

const describeRows = ({ count, hasHeader }: ListRows): readonly string[] => {
  if (count === 0) return [];
  const named = hasHeader
    ? 'the first of them has their names; if it is a record, pass header=false (--no-header)'
    : `their values are column1 to column${count}: ` +
      'columns={"column1":"date"} (--map column1=date) names them';
  return [`records are lists: ${named}`];
};

/** @throws JsonFault if a text has no other values */
function describeRespelled(text: JsonText, writer: LineWriter): readonly string[] {
  const { firstNonNumber, nonNumbers, values } = text;
  if (firstNonNumber !== undefined && values === 0) throw noValue(text, firstNonNumber);
  const first = firstNonNumber === undefined ? undefined : text.describe(firstNonNumber);
  return [...noteNonNumbers(nonNumbers, first), ...noteNested(writer)];
}

const noValue = ({ bytes }: JsonText, { end, start }: Slice): JsonFault =>
  new JsonFault(start, noValueSentence(bytes.toString('latin1', start, end)));

const noteNonNumbers = (count: number, first: string | undefined): readonly string[] =>
  first === undefined
    ? []
    : [`warning: ${count} values such as ${first} are no JSON: read as null`];

const noteNested = ({ firstNested, nested }: LineWriter): readonly string[] =>
  firstNested === undefined
    ? []
    : [
        `warning: ${nested} numbers within objects and lists, such as ${firstNested}, ` +
          'have more digits than a double keeps: stored as texts',
      ];

interface Walk {
  readonly text: JsonText;
  readonly writer: LineWriter;
  readonly rows: ListRows;
  readonly steps: readonly JsonStep[];
  /** Members with the names on the way, as JSON, and the names of these members. */
  readonly keys: string[];
  readonly names: string[];
  isLists?: boolean;
}

/** Follows the path from the next value; everything else is scanned too. */
function walkSteps(walk: Walk, level: number): void {
  const { steps, text } = walk;
  const step = steps[level];
  const byte = text.peek();
  if (step === undefined) {
    writeRecord(walk, level);
  } else if (step.kind === 'elements') {
    if (byte !== 0x5b) text.scanValue(level);
    else text.scanList(level, () => walkSteps(walk, level + 1));
  } else if (byte !== 0x7b) {
    text.scanValue(level);
  } else if (step.kind === 'member') {
    text.scanObject(level, (name) => {
      if (text.readText(name) === step.name) walkSteps(walk, level + 1);
    });
  } else {
    text.scanObject(level, (name) => {
      walk.keys.push(
        `${JSON.stringify(step.property)}:${text.bytes.toString('utf8', name.start, name.end)}`,
      );
      walk.names.push(step.property);
      walkSteps(walk, level + 1);
      walk.keys.pop();
      walk.names.pop();
    });
  }
}

function writeRecord(walk: Walk, level: number): void {
  const { keys, rows, text, writer } = walk;
  const start = text.at;
  // Lists are records if the first record is one.
  walk.isLists ??= text.bytes[start] === 0x5b;
  if (walk.isLists && text.bytes[start] === 0x5b) {
    const cells: Slice[] = [];
    text.scanList(level, () => {
      const from = text.at;
      text.scanValue(level + 1);
      cells.push({ start: from, end: text.at });
    });
    rows.add(cells, keys);
    return;
  }
  if (text.bytes[start] !== 0x7b || keys.length === 0) {
    text.scanValue(level);
    writer.appendSlice(text, { start, end: text.at }, level + 1);
    writer.endLine();
    return;
  }
  const members = text.scanObject(level);
  const clash = walk.names.find((name) => members.some((one) => text.readText(one) === name));
  if (clash !== undefined) {
    const what = `jsonPath: ${CLASH} ${clash} already`;
    const steps = walk.steps.map((step) =>
      step.kind === 'each' && step.property === clash ? { ...step, property: `${clash}_` } : step,
    );
    const path = printJsonPath(steps);
    const option = `--json-path ${quoteWord(path)}`;
    throw new Failure('InvalidBody', `${what}; pass jsonPath=${path} (${option})`);
  }
  writer.append(`{${keys.join(',')}${members.length === 0 ? '' : ','}`);
  writer.appendSlice(text, { start: start + 1, end: text.at }, level + 1);
  writer.endLine();
}

function writeDocument(text: JsonText, task: JsonTask): JsonAnswer {
  const root = sketchValue(text);
  // Several values are records, one after the other.
  if (text.peek() !== undefined) return convertValues(text.bytes, task, []);
  const read = ({ end, start }: Slice): string => text.bytes.toString('utf8', start, end);
  const shape = findShape(root, read);
  if (shape.kind === 'record') {
    return text.respelled === 0 ? shape : convertValues(text.bytes, task, []);
  }
  if (shape.kind === 'lists') {
    const type = root.members.find(({ name }) => name === 'type')?.value;
    return { ...shape, type: type?.kind === 'text' ? text.readText(type) : undefined };
  }
  if (shape.kind === 'keyed') {
    const answer = convertValues(text.bytes, task, [{ kind: 'each', property: shape.property }]);
    const note = `records are the members of the document: their names became property ${shape.property}`;
    return { kind: 'lines', notes: [note, ...answer.notes] };
  }
  const writer = new LineWriter(task.to);
  try {
    const notes = writeShape(shape, text, writer);
    return { kind: 'lines', notes: [...notes, ...describeRespelled(text, writer)] };
  } finally {
    writer.close();
  }
}

function convertValues(bytes: Buffer, task: JsonTask, steps: readonly JsonStep[]) {
  const answer = writeValues(new JsonText(bytes), { ...task, steps });
  return { kind: 'lines' as const, notes: answer.kind === 'lines' ? answer.notes : [] };
}

/** Converts line by line. A faulty line keeps its position, and is rejected with the column of its fault. */
async function writeLines(task: JsonTask): Promise<JsonAnswer> {
  const writer = new LineWriter(task.to);
  const nonNumbers: NonNumbers = { count: 0, first: undefined };
  try {
    let number = 0;
    for await (const line of linesIn(task.from)) {
      number += 1;
      writeLine(new JsonText(line, number), writer, nonNumbers);
    }
  } finally {
    writer.close();
  }
  const notes = [...noteNonNumbers(nonNumbers.count, nonNumbers.first), ...noteNested(writer)];
  return { kind: 'lines', notes };
}

interface NonNumbers {
  count: number;
  first: string | undefined;
}

function writeLine(text: JsonText, writer: LineWriter, nonNumbers: NonNumbers): void {
  const { bytes, line } = text;
  if (bytes.length > LINE_BYTES_MAX) {
    writer.writeFault(`should be JSON of at most ${LINE_BYTES_MAX} bytes: line ${line} has more`);
    return;
  }
  if (text.peek() === undefined) return;
  try {
    text.scanValue();
    if (text.peek() !== undefined) throw text.fault('behind the end of the record');
    const first = text.firstNonNumber;
    if (first !== undefined && text.values === 0) throw noValue(text, first);
    if (first !== undefined) nonNumbers.first ??= text.describe(first);
    nonNumbers.count += text.nonNumbers;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    writer.writeFault(
      `should be JSON; ${describePosition(bytes, error.at, line)}: ${error.message}`,
    );
    return;
  }
  writer.appendSlice(text, { start: bytes[0] === 0xef ? 3 : 0, end: bytes.length }, 1);
  writer.endLine();
}

/** Lines without their ends. A line that is too long is truncated just above the limit. */
async function* linesIn(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of readPieces(path, PIECE_BYTES)) {
    const bytes = rest.length > LINE_BYTES_MAX ? piece : Buffer.concat([rest, piece]);
    const long = rest.length > LINE_BYTES_MAX ? rest : undefined;
    let from = 0;
    let isLong = long !== undefined;
    for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, from)) {
      yield isLong && long !== undefined ? long : bytes.subarray(from, at);
      isLong = false;
      from = at + 1;
    }
    rest = isLong && long !== undefined ? long : Buffer.from(bytes.subarray(from));
  }
  if (rest.length > 0) yield rest;
}
