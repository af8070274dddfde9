// Parses the records of a CSV with strict quotes, so that no cell is shifted without a fault. A record with
// malformed quotes ends with its first line, and the next line is read as a record of its own.

/** The syntax of the cells of a file. */
export interface Dialect {
  /** A blank means one or more blanks. */
  readonly delimiter: string;
  /** Empty if no cell is quoted. */
  readonly quote: string;
  /** The character before a quote inside quotes; the quote itself where it is doubled. */
  readonly escape: string;
  /** Blanks around cells are not part of them. */
  readonly trims: boolean;
  /** Blanks between a delimiter and a quote are not part of the cell. */
  readonly spaced: boolean;
}

export interface CsvRecord {
  readonly cells: readonly string[];
  /** The line of the file that it begins in, from 1. */
  readonly line: number;
  /** The number of lines of the file that it spans. */
  readonly lines: number;
  /** Why it is not a record. */
  readonly fault?: string;
  /** The whole line, if it is a comment. */
  readonly comment?: string;
}

/** Maximum characters from an opening quote to the end of its record: beyond, the quote is a fault. */
export const RECORD_CHARACTERS_MAX = 1024 ** 2;

const ENCLOSED = 'a quote inside a cell encloses a delimiter';
const AFTER_QUOTE = 'text after a closing quote';
const UNCLOSED = 'a quote that is not closed';

/** One record, and the position where the next one begins. */
interface Read {
  readonly cells: readonly string[];
  readonly end: number;
  readonly fault?: string;
}

/**
 * Reads the records of a text one after the other. Search positions are cached: each character is searched
 * once.
 */
export class RecordReader {
  private readonly text: string;
  private readonly dialect: Dialect;
  private readonly comment: string | undefined;
  private at = 0;
  private line: number;
  /** The next line feed, carriage return and quote from the last search position on; -1: none. */
  private feed = -2;
  private back = -2;
  private linesFrom = 0;
  private quoteAt = -2;
  private quoteFrom = 0;

  /** @param line of the file where the text begins */
  constructor(text: string, dialect: Dialect, line: number, comment: string | undefined) {
    this.text = text;
    this.dialect = dialect;
    this.line = line;
    this.comment = comment;
  }

  /** The position where the next record begins. */
  get position(): number {
    return this.at;
  }

  get nextLine(): number {
    return this.line;
  }

  /**
   * The next record; undefined at the end of the text. A blank line is a record without cells.
   * @param width of the records of the file, 0 before the first: it distinguishes comments from records, and
   * resolves malformed quotes
   */
  next(width: number): CsvRecord | undefined {
    const { at, line, text } = this;
    if (at >= text.length) return undefined;
    const comment = this.comment !== undefined && text.startsWith(this.comment, at);
    const read = this.recordAt(at);
    if (comment && width > 0) {
      const end = this.lineEnd(at);
      const next = this.afterBreak(end);
      if (read.fault !== undefined || next < read.end || read.cells.length !== width) {
        this.move(next, 1);
        const raw = text.slice(at, end);
        return { cells: this.split(raw), line, lines: 1, comment: raw };
      }
    }
    const lines = this.linesBetween(at, read.end);
    // Any line is a record of one cell: below a title, that is no sign of a quote left open.
    const isOther = lines > 1 && width > 1 && read.cells.length !== width;
    const isBroken = read.fault !== undefined || (isOther && this.areRecords(at, read.end, width));
    if (isBroken) {
      this.move(this.afterBreak(this.lineEnd(at)), 1);
      return { cells: read.cells, line, lines: 1, fault: read.fault ?? UNCLOSED };
    }
    this.move(read.end, lines);
    return { cells: read.cells, line, lines };
  }

  private move(to: number, lines: number): void {
    this.at = to;
    this.line += lines;
  }

  /** Whether each line after the first of a multi-line record is a record on its own. */
  private areRecords(at: number, end: number, width: number): boolean {
    for (let from = this.afterBreak(this.lineEnd(at)); from < end;) {
      const { cells, end: to, fault } = this.recordAt(from);
      if (fault !== undefined || cells.length !== width || to > end) return false;
      from = to;
    }
    return true;
  }

  private recordAt(at: number): Read {
    const { dialect, text } = this;
    const end = this.lineEnd(at);
    const quoteAt = this.nextQuote(at);
    if (quoteAt < 0 || quoteAt >= end) {
      return { cells: this.split(text.slice(at, end)), end: this.afterBreak(end) };
    }
    return dialect.delimiter === ' ' ? this.alignedAt(at, end) : this.quotedAt(at);
  }

  /** Cells of a line without quotes. */
  private split(line: string): readonly string[] {
    const { delimiter, trims } = this.dialect;
    if (delimiter === ' ') return line.trim() === '' ? [] : line.trim().split(/\s+/);
    if (isBlank(line)) return delimiter === '\t' && line.includes('\t') ? line.split('\t') : [];
    const cells = line.split(delimiter);
    return trims ? cells.map((cell) => cell.trim()) : cells;
  }

