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

/** Delimiters by their names: the characters themselves are awkward in a URL. */
export const DELIMITERS = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  pipe: '|',
  spaces: ' ',
} as const;

type DelimiterName = keyof typeof DELIMITERS;

/** Lines that may be said to stand above the header, or below the last record. */
export const SKIP_LINES_MAX = 1_000;
/** Lines that a header may have. */
export const HEADER_LINES_MAX = 3;

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
   * Lines of the header, true is 1 and false 0: of several the first has the names, and the others are
   * left out.
   */
  readonly header?: boolean | number;
  /** Lines above the header, or above the first record. */
  readonly skipLines?: number;
  /** Lines at the end that are no records; 0: the last line is one, whatever it looks like. */
  readonly skipLast?: number;
  readonly delimiter?: DelimiterName;
  readonly encoding?: Encoding;
  /** The exact texts that mean no value, in every column; none where it is empty. */
  readonly nulls?: readonly string[];
  /** Column of the file -> the property that it is; null: it stays out. Others keep their names. */
  readonly columns?: Readonly<Record<string, string | null>>;
  /** Properties that the file does not have, with the value of each record. */
  readonly constants?: Readonly<Record<string, string | number | boolean>>;
  /** Columns that are not said are what their names usually mean: for inputs of the market. */
  readonly guess?: boolean;
  /**
   * The file has a column for each symbol, say. Each cell is a record: what its column is called is
   * property `names` of it, what is in it property `values`.
   */
  readonly wide?: { readonly names: string; readonly values: string };
  /** Records are single values that a company reported, and become those of a statement in CORE. */
  readonly facts?: boolean;
}
