// Where a table ends and another one begins in the same file: behind a gap, by a line that is a header.
import { PROPERTIES_MAX } from '../../../store/lake/versions/columns.ts';
import { isMissing } from '../../values/missing.ts';
import { inferType } from '../../values/infer.ts';
import type { CsvRecord } from './records.ts';

export interface SecondTable {
  /** Of its header. */
  readonly line: number;
  /** Lines of the file from the end of the first table on. */
  readonly linesAfter: number;
}

/** What is known of the first table. */
interface FirstTable {
  readonly header: readonly string[] | undefined;
  /** The first line below it. */
  readonly line: number;
  readonly trailing: number | undefined;
  /** True of columns whose values are no texts. */
  readonly typed: readonly boolean[];
  readonly width: number;
}

type Gap = 'none' | 'blank' | 'title';

export class TableEnds {
  private readonly file: FirstTable;
  private gap: Gap = 'none';
  private found: number | undefined;
  /** The last line of the last record. */
  private lastLine: number;
  private endLine = 0;
  /**
   * A run of lines with another number of cells: where it begins, how many they are, and of how many
   * cells.
   */
  private run = { line: 0, count: 0, cells: 0 };
  private other: { readonly line: number; readonly cells: number } | undefined;

  constructor(file: FirstTable) {
    this.file = file;
    this.lastLine = file.line - 1;
  }

  /** The second table, once all lines were seen. */
  get second(): SecondTable | undefined {
    if (this.found === undefined) return undefined;
    return { line: this.found, linesAfter: this.endLine - this.lastLine };
  }

  see({ cells, comment, fault, line, lines }: CsvRecord): void {
    const { trailing, width } = this.file;
    this.endLine = line + lines - 1;
    if (this.found !== undefined) return;
    if (cells.length === 0 || comment !== undefined) {
      if (comment === undefined && this.gap === 'none') this.gap = 'blank';
      return;
    }
    const given = cells.filter((cell) => cell.trim() !== '').length;
    const isEmpty = fault === undefined && given === 0;
    const fits = cells.length === width || (cells.length === trailing && cells.at(-1) === '');
    if (fault !== undefined || !fits || isEmpty) {
      if (isEmpty) this.gap = this.gap === 'none' ? 'blank' : this.gap;
      else if (given === 1 && fault === undefined) this.gap = 'title';
      this.seeOther(cells, line, fault);
      return;
    }
    this.run = { line: 0, count: 0, cells: 0 };
    if (this.gap !== 'none' && this.isHeader(cells)) {
      this.found = line;
      return;
    }
    this.gap = 'none';
    this.lastLine = this.endLine;
  }

  private seeOther(cells: readonly string[], line: number, fault: string | undefined): void {
    if (fault !== undefined || cells.length < 2 || cells.length !== this.run.cells) {
      this.run = { line, count: 1, cells: fault === undefined ? cells.length : 0 };
      // More are no header: to inspect 250,000 cells took 0.5 s of the event loop.
      this.isNames =
        cells.length <= PROPERTIES_MAX && cells.every((cell) => cell !== '' && isText(cell));
      return;
    }
    this.run.count += 1;
    if (this.run.count === 2 && this.isNames)
      this.other ??= { line: this.run.line, cells: cells.length };
  }

  private isNames = false;

  private isHeader(cells: readonly string[]): boolean {
    const { header, typed, width } = this.file;
    const names = cells.slice(0, width);
    if (header !== undefined && header.every((name, at) => name === names[at])) {
      return this.gap === 'title';
    }
    const given = names.filter((cell) => cell.trim() !== '');
    if (given.length * 2 <= names.length || !given.every(isText)) return false;
    // One word among the values may be a record at fault; a line of them is a header.
    const differ = names.filter((cell, at) => typed[at] === true && cell.trim() !== '').length;
    return differ > 0 && differ >= Math.min(2, typed.filter(Boolean).length);
  }

  notes(): readonly string[] {
    if (this.other === undefined) return [];
    const { cells, line } = this.other;
    const what = `another table of ${cells} columns begins in line ${line}`;
    return [`warning: ${what}: to load it, say skipLines=${line - 1} (--skip-lines ${line - 1})`];
  }
}

/** A word that is no value of a typed column, and none that says that there is no value. */
const isText = (cell: string): boolean => {
  const { format, type } = inferType([cell.trim()]).property;
  return type === 'string' && format === undefined && !isMissing(cell);
};
