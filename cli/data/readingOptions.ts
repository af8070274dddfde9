// The options that specify how a file is read, of every command that loads one.
import { DUPLICATES } from '../../pipeline/conform/duplicates.ts';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  DELIMITERS,
  BINARIES,
  ENCODINGS,
  ESCAPES,
  HEADER_LINES_MAX,
  QUOTES,
  type Reading,
  SKIP_LINES_MAX,
} from '../../pipeline/bytes/reading.ts';
import { VENDOR_IDS } from '../../market/files/vendors.ts';

/** Options as Commander parses them: `--no-header` is `header: false`, and true is its default. */
export interface ReadingOptions {
  readonly as?: 'csv' | 'json' | undefined;
  readonly header: boolean;
  readonly headerLines?: number;
  readonly skipLines?: number;
  readonly skipLast?: number;
  readonly delimiter?: Reading['delimiter'];
  readonly quote?: Reading['quote'];
  readonly escape?: Reading['escape'];
  readonly encoding?: Reading['encoding'];
  readonly binary?: Reading['binary'];
  readonly dateFormat?: string;
  /** Zone of times in the file; not the `--time-zone` of a schedule. */
  readonly fileTimeZone?: string;
  readonly nulls?: readonly string[];
  readonly map: NonNullable<Reading['columns']>;
  readonly set: NonNullable<Reading['constants']>;
  readonly guess?: true;
  readonly vendor?: string;
  readonly confirmAdjustment?: true;
  readonly wide?: Reading['wide'];
  readonly facts?: true;
}

const wholeTo =
  (most: number) =>
  (text: string): number => {
    if (/^\d{1,8}$/.test(text) && Number(text) <= most) return Number(text);
    throw new InvalidArgumentError(`it must be a whole number, at most ${most}`);
  };

/** Parses `Adj Close=fClose` at the last equals sign, since a column name may contain one. */
function parseColumn(text: string, before: ReadingOptions['map']): ReadingOptions['map'] {
  const [, column = '', property = ''] = /^([^]+)=([^=]*)$/.exec(text) ?? [];
  if (column === '') throw new InvalidArgumentError('write column=property, or column= for none');
  return { ...before, [column]: property === '' ? null : property };
}

const TRUTHS: Readonly<Record<string, boolean>> = { true: true, false: false };

function parseConstant(text: string, before: ReadingOptions['set']): ReadingOptions['set'] {
  const [, property = '', value = ''] = /^([^=]+)=([^]*)$/.exec(text) ?? [];
  if (property === '') throw new InvalidArgumentError('write property=value');
  return { ...before, [property]: TRUTHS[value] ?? value };
}

function parseWide(text: string): Reading['wide'] {
  const [, names, values] = /^([^,]+),([^,]+)$/.exec(text) ?? [];
  if (names !== undefined && values !== undefined) return { names, values };
  throw new InvalidArgumentError('write two properties, such as symbol,close');
}

const parseNulls = (text: string): readonly string[] => text.split(',').filter((one) => one !== '');

/** Options for the columns of a file, and for lines around its records. */
export const shapeOptions = (command: Command): Command => linesOptions(columnOptions(command));

const columnOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        '--vendor <name>',
        'vendor of the file, for an input of CORE: determines its columns, symbols and prices',
      ).choices([...VENDOR_IDS]),
    )
    .option(
      '--confirm-adjustment',
      'load prices although known splits contradict their declared adjustment',
    )
    .addOption(
      new Option(
        '--map <column=property>',
        'property for a column of the file; column= ignores the column; can be repeated',
      )
        .argParser(parseColumn)
        .default({}, 'none'),
    )
    .addOption(
      new Option(
        '--set <property=value>',
        'value of a property that the file does not have, for each record; can be repeated',
      )
        .argParser(parseConstant)
        .default({}, 'none'),
    );

export const readingOptions = (command: Command): Command =>
  shapeOptions(command)
    .addOption(
      new Option(
        '--wide <names,values>',
        'the file has a column for each symbol: properties for its name and for its cells',
      ).argParser(parseWide),
    )
    .option(
      '--guess',
      'map other columns by the names that vendors usually use, for an input of CORE',
    )
    .addOption(
      new Option('--as <format>', 'format of the file, instead of detecting it').choices([
        'csv',
        'json',
      ]),
    );

