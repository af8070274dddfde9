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
      new Option('--as <format>', 'format of the file, instead of detecting it').choices([
        'csv',
        'json',
      ]),
    )
    .option(
      '--no-header',
      'the file has no header; its columns are named column1, column2 and so on',
    )
    .option(
      '--header-lines <n>',
      'number of header lines; the first one has the names',
      wholeTo(HEADER_LINES_MAX),
    )
    .option('--skip-lines <n>', 'number of lines before the header', wholeTo(SKIP_LINES_MAX))
    .option(
      '--skip-last <n>',
      'number of lines at the end that are not records',
      wholeTo(SKIP_LINES_MAX),
    )
    .addOption(
      new Option('--delimiter <name>', 'delimiter between cells').choices(Object.keys(DELIMITERS)),
    )
    .addOption(new Option('--encoding <name>', 'encoding of CSV or JSON').choices([...ENCODINGS]));

/** Undefined where nothing is said. */
export function readingOf(options: ReadingOptions): Reading | undefined {
  const { as, delimiter, encoding, headerLines, skipLast, skipLines } = options;
  const header = options.header ? headerLines : false;
  const told = { as, header, skipLines, skipLast, delimiter, encoding };
  const given = Object.entries(told).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

export const dateOrderOption = (): Option =>
  new Option('--date-order <order>', 'how dates like 01/02/2024 are read').choices(['MDY', 'DMY']);
