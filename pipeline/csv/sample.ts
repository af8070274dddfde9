// Parses the first records of a CSV, and detects the delimiter that splits them.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { PROPERTIES_MAX } from '../../store/lake/versions/columns.ts';
import { type CsvRecord, type Dialect, RecordReader } from './lines/records.ts';
import { bestSplit, isAligned, type Rows } from './shape.ts';

const GUESSED = [',', '\t', '|', ';'] as const;
/** Rows and characters of the head that determine the delimiter. */
const DECIDING_ROWS = 100;
const DECIDING_CHARACTERS = 64 * 1024;
/** Cells of a record that are inspected: one more than a header with an empty last cell has. */
const CELLS_MAX = PROPERTIES_MAX + 2;
/** Records that are parsed per turn of the event loop. */
const TURN_RECORDS = 1_000;
/** Delimiter of a file with one column whose texts contain all usual delimiters. */
const ABSENT_DELIMITER = '\u001F';

interface Sampling {
  readonly dialect: Dialect;
  /** The line where the text begins. */
  readonly line: number;
  readonly comment?: string | undefined;
  readonly most: number;
  /** The text ends within a record. */
  readonly isCut: boolean;
}

/** Drops cells that no header can name: to inspect each of 230,000 took 0.5 s of the event loop. */
const withoutExcess = (record: CsvRecord): CsvRecord =>
  record.cells.length <= CELLS_MAX
    ? record
    : { ...record, cells: record.cells.slice(0, CELLS_MAX) };

/** The first records of a text, including blank lines. */
export async function sampleRecords(
  text: string,
  { comment, dialect, isCut, line, most }: Sampling,
): Promise<readonly CsvRecord[]> {
  const reader = new RecordReader(text, dialect, line, comment);
  const records: CsvRecord[] = [];
  let width = 0;
  while (records.length < most) {
    const record = reader.next(width);
    if (record === undefined) break;
    if (width === 0) width = record.cells.length;
    records.push(withoutExcess(record));
    if (records.length % TURN_RECORDS === 0) await othersTurn();
  }
  // A quoted cell that is cut off is not a fault.
  const fault = isCut ? records.findIndex((one, at) => one.fault !== undefined && at > 0) : -1;
  return fault >= 0 && records.slice(fault).every(({ fault: own }) => own !== undefined)
    ? records.slice(0, fault)
    : records;
}

/** The delimiter that splits the lines into most columns; a blank if columns are aligned. */
export async function detectDelimiter(
  text: string,
  dialect: Omit<Dialect, 'delimiter'>,
): Promise<string> {
  const deciding = text.slice(0, DECIDING_CHARACTERS);
  const isCut = deciding.length < text.length;
  const rowsBy = async (delimiter: string): Promise<Rows> => {
    const own = { ...dialect, delimiter, spaced: true };
    const sampling = { dialect: own, line: 1, comment: '#', most: DECIDING_ROWS, isCut };
    const records = await sampleRecords(deciding, sampling);
    // A header may be longer than the inspected text: then its beginning is used.
    const ends = isCut && records.length < DECIDING_ROWS && records.length > 1;
    const whole = ends ? records.slice(0, -1) : records;
    return whole.flatMap(({ cells, fault }) =>
      cells.length === 0 || fault !== undefined ? [] : [cells],
    );
  };
  const splits = [];
  for (const delimiter of GUESSED) splits.push({ delimiter, rows: await rowsBy(delimiter) });
  const best = bestSplit(splits);
  if (best !== undefined) return best.delimiter;
  if (isAligned(await rowsBy(' '))) return ' ';
  return GUESSED.find((one) => !text.includes(one)) ?? ABSENT_DELIMITER;
}
