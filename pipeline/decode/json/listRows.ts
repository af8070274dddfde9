// Converts records that are lists, `[1478131200000, 950.0]`, to objects: each value is named by its position.
import { Failure } from '../../../store/base/failure.ts';
import type { JsonText, Slice } from './jsonText.ts';
import type { LineWriter } from './lineWriter.ts';

/** Maximum values of a list. */
const WIDTH_MAX = 10_000;

interface ListRowOptions {
  /** Depth of the values. */
  readonly depth: number;
  /** Whether the first list has the names; undefined: decided by its values. */
  readonly header?: boolean | undefined;
  /** Names of the positions, if they are known. */
  readonly names?: readonly string[];
}

export class ListRows {
  readonly #text: JsonText;
  readonly #writer: LineWriter;
  /** False: the first list is a record; undefined: decided by its values. */
  readonly #header: boolean | undefined;
  readonly #depth: number;
  #names: readonly string[] | undefined;
  /** The first list, until the second one is read. */
  #first: readonly Slice[] | undefined;
  /** The names are those of a list of the file. */
  hasHeader = false;

  constructor(text: JsonText, writer: LineWriter, { depth, header, names }: ListRowOptions) {
    this.#text = text;
    this.#writer = writer;
    this.#depth = depth;
    this.#header = names === undefined ? header : false;
    this.#names = names?.map((name) => JSON.stringify(name));
  }

  get count(): number {
    return this.#names?.length ?? 0;
  }

  /** @param keys additional members of the record, as JSON */
  add(cells: readonly Slice[], keys: readonly string[]): void {
    if (this.#names === undefined && this.#first === undefined && this.#header !== false) {
      this.#first = cells;
      this.#keys = keys;
      return;
    }
    this.#decide(cells);
    this.#write(cells, keys);
  }

  #keys: readonly string[] = [];

  end(): void {
    if (this.#first !== undefined) this.#decide([]);
  }

  /** Decides whether the first list has the names: it has only texts, and the second one does not. */
  #decide(second: readonly Slice[]): void {
    const first = this.#first;
    this.#first = undefined;
    if (first === undefined) {
      this.#names ??= defaultNames(second.length);
      return;
    }
    const isText = (cell: Slice): boolean => this.#text.bytes[cell.start] === 0x22;
    const areNames = first.length > 0 && first.every(isText);
    const isData = second.length > 0 && !second.every(isText);
    if (this.#header === true || (areNames && isData)) {
      if (!areNames)
        throw new Failure(
          'InvalidBody',
          'the first list is no header: pass header=false (--no-header)',
        );
      this.#names = checkNames(first.map((cell) => this.#text.readText(cell)));
      this.hasHeader = true;
      return;
    }
    this.#names = defaultNames(first.length);
    this.#write(first, this.#keys);
  }

  #write(cells: readonly Slice[], keys: readonly string[]): void {
    const names = this.#names ?? [];
    const writer = this.#writer;
    if (cells.length !== names.length) {
      const first = this.hasHeader ? 'the header' : 'the first list';
      writer.writeFault(`the list has ${cells.length} values, ${first} has ${names.length}`);
      return;
    }
    writer.append('{');
    keys.forEach((key, at) => writer.append(at === 0 ? key : `,${key}`));
    cells.forEach((cell, at) => {
      writer.append(`${at === 0 && keys.length === 0 ? '' : ','}${names[at] ?? '""'}:`);
      writer.appendSlice(this.#text, cell, this.#depth);
    });
    writer.append('}');
    writer.endLine();
  }
}

function defaultNames(width: number): readonly string[] {
  if (width > WIDTH_MAX) {
    throw new Failure('InvalidBody', `a list has ${width} values, a record at most ${WIDTH_MAX}`);
  }
  return Array.from({ length: width }, (_, at) => `"column${at + 1}"`);
}

/** @throws Failure InvalidBody for names that are repeated or empty */
export function checkNames(names: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  for (const name of names) {
    if (name.trim() === '' || seen.has(name)) {
      const what = name.trim() === '' ? 'an empty name' : `the name ${JSON.stringify(name)} twice`;
      throw new Failure('InvalidBody', `the header of the lists has ${what}`);
    }
    seen.add(name);
  }
  return names.map((name) => JSON.stringify(name));
}
