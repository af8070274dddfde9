// Detects the end of a table and the beginning of another one in the same file: a header line after a gap.
import { PROPERTIES_MAX } from '../../../store/lake/versions/columns.ts';
import { isText, repeatsHeader } from './headerRows.ts';
import type { CsvRecord } from './records.ts';

export interface SecondTable {
  /** The line of its header. */
  readonly line: number;
  /** Number of lines of the file after the end of the first table. */
  readonly linesAfter: number;
}

/** Properties of the first table. */
interface FirstTable {
  readonly header: readonly string[] | undefined;
  /** The first line below it. */
  readonly line: number;
  readonly trailing: number | undefined;
  /** True for columns whose values are not texts. */
  readonly typed: readonly boolean[];
  readonly width: number;
}

type Gap = 'none' | 'blank' | 'title';

export class TableEnds {
  private readonly file: FirstTable;
  private gap: Gap = 'none';
  private secondLine: number | undefined;
  /** The last line of the last record. */
  private lastLine: number;
  private endLine = 0;
  /**
   * A run of lines with another number of cells: its first line, its length, and its number of cells.
   */
  private run = { line: 0, count: 0, cells: 0 };
  private other: { readonly line: number; readonly cells: number } | undefined;

  constructor(file: FirstTable) {
    this.file = file;
    this.lastLine = file.line - 1;
  }

  /** The second table, after all lines were added. */
  get second(): SecondTable | undefined {
    if (this.secondLine === undefined) return undefined;
    return { line: this.secondLine, linesAfter: this.endLine - this.lastLine };
  }

  add({ cells, comment, fault, line, lines }: CsvRecord): void {
    const { trailing, width } = this.file;
    this.endLine = line + lines - 1;
    if (this.secondLine !== undefined) return;
    if (cells.length === 0 || comment !== undefined) {
      if (comment === undefined && this.gap === 'none') this.gap = 'blank';
      return;
    }
    const filled = cells.filter((cell) => cell.trim() !== '').length;
    const isEmpty = fault === undefined && filled === 0;
    const fits = cells.length === width || (cells.length === trailing && cells.at(-1) === '');
    if (fault !== undefined || !fits || isEmpty) {
      if (isEmpty) this.gap = this.gap === 'none' ? 'blank' : this.gap;
      else if (filled === 1 && fault === undefined) this.gap = 'title';
      this.seeOther(cells, line, fault);
      return;
    }
    this.run = { line: 0, count: 0, cells: 0 };
    if (this.gap !== 'none' && this.isHeader(cells)) {
      this.secondLine = line;
      return;
    }
    this.gap = 'none';
    this.lastLine = this.endLine;
  }

  private seeOther(cells: readonly string[], line: number, fault: string | undefined): void {
    if (fault !== undefined || cells.length < 2 || cells.length !== this.run.cells) {
      this.run = { line, count: 1, cells: fault === undefined ? cells.length : 0 };
      // A wider line is not a header: to inspect 250,000 cells took 0.5 s of the event loop.
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
    if (repeatsHeader(names, header, typed)) {
      return this.gap === 'title';
    }
    const filled = names.filter((cell) => cell.trim() !== '');
    if (filled.length * 2 <= names.length || !filled.every(isText)) return false;
    // One word among the values may be a faulty record; a line of words is a header.
    const differ = names.filter((cell, at) => typed[at] === true && cell.trim() !== '').length;
    return differ > 0 && differ >= Math.min(2, typed.filter(Boolean).length);
  }

  notes(): readonly string[] {
    if (this.other === undefined) return [];
    const { cells, line } = this.other;
    const what = `another table of ${cells} columns begins in line ${line}`;
    return [`warning: ${what}: to load it, pass skipLines=${line - 1} (--skip-lines ${line - 1})`];
  }
}
