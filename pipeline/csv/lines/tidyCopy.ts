// Rewrites a CSV that DuckDB would misread. Each line of the file becomes a record of the copy, a rejected
// line, or a line that a note reports.
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { toDiskFullFailure } from '../../../store/base/failure.ts';
import type { Reject } from '../../../store/work/jobs.ts';
import { REJECTS_MAX } from '../../../store/work/jobs.ts';
import type { LineSteps, UnreadLines } from '../../bytes/unreadLines.ts';
import { COMMENTED, LineList } from './lineList.ts';
import { repeatsHeader } from './headerRows.ts';
import { type SecondTable, TableEnds } from './tableEnds.ts';
import type { CsvRecord, Dialect } from './records.ts';
import { readRecords } from './recordStream.ts';

/** The delimiter of the copy, whose cells are quoted by RFC 4180. */
export const TIDY_DELIMITER = ',';
/** Characters per write. */
const PIECE_CHARACTERS = 64 * 1024;
/** Maximum line-number steps; line numbers after the last step are not exact. */
const STEPS_MAX = 1_000_000;

/** A file, and the properties that identify its records. */
interface Untidy {
  readonly path: string;
  readonly dialect: Dialect;
  readonly comment: string | undefined;
  /** The first line below the header: its byte and its number. */
  readonly start: number;
  readonly line: number;
  /** Cells of a record. */
  readonly width: number;
  /** Cells of a record with an extra empty one at its end; undefined: no record has it. */
  readonly trailing: number | undefined;
  /** The header, whose repetitions are skipped; undefined if there is none. */
  readonly header: readonly string[] | undefined;
  /** True for columns whose values are not texts. */
  readonly typed: readonly boolean[];
}

/** The results of the rewrite. */
export interface TidyFile {
  readonly unread: UnreadLines | undefined;
  readonly lineSteps: LineSteps;
  readonly notes: readonly string[];
  /** The beginning of another table; the copy is then unused. */
  readonly second: SecondTable | undefined;
}

/** Writes the copy. */
export async function tidyCopy(file: Untidy, to: string): Promise<TidyFile> {
  const tidying = new Tidying(file);
  try {
    const text = Readable.from(tidying.text(), { objectMode: true });
    await pipeline(text, createWriteStream(to, { mode: 0o600 }));
  } catch (error) {
    throw toDiskFullFailure(error);
  }
  return tidying.outcome();
}

class Tidying {
  private readonly file: Untidy;
  private readonly rejects: Reject[] = [];
  private rejected = 0;
  private readonly steps: { from: number; more: number }[] = [];
  private written = 0;
  private readonly comments = new LineList();
  private readonly headers = new LineList();
  private readonly blanks = new LineList();
  private readonly ends: TableEnds;
  private trailing = 0;

  constructor(file: Untidy) {
    this.file = file;
    this.ends = new TableEnds(file);
  }

  async *text(): AsyncGenerator<string> {
    let text = '';
    for await (const records of readRecords(this.file)) {
      for (const record of records) text += this.toLine(record);
      if (text.length < PIECE_CHARACTERS) continue;
      yield text;
      text = '';
    }
    yield text;
  }

  /** The line of the copy for a record; empty if it is left out. */
  private toLine(record: CsvRecord): string {
    const { cells, comment, fault, line } = record;
    const { trailing, width } = this.file;
    this.ends.add(record);
    if (this.ends.second !== undefined) return '';
    const ends = cells.length === trailing && cells.length > width && cells.at(-1) === '';
    const own = ends ? cells.slice(0, -1) : cells;
    if (comment !== undefined) {
      this.comments.add(line);
      return '';
    }
    if (cells.length === 0 && fault === undefined) {
      this.blanks.add(line);
      return '';
    }
    if (fault !== undefined) return this.reject(record, fault);
    if (own.length !== width) {
      return this.reject(record, wrongWidth(width, own.length));
    }
    if (repeatsHeader(own, this.file.header, this.file.typed)) {
      this.headers.add(line);
      return '';
    }
    if (ends) this.trailing += 1;
    this.written += 1;
    this.number(record);
    return `${own.map((cell) => quoteCell(cell, width)).join(TIDY_DELIMITER)}\n`;
  }

  private number({ line }: CsvRecord): void {
    const more = line - this.written;
    if (more === (this.steps.at(-1)?.more ?? 0) || this.steps.length >= STEPS_MAX) return;
    this.steps.push({ from: this.written, more });
  }

  private reject({ line, lines }: CsvRecord, why: string): string {
    this.rejected += 1;
    if (this.rejects.length < REJECTS_MAX) {
      const range = lines > 1 ? ` (lines ${line} to ${line + lines - 1})` : '';
      this.rejects.push({ line, error: `validation failed: ${why}${range}` });
    }
    return '';
  }

  outcome(): TidyFile {
    const { file, rejected, rejects, steps, trailing } = this;
    const ends = `the last cell of ${trailing} records is empty and has no name: it is left out`;
    const notes = [
      ...this.comments.note(...COMMENTED),
      ...this.headers.note(...REPEATED),
      ...(file.width === 1 ? this.blanks.note(...BLANK) : []),
      ...(trailing > 0 && file.header?.length === file.width ? [ends] : []),
      ...this.ends.notes(),
    ];
    return {
      unread: rejected === 0 ? undefined : { count: rejected, rejects },
      lineSteps: steps,
      notes,
      second: this.ends.second,
    };
  }
}

const REPEATED = [
  'repeats the header: it is no record',
  'repeat the header: they are no records',
] as const;
const BLANK = ['is blank: it is no record', 'are blank: they are no records'] as const;

/** Words the reason like read_csv, which rejects such lines of other files. */
const wrongWidth = (width: number, cells: number): string =>
  `Expected Number of Columns: ${width} Found: ${cells}`;

const QUOTED = /[",\r\n]|^\s|\s$/;

function quoteCell(cell: string, width: number): string {
  if (cell === '') return width === 1 ? '""' : '';
  return QUOTED.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
