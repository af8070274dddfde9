// Where an error is, as the server tells it: `line 2, column 19`.

export interface ErrorPlace {
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

const PLACE = /\bline (\d{1,6}), column (\d{1,6})\b/;

export function placeOf(message: string): ErrorPlace {
  const [, line = '1', column = '1'] = PLACE.exec(message) ?? [];
  return { line: Number(line), column: Number(column) };
}
