// Formats rows as a table for a terminal: columns as wide as their cells, numbers right-aligned.
import { truncateTo, escapeControls, widthOf } from './terminalText.ts';

export interface TableColumn {
  readonly name: string;
  readonly isNumber: boolean;
}

/** The text of a cell; null for a null value. */
export type Cell = string | null;

export interface TableLook {
  /** No text is cut. */
  readonly wide: boolean;
  /** Columns of the terminal; undefined if lines may have any length. */
  readonly columns: number | undefined;
  readonly colours: boolean;
}

/** A longer text is cut; more if the terminal is narrow. */
const CELL_MAX = 60;
const CELL_LEAST = 12;
const BETWEEN = ' │ ';

/** Returns the lines of a table: its header, a rule, its rows. */
export function tableLines(
  columns: readonly TableColumn[],
  rows: readonly (readonly Cell[])[],
  look: TableLook,
): readonly string[] {
  const header = columns.map(({ name }) => escapeControls(name));
  const texts = rows.map((row) =>
    columns.map((_, at) => {
      const value = row[at] ?? null;
      return value === null ? 'NULL' : escapeControls(value);
    }),
  );
  const most = cellMost(columns, [header, ...texts], look);
  if (most < CELL_LEAST) return verticalLines(columns, header, texts, look.columns ?? CELL_MAX);
  const cut = (text: string, isNumber: boolean): string =>
    isNumber || look.wide ? text : truncateTo(text, most);
  const visibleRows = texts.map((row) => row.map((text, at) => cut(text, isNumber(columns, at))));
  const names = header.map((name) => cut(name, false));
  const widths = widthsOf([names, ...visibleRows]);
  const line = (cells: readonly string[], row?: readonly Cell[]): string =>
    ` ${cells.map((text, at) => placed(text, at, row)).join(BETWEEN)}`.trimEnd();
  const placed = (text: string, at: number, row?: readonly Cell[]): string => {
    const space = ' '.repeat(Math.max(0, (widths[at] ?? 0) - widthOf(text)));
    const isNull = row !== undefined && (row[at] ?? null) === null;
    const styled = isNull && look.colours ? `\u001b[2m${text}\u001b[22m` : text;
    return isNumber(columns, at) ? `${space}${styled}` : `${styled}${space}`;
  };
  return [
    line(names),
    widths.map((width) => '─'.repeat(width + 2)).join('┼'),
    ...visibleRows.map((cells, at) => line(cells, rows[at])),
  ];
}

const isNumber = (columns: readonly TableColumn[], at: number): boolean =>
  columns[at]?.isNumber === true;

const widthsOf = (lines: readonly (readonly string[])[]): readonly number[] =>
  (lines[0] ?? []).map((_, at) =>
    lines.reduce((most, line) => Math.max(most, widthOf(line[at] ?? '')), 0),
  );

/** Prints one line for each cell, for a terminal that is too narrow for a line for each row. */
function verticalLines(
  columns: readonly TableColumn[],
  names: readonly string[],
  rows: readonly (readonly string[])[],
  room: number,
): readonly string[] {
  const width = Math.max(0, ...names.map(widthOf));
  const label = Math.min(width, Math.floor(room / 2));
  const cell = room - label - 2 - BETWEEN.length;
  const rule = '─'
    .repeat(label + 2)
    .concat('┼', '─'.repeat(cell + 2))
    .slice(0, room);
  const line = (text: string, at: number): string => {
    const name = truncateTo(names[at] ?? '', label);
    const space = ' '.repeat(label - widthOf(name));
    const value = isNumber(columns, at) ? text : truncateTo(text, cell);
    return ` ${name}${space}${BETWEEN}${value}`.trimEnd();
  };
  const visibleRows = rows.length === 0 ? [names.map(() => '')] : rows;
  return visibleRows.flatMap((row) => [rule, ...row.map(line)]);
}

/**
 * Returns the width of a text cell at which the table fits the terminal; less than the minimum if it can't
 * fit.
 */
function cellMost(
  columns: readonly TableColumn[],
  lines: readonly (readonly string[])[],
  { columns: room = Infinity, wide }: TableLook,
): number {
  if (wide) return Infinity;
  const capped = lines.map((line) =>
    line.map((text, at) => (isNumber(columns, at) ? text : truncateTo(text, CELL_MAX))),
  );
  const widths = widthsOf(capped);
  let most = CELL_MAX;
  const total = (): number =>
    widths.reduce(
      (sum, width, at) =>
        sum + BETWEEN.length + (isNumber(columns, at) ? width : Math.min(width, most)),
      0,
    );
  while (most >= CELL_LEAST && total() - 1 > room) most -= 1;
  return most;
}
