// Writes records of a document with its names written once: tables, and a list or an object per column.
import { Failure } from '../../../store/base/failure.ts';
import type { Shape } from './jsonShapes.ts';
import type { Member, Sketch } from './jsonSketch.ts';
import { JsonText, type Slice } from './jsonText.ts';
import { type LineWriter, respell } from './lineWriter.ts';
import { checkNames, ListRows } from './listRows.ts';

type Shaped = Extract<Shape, { readonly kind: 'table' | 'columns' | 'turned' }>;

/** @returns notes of the load */
export function writeShape(shape: Shaped, text: JsonText, writer: LineWriter): readonly string[] {
  if (shape.kind === 'table') return writeTable(shape, text, writer);
  if (shape.kind === 'columns') return writeColumns(shape, text, writer);
  return writeTurned(shape, text, writer);
}

/** A new scanner at a position, so that an earlier NaN is not mistaken for the last one. */
const scannerAt = ({ bytes }: JsonText, at: number): JsonText => {
  const text = new JsonText(bytes);
  text.at = at;
  return text;
};

function readElements(text: JsonText, list: Slice): readonly Slice[] {
  const own = scannerAt(text, list.start);
  const cells: Slice[] = [];
  own.scanList(0, () => {
    const start = own.at;
    own.scanValue(1);
    cells.push({ start, end: own.at });
  });
  return cells;
}

const noteLeftOut = (leftOut: readonly string[]): readonly string[] =>
  leftOut.length === 0 ? [] : [`warning: left out of the document: ${leftOut.join(', ')}`];

function writeTable(
  { index, leftOut, names, rows }: Extract<Shape, { readonly kind: 'table' }>,
  text: JsonText,
  writer: LineWriter,
): readonly string[] {
  const named = readElements(text, names).map((cell) => readName(text, cell));
  const property = named.includes('index') ? 'index_' : 'index';
  const labels = index === undefined ? undefined : readElements(text, index);
  const own = scannerAt(text, rows.start);
  const lists = new ListRows(own, writer, { depth: 2, names: named });
  checkNames(named);
  let row = 0;
  own.scanList(0, () => {
    const start = own.at;
    if (own.bytes[start] !== 0x5b) {
      own.scanValue(1);
      own.respellings.length = 0;
      writer.writeFault('a row of the table is no list');
    } else {
      const cells: Slice[] = [];
      own.scanList(1, () => {
        const from = own.at;
        own.scanValue(2);
        cells.push({ start: from, end: own.at });
      });
      const label = labels?.[row];
      const key = label === undefined ? [] : [`"${property}":${sliceText(own, label, writer)}`];
      lists.add(cells, key);
    }
    row += 1;
  });
  const note = `records are the lists of a table, with the names that it has once: ${named.length} columns`;
  return [note, ...noteLeftOut(leftOut)];
}

/** Reads a name: a text, or an object with one. */
function readName(text: JsonText, cell: Slice): string {
  const value: unknown = JSON.parse(sliceText(text, cell));
  if (typeof value === 'string') return value;
  const name: unknown = Reflect.get(Object(value), 'name');
  if (typeof name === 'string') return name;
  throw new Failure('InvalidBody', 'a column of the table has no name');
}

/** A value with its respellings. */
function sliceText(text: JsonText, slice: Slice, writer?: LineWriter): string {
  const own = scannerAt(text, slice.start);
  own.scanValue();
  const pieces = respell(own, slice, (number) => writer?.countNested(own, number, 0));
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString();
}

function writeColumns(
  { columns, constants, leftOut }: Extract<Shape, { readonly kind: 'columns' }>,
  text: JsonText,
  writer: LineWriter,
): readonly string[] {
  const lists = columns.map(({ value }) => readElements(text, value));
  writeRows(
    columns.map(({ name }) => name),
    lists,
    constants.map(({ name, value }) => `${JSON.stringify(name)}:${sliceText(text, value, writer)}`),
    text,
    writer,
  );
  const note = `records are the places of ${columns.length} lists, each of which is a column`;
  return [note, ...noteLeftOut(leftOut)];
}

function writeTurned(
  { columns }: Extract<Shape, { readonly kind: 'turned' }>,
  text: JsonText,
  writer: LineWriter,
): readonly string[] {
  const [first] = columns;
  const labels = first === undefined ? [] : readMembers(text, first.value);
  const lists = columns.map((column) => {
    const members = readMembers(text, column.value);
    if (members.some(({ name }, at) => name !== labels[at]?.name)) throw rowsDiffer(column);
    return members.map(({ value }) => value);
  });
  const property = columns.some(({ name }) => name === 'index') ? 'index_' : 'index';
  const keys = labels.map(({ name }) => `"${property}":${JSON.stringify(name)}`);
  writeRows(
    columns.map(({ name }) => name),
    lists,
    [],
    text,
    writer,
    keys,
  );
  return [
    `records are the members of ${columns.length} columns: their names became property ${property}`,
  ];
}

const rowsDiffer = ({ name }: Member): Failure =>
  new Failure(
    'InvalidBody',
    `the columns of the document have different rows, as has ${name}: write a list of records`,
  );

function readMembers(
  text: JsonText,
  object: Sketch,
): readonly { readonly name: string; readonly value: Slice }[] {
  const own = scannerAt(text, object.start);
  const members: { readonly name: string; readonly value: Slice }[] = [];
  own.scanObject(0, (name) => {
    const start = own.at;
    own.scanValue(1);
    members.push({ name: own.readText(name), value: { start, end: own.at } });
  });
  return members;
}

/** @param first a member that each record begins with, as JSON */
function writeRows(
  names: readonly string[],
  lists: readonly (readonly Slice[])[],
  constants: readonly string[],
  text: JsonText,
  writer: LineWriter,
  first?: readonly string[],
): void {
  const keys = names.map((name) => JSON.stringify(name));
  const count = lists[0]?.length ?? 0;
  for (let row = 0; row < count; row += 1) {
    const members = lists.map((list, at) => {
      const cell = list[row] ?? { start: 0, end: 0 };
      return `${keys[at] ?? '""'}:${sliceText(text, cell, writer)}`;
    });
    const label = first?.[row];
    writer.append(
      `{${[...(label === undefined ? [] : [label]), ...constants, ...members].join(',')}}`,
    );
    writer.endLine();
  }
}
