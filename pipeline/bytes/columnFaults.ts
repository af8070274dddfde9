// Sentences about columns of files that have types of their own, Arrow and Parquet.

export const BINARY_HINT =
  'pass binary=text (--binary text) for UTF-8, or binary=hex (--binary hex)';

export const unstorableSentence = (column: string, type: string): string =>
  `column ${column} has type ${type}, which records can not hold`;

/** @param row from 1 */
export const notTextSentence = (column: string, row: number): string =>
  `column ${column}: the bytes of row ${row} are not UTF-8; pass binary=hex (--binary hex)`;
