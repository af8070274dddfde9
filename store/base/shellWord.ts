// Quotes a word for a POSIX shell, so that a printed command runs unchanged.

/** Characters without a special meaning in any shell, also at the beginning of a word. */
const PLAIN = /^[A-Za-z0-9_./:@%+-][A-Za-z0-9_./:@%+=,-]*$/;

export const quoteWord = (word: string): string =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
