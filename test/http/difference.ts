// Two texts, side by side where they differ: whole lines, and of long lines the part that differs.

const LINES_SHOWN_MAX = 40;
const COLUMNS_SHOWN_MAX = 160;
const COLUMNS_BEFORE = 60;

/** Lines with `-` were expected, lines with `+` came instead; equal texts give ''. */
export function difference(expected: string, actual: string): string {
  const was = expected.split('\n');
  const is = actual.split('\n');
  const head = commonLength(was, is);
  const tail = commonLength(was.slice(head).reverse(), is.slice(head).reverse());
  const gone = was.slice(head, was.length - tail);
  const came = is.slice(head, is.length - tail);
  const shown = [
    ...was.slice(Math.max(0, head - 2), head).map((line) => `  ${around(line, 0)}`),
    ...gone.map((line, index) => `- ${around(line, firstDifference(line, came[index] ?? ''))}`),
    ...came.map((line, index) => `+ ${around(line, firstDifference(line, gone[index] ?? ''))}`),
  ];
  if (gone.length + came.length === 0) return '';
  return shown.length <= LINES_SHOWN_MAX
    ? shown.join('\n')
    : `${shown.slice(0, LINES_SHOWN_MAX).join('\n')}\n  … ${shown.length - LINES_SHOWN_MAX} more`;
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