  /** A record with a quote in its first line. */
  private quotedAt(at: number): Read {
    const { dialect, text } = this;
    const { delimiter, quote, trims } = dialect;
    const cells: string[] = [];
    let mayEnclose = false;
    for (let from = at; ;) {
      const start = trims || dialect.spaced ? this.afterBlanks(from) : from;
      if (text.startsWith(quote, start)) {
        const cell = this.cellAt(start, at);
        if (cell.fault !== undefined) return { cells, end: cell.end, fault: cell.fault };
        cells.push(cell.value);
        from = this.afterBlanks(cell.end);
        if (text.startsWith(delimiter, from)) {
          from += delimiter.length;
          continue;
        }
        const end = this.lineEnd(from);
        // If the quote opened in an earlier line, the first quote is the malformed one.
        const fault = this.lineEnd(at) < from ? UNCLOSED : AFTER_QUOTE;
        if (from !== end) return { cells, end: from, fault };
        return this.withoutEnclosed({ cells, end: this.afterBreak(end) }, at, mayEnclose);
      }
      const end = this.lineEnd(from);
      const length = text.slice(from, end).indexOf(delimiter);
      const to = length < 0 ? end : from + length;
      const cell = text.slice(from, to);
      mayEnclose ||= cell.includes(quote);
      cells.push(trims ? cell.trim() : cell);
      if (to === end)
        return this.withoutEnclosed({ cells, end: this.afterBreak(end) }, at, mayEnclose);
      from = to + delimiter.length;
    }
  }

  /**
   * Rejects an ambiguous quote: one in the middle of a cell may belong to the text or begin a quoted part,
   * and both must give the same cells.
   */
  private withoutEnclosed(read: Read, at: number, mayEnclose: boolean): Read {
    const { delimiter, quote } = this.dialect;
    if (!mayEnclose) return read;
    const parts = this.text.slice(at, read.end).split(quote);
    if (parts.length % 2 === 0) return read;
    const outside = parts.filter((_, index) => index % 2 === 0).join('');
    return outside.split(delimiter).length === read.cells.length
      ? read
      : { ...read, fault: ENCLOSED };
  }

  /** A quoted cell whose quote is at `start`. */
  private cellAt(start: number, recordAt: number) {
    const { text } = this;
    const { escape, quote } = this.dialect;
    const limit = recordAt + RECORD_CHARACTERS_MAX;
    let isEscaped = false;
    for (let from = start + 1; ;) {
      let close = text.indexOf(quote, from);
      if (escape !== quote && close >= 0) {
        const escaped = text.slice(from, close).indexOf(escape);
        if (escaped >= 0) {
          isEscaped = true;
          from += escaped + 2;
          continue;
        }
      }
      if (close < 0 || close > limit) return { value: '', end: start, fault: UNCLOSED };
      if (escape === quote && text.startsWith(quote, close + 1)) {
        isEscaped = true;
        from = close + 2;
        continue;
      }
      const value = text.slice(start + 1, close);
      close += 1;
      return { value: isEscaped ? this.unescape(value) : value, end: close, fault: undefined };
    }
  }

  private unescape(value: string): string {
    const { escape, quote } = this.dialect;
    if (escape === quote) return value.replaceAll(quote + quote, quote);
    let plain = '';
    for (let from = 0; ;) {
      const at = value.indexOf(escape, from);
      if (at < 0) return plain + value.slice(from);
      const next = value[at + 1] ?? '';
      // Other sequences stay unchanged.
      plain += value.slice(from, at) + (next === quote || next === escape ? next : escape + next);
      from = at + 2;
    }
  }

  /** Parses a line with quotes whose cells are separated by blanks. */
  private alignedAt(at: number, end: number): Read {
    const { text } = this;
    const { quote } = this.dialect;
    const cells: string[] = [];
    for (let from = this.afterBlanks(at); from < end; from = this.afterBlanks(from)) {
      if (text.startsWith(quote, from)) {
        const cell = this.cellAt(from, at);
        if (cell.fault !== undefined || cell.end > end)
          return { cells, end: from, fault: UNCLOSED };
        if (cell.end < end && !' \t'.includes(text[cell.end] ?? '')) {
          return { cells, end: cell.end, fault: AFTER_QUOTE };
        }
        cells.push(cell.value);
        from = cell.end;
        continue;
      }
      let to = from;
      while (to < end && text[to] !== ' ' && text[to] !== '\t') to += 1;
      cells.push(text.slice(from, to));
      from = to;
    }
    return { cells, end: this.afterBreak(end) };
  }

  private afterBlanks(from: number): number {
    const { delimiter } = this.dialect;
    let at = from;
    while (this.text[at] === ' ' || (this.text[at] === '\t' && delimiter !== '\t')) at += 1;
    return at;
  }

  /** The end of the line at `from`: its break, or the end of the text. */
  private lineEnd(from: number): number {
    const { text } = this;
    const isBack = from < this.linesFrom;
    if (isBack || (this.feed !== -1 && this.feed < from)) this.feed = text.indexOf('\n', from);
    if (isBack || (this.back !== -1 && this.back < from)) this.back = text.indexOf('\r', from);
    this.linesFrom = from;
    const feed = this.feed < 0 ? text.length : this.feed;
    const back = this.back < 0 ? text.length : this.back;
    return Math.min(feed, back);
  }

  private nextQuote(from: number): number {
    const { quote } = this.dialect;
    if (quote === '') return -1;
    if (from < this.quoteFrom || (this.quoteAt !== -1 && this.quoteAt < from)) {
      this.quoteAt = this.text.indexOf(quote, from);
    }
    this.quoteFrom = from;
    return this.quoteAt;
  }

  private afterBreak(end: number): number {
    if (end >= this.text.length) return end;
    return this.text[end] === '\r' && this.text[end + 1] === '\n' ? end + 2 : end + 1;
  }

  /** Counts lines of the text between two positions; the last one may have no break. */
  private linesBetween(from: number, to: number): number {
    let lines = 0;
    for (let at = from; at < to; at = this.afterBreak(this.lineEnd(at))) lines += 1;
    return Math.max(1, lines);
  }
}

const isBlank = (line: string): boolean => {
  for (let at = 0; at < line.length; at += 1) {
    const sign = line[at];
    if (sign !== ' ' && sign !== '\t' && sign !== '\v' && sign !== '\f') return false;
  }
  return true;
};
