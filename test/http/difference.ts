// The difference of two texts: whole lines, and for long lines the part that differs.

const LINES_SHOWN_MAX = 40;
const COLUMNS_SHOWN_MAX = 160;
const COLUMNS_BEFORE = 60;

/** Lines with `-` were expected, lines with `+` were received; equal texts return ''. */
export function difference(expected: string, actual: string): string {
  const was = expected.split('\n');
  const is = actual.split('\n');
  const head = commonLength(was, is);
  const tail = commonLength(was.slice(head).reverse(), is.slice(head).reverse());
  const removedLines = was.slice(head, was.length - tail);
  const came = is.slice(head, is.length - tail);
  const shownLines = [
    ...was.slice(Math.max(0, head - 2), head).map((line) => `  ${around(line, 0)}`),
    ...removedLines.map(
      (line, index) => `- ${around(line, firstDifference(line, came[index] ?? ''))}`,
    ),
    ...came.map(
      (line, index) => `+ ${around(line, firstDifference(line, removedLines[index] ?? ''))}`,
    ),
  ];
  if (removedLines.length + came.length === 0) return '';
  return shownLines.length <= LINES_SHOWN_MAX
    ? shownLines.join('\n')
    : `${shownLines.slice(0, LINES_SHOWN_MAX).join('\n')}\n  … ${shownLines.length - LINES_SHOWN_MAX} more`;
}

function commonLength(a: readonly string[], b: readonly string[]): number {
  const differs = a.findIndex((line, index) => line !== b[index]);
  return differs < 0 ? a.length : differs;
}

function firstDifference(a: string, b: string): number {
  return commonLength([...a], [...b]);
}

function around(line: string, column: number): string {
  if (line.length <= COLUMNS_SHOWN_MAX) return line;
  const start = Math.max(0, Math.min(column - COLUMNS_BEFORE, line.length - COLUMNS_SHOWN_MAX));
  const end = start + COLUMNS_SHOWN_MAX;
  const cut = `${start > 0 ? '…' : ''}${line.slice(start, end)}${end < line.length ? '…' : ''}`;
  return start > 0 ? `(column ${start + 1}) ${cut}` : cut;
}
