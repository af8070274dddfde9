// What a loader may say of a file where the file itself does not tell, or tells wrongly.

/** Encodings that may be said; `TextDecoder` reads them. */
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

/** How a quote inside quotes is written: twice, or behind a backslash. */
export const ESCAPES = ['double', 'backslash'] as const;

/** Lines that may be skipped above the header, or below the last record: a table may be among them. */
export const SKIP_LINES_MAX = 10_000_000;
/** Lines that a header may have. */
export const HEADER_LINES_MAX = 20;

/** Characters of a format of dates, and of the name of a zone. */
export const FORMAT_CHARACTERS_MAX = 100;
export const ZONE_CHARACTERS_MAX = 60;

/** Properties that may be said to have one value in all records. */
export const CONSTANTS_MAX = 100;

/** Texts that may mean no value, and characters of one. */
export const NULLS_MAX = 50;
export const NULL_CHARACTERS_MAX = 100;

/** What is said of how a file is to be read; what is not said is told by its bytes. */
export interface Reading {
  /** The body is that, whatever it looks like. */
  readonly as?: 'csv' | 'json';
  /**
   * Lines of the header, true is 1 and false 0: of several the first has the names, and the others only
   * where the first does not name a column, or names it like another one.
   */
  readonly header?: boolean | number;
  /** Lines above the header, or above the first record. */
  readonly skipLines?: number;
  /** Lines at the end that are no records; 0: the last line is one, whatever it looks like. */
  readonly skipLast?: number;
  readonly delimiter?: DelimiterName;
  readonly quote?: keyof typeof QUOTES;
  readonly escape?: (typeof ESCAPES)[number];
  readonly encoding?: Encoding;
  /** What columns of bytes become, of a Parquet or Arrow file; refused by name when undefined. */
  readonly binary?: Binary;
  /** How dates and times are written, in the letters of strptime. */
  readonly dateFormat?: string;
  /** The zone of times without an offset: a name of IANA, `-05:00` or `EST5`; UTC where undefined. */
  readonly timeZone?: string;
  /** The exact texts that mean no value, in every column; none where it is empty. */
  readonly nulls?: readonly string[];
  /** Column of the file -> the property that it is; null: it stays out. Others keep their names. */
  readonly columns?: Readonly<Record<string, string | null>>;
  /** Properties that the file does not have, with the value of each record. */
  readonly constants?: Readonly<Record<string, string | number | boolean>>;
  /** Columns that are not said are what their names usually mean: for inputs of the market. */
  readonly guess?: boolean;
  /** Whose file it is, of those that the place of the dataset knows: what columns and prices are. */
  readonly vendor?: string;
  /** Closes that contradict the splits that are stored are loaded as they are declared. */
  readonly confirmAdjustment?: boolean;
  /**
   * The file has a column for each symbol, say. Each cell is a record: what its column is called is
   * property `names` of it, what is in it property `values`.
   */
  readonly wide?: { readonly names: string; readonly values: string };
  /** Records are single values that a company reported, and become those of a statement in CORE. */
  readonly facts?: boolean;
}
