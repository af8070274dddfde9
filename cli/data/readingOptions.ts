// The options that say how a file is to be read, of every command that loads one.
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  DELIMITERS,
  ENCODINGS,
  HEADER_LINES_MAX,
  type Reading,
  SKIP_LINES_MAX,
} from '../../pipeline/bytes/reading.ts';

/** As commander gives them: `--no-header` is `header: false`, and true is its default. */
export interface ReadingOptions {
  readonly as?: 'csv' | 'json';
  readonly header: boolean;
  readonly headerLines?: number;
  readonly skipLines?: number;
  readonly skipLast?: number;
  readonly delimiter?: Reading['delimiter'];
  readonly encoding?: Reading['encoding'];
}

const wholeTo =
  (most: number) =>
  (text: string): number => {
    if (/^\d{1,4}$/.test(text) && Number(text) <= most) return Number(text);
    throw new InvalidArgumentError(`it must be a whole number, at most ${most}`);
  };

export const readingOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--as <format>', 'the file is that, whatever it looks like').choices([
        'csv',
        'json',
      ]),
    )
    .option('--no-header', 'the first line is a record; columns are column1, column2')
    .option(
      '--header-lines <n>',
      'lines of the header; the first has the names',
      wholeTo(HEADER_LINES_MAX),
    )
    .option('--skip-lines <n>', 'lines above the header', wholeTo(SKIP_LINES_MAX))
    .option('--skip-last <n>', 'lines at the end that are no records', wholeTo(SKIP_LINES_MAX))
    .addOption(
      new Option('--delimiter <name>', 'what stands between cells').choices(
        Object.keys(DELIMITERS),
      ),
    )
    .addOption(new Option('--encoding <name>', 'of CSV and JSON').choices([...ENCODINGS]));

/** Undefined where nothing is said. */
export function readingOf(options: ReadingOptions): Reading | undefined {
  const { as, delimiter, encoding, headerLines, skipLast, skipLines } = options;
  const header = options.header ? headerLines : false;
  const told = { as, header, skipLines, skipLast, delimiter, encoding };
  const given = Object.entries(told).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
