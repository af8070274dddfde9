// Reading options: what a loader may set if the file does not determine it, or determines it wrongly.

/** Encodings that may be set; `TextDecoder` reads them. */
export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'windows-1253',
  'windows-1254',
  'iso-8859-2',
  'iso-8859-15',
  'koi8-r',
  'macintosh',
  'shift_jis',
  'euc-jp',
  'euc-kr',
  'gb18030',
  'big5',
] as const;

export type Encoding = (typeof ENCODINGS)[number];

/** Bytes of Parquet and Arrow: UTF-8 text, or two hexadecimal digits for each. */
export const BINARIES = ['text', 'hex'] as const;

export type Binary = (typeof BINARIES)[number];

/** Delimiters by their names: the characters themselves are awkward in a URL. */
export const DELIMITERS = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  pipe: '|',
  spaces: ' ',
} as const;

type DelimiterName = keyof typeof DELIMITERS;

/** Quotes around cells, by name. */
export const QUOTES = { double: '"', single: "'", none: '' } as const;

/** How a quote inside quotes is written: doubled, or after a backslash. */
export const ESCAPES = ['double', 'backslash'] as const;

/** Lines that may be skipped above the header or below the last record; a table may be among them. */
export const SKIP_LINES_MAX = 10_000_000;
/** Lines that a header may have. */
export const HEADER_LINES_MAX = 20;

/** Characters of a format of dates, and of the name of a zone. */
export const FORMAT_CHARACTERS_MAX = 100;
export const ZONE_CHARACTERS_MAX = 60;

/** Properties that may be set to one value in all records. */
export const CONSTANTS_MAX = 100;

/** Texts that may mean no value, and characters of one. */
export const NULLS_MAX = 50;
export const NULL_CHARACTERS_MAX = 100;

/** How a file is read; an option that is not set is detected from the bytes. */
export interface Reading {
  /** Reads the body as this format, regardless of its content. */
  readonly as?: 'csv' | 'json';
  /**
   * Lines of the header; true is 1 and false 0. Of several, the first has the names; the others are used only
   * where the first does not name a column, or repeats a name.
   */
  readonly header?: boolean | number;
  /** Lines above the header, or above the first record. */
  readonly skipLines?: number;
  /** Lines at the end that are not records; 0: the last line is a record, regardless of its content. */
  readonly skipLast?: number;
  readonly delimiter?: DelimiterName;
  readonly quote?: keyof typeof QUOTES;
  readonly escape?: (typeof ESCAPES)[number];
  readonly encoding?: Encoding;
  /** How columns of bytes of a Parquet or Arrow file are decoded; refused by name when undefined. */
  readonly binary?: Binary;
  /** Format of dates and times, in strptime letters. */
  readonly dateFormat?: string;
  /** Zone of times without an offset: an IANA name, `-05:00` or `EST5`; UTC where undefined. */
  readonly timeZone?: string;
  /** The exact texts that mean no value, in every column; empty: none do. */
  readonly nulls?: readonly string[];
  /** Column of the file -> its property; null: left out. Other columns keep their names. */
  readonly columns?: Readonly<Record<string, string | null>>;
  /** Properties that the file does not have, with their value for all records. */
  readonly constants?: Readonly<Record<string, string | number | boolean>>;
  /** Maps columns that are not set by the usual meaning of their names: for market inputs. */
  readonly guess?: boolean;
  /** The vendor of the file, among those that the dataset's place supports: it decides columns and prices. */
  readonly vendor?: string;
  /** Loads closes as declared even if they contradict the stored splits. */
  readonly confirmAdjustment?: boolean;
  /**
   * The file has a column for each symbol, for example. Each cell becomes a record with the column name as
   * property `names` and the cell as property `values`.
   */
  readonly wide?: { readonly names: string; readonly values: string };
  /** Records are single values that a company reported; they become records of a statement in CORE. */
  readonly facts?: boolean;
}