const linesOptions = (command: Command): Command =>
  command
    .option(
      '--facts',
      'records are facts that a company reported to the SEC, for statements in CORE such as INCOME',
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
    .addOption(
      new Option('--quote <name>', 'quotes around cells; double by default').choices(
        Object.keys(QUOTES),
      ),
    )
    .addOption(
      new Option(
        '--escape <name>',
        'how a quote inside quotes is written: twice, or with a backslash',
      ).choices([...ESCAPES]),
    )
    .addOption(new Option('--encoding <name>', 'encoding of CSV or JSON').choices([...ENCODINGS]))
    .addOption(
      new Option('--binary <how>', 'conversion of columns of bytes').choices([...BINARIES]),
    )
    .option(
      '--date-format <format>',
      'format of dates and times, in the letters of strptime: "%Y%m%d %H%M%S%g"',
    )
    .option(
      '--file-time-zone <zone>',
      'zone of times without an offset: America/New_York, -05:00, EST5; UTC by default',
    )
    .option(
      '--nulls <list>',
      'texts that mean no value in every column, such as NA,-; --nulls= means that none does',
      parseNulls,
    );

/** Collects the reading options; undefined if none is set. */
export function buildReading(options: ReadingOptions): Reading | undefined {
  const { as, binary, confirmAdjustment, dateFormat, delimiter, encoding, escape } = options;
  const { facts, fileTimeZone: timeZone, guess, headerLines, nulls, quote, vendor } = options;
  const { map, set, skipLast, skipLines, wide } = options;
  const header = options.header ? headerLines : false;
  const columns = Object.keys(map).length === 0 ? undefined : map;
  const constants = Object.keys(set).length === 0 ? undefined : set;
  const reading = {
    as,
    header,
    skipLines,
    skipLast,
    delimiter,
    quote,
    escape,
    encoding,
    binary,
    dateFormat,
    timeZone,
    nulls,
    columns,
    constants,
    guess,
    vendor,
    confirmAdjustment,
    wide,
    facts,
  };
  const defined = Object.entries(reading).filter(([, value]) => value !== undefined);
  return defined.length === 0 ? undefined : Object.fromEntries(defined);
}

/** Options that another load of the same file needs too. */
const REPEATED = [
  'symbol',
  'vendor',
  'headerLines',
  'skipLines',
  'skipLast',
  'delimiter',
  'quote',
  'escape',
  'encoding',
  'binary',
  'dateFormat',
  'fileTimeZone',
  'dateOrder',
  'nulls',
] as const;

/** Prints the options that read a file the same way, as words of a command line. */
export function toWords(
  options: {
    readonly [name in (typeof REPEATED)[number]]?: unknown;
  } & Pick<ReadingOptions, 'header' | 'set'>,
): readonly string[] {
  const words = REPEATED.flatMap((name) => {
    const value = options[name];
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return value === undefined ? [] : [`--${flag}`, inQuery(name, value)];
  });
  const constants = Object.entries(options.set).flatMap(([name, value]) => [
    '--set',
    `${name}=${value}`,
  ]);
  return [...(options.header ? [] : ['--no-header']), ...words, ...constants];
}

export const duplicatesOption = (): Option =>
  new Option(
    '--duplicates <how>',
    'records that repeat a value of the declared index replace stored ones, unless chosen otherwise',
  ).choices([...DUPLICATES, 'ignore']);

/** Returns the parameter or body member; `ignore` is the original's name of keep-first. */
export const duplicatesQuery = (chosen: string | undefined): Readonly<Record<string, string>> =>
  chosen === undefined ? {} : { duplicates: chosen === 'ignore' ? 'keep-first' : chosen };

export const dateOrderOption = (): Option =>
  new Option('--date-order <order>', 'how dates like 01/02/2024 are read').choices(['MDY', 'DMY']);

/** Formats a member of a reading, or a word, as the parameter of an upload. */
export const inQuery = (name: string, value: unknown): string => {
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return value.join(',');
  return name === 'wide' ? Object.values(value).join(',') : JSON.stringify(value);
};
