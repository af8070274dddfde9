// Quotes a word for a POSIX shell, so that a command that is printed runs as it is printed.

/** Characters that no shell reads in any other way, also at the beginning of a word. */
const PLAIN = /^[A-Za-z0-9_./:@%+-][A-Za-z0-9_./:@%+=,-]*$/;

export const quoteWord = (word: string): string =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
