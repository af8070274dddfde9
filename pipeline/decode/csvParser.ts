// csv-parse, as CSV from strangers is read here: rows of any width, quotes in the middle of a cell.
import { type Options, parse, type Parser } from 'csv-parse';

export function csvParser(delimiter: string, options: Options): Parser {
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    ...options,
  });
  expectAnyWidth(parser);
  return parser;
}

/**
 * csv-parse 7.0 makes an error, with its stack, for each record of another width than the first, and then
 * drops it, as asked: 300,000 records with a comma at their end took 10 s instead of 1. The width that
 * it expects is that of the record at hand.
 */
function expectAnyWidth(parser: Parser): void {
  const state: unknown = Reflect.get(parser, 'state');
  if (typeof state !== 'object' || state === null) return;
  Object.defineProperty(state, 'expectedRecordLength', {
    get: () => {
      const record: unknown = Reflect.get(state, 'record');
      return Array.isArray(record) ? record.length : undefined;
    },
    set: () => undefined,
  });
}
