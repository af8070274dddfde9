// Reads the records of a CSV file piece by piece. A piece is parsed only while the longest possible record
// that may follow is in memory as well.
import { createReadStream } from 'node:fs';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { type CsvRecord, type Dialect, RECORD_CHARACTERS_MAX, RecordReader } from './records.ts';

/** Bytes per read. */
const PIECE_BYTES = 1024 ** 2;
/** Characters in memory before records are parsed: those of a record, and a piece. */
const WINDOW_CHARACTERS = 4 * RECORD_CHARACTERS_MAX;
/** Characters and records that are parsed per turn of the event loop. */
const TURN_CHARACTERS = 256 * 1024;
const TURN_RECORDS = 2_000;

interface RecordFile {
  readonly path: string;
  readonly dialect: Dialect;
  readonly comment: string | undefined;
  /** Cells of a record. */
  readonly width: number;
  /** The byte and the line where the first record begins. */
  readonly start: number;
  readonly line: number;
}

/** Yields records in groups, one for each turn of the event loop. */
export async function* readRecords(file: RecordFile): AsyncGenerator<readonly CsvRecord[]> {
  const { comment, dialect, path, start, width } = file;
  const decoder = new TextDecoder('utf-8', { ignoreBOM: start > 0 });
  let rest = '';
  let { line } = file;
  const read = function* (text: string, isLast: boolean): Generator<readonly CsvRecord[]> {
    const reader = new RecordReader(text, dialect, line, comment);
    const end = isLast ? text.length : text.length - RECORD_CHARACTERS_MAX;
    while (reader.position < end) {
      const turn = Math.min(end, reader.position + TURN_CHARACTERS);
      const records: CsvRecord[] = [];
      while (reader.position < turn && records.length < TURN_RECORDS) {
        const record = reader.next(width);
        if (record !== undefined) records.push(record);
      }
      yield records;
    }
    rest = text.slice(reader.position);
    line = reader.nextLine;
  };
  for await (const piece of createReadStream(path, { start, highWaterMark: PIECE_BYTES })) {
    rest += decoder.decode(piece as Buffer, { stream: true });
    if (rest.length < WINDOW_CHARACTERS) continue;
    for (const records of read(rest, false)) {
      yield records;
      await othersTurn();
    }
  }
  for (const records of read(rest + decoder.decode(), true)) {
    yield records;
    await othersTurn();
  }
}
