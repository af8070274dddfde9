// Parses the position of an error from the server's message, for example `line 2, column 19`.

export interface ErrorPlace {
  /** Line and column are 1-based. */
  readonly line: number;
  readonly column: number;
}

const PLACE = /\bline (\d{1,6}), column (\d{1,6})\b/;

export function findErrorPlace(message: string): ErrorPlace {
  const [, line = '1', column = '1'] = PLACE.exec(message) ?? [];
  return { line: Number(line), column: Number(column) };
}
