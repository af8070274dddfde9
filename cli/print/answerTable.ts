// Rows as a table for a terminal: columns as wide as what stands in them, numbers to the right.
import { cutTo, harmless, widthOf } from './terminalText.ts';

export interface TableColumn {
  readonly name: string;
  readonly isNumber: boolean;
}

/** Null where the value is null. */
export type Cell = string | null;

export interface TableLook {
  /** No text is cut. */
  readonly wide: boolean;
  /** Columns of the terminal; undefined where lines may be as long as they are. */
  readonly columns: number | undefined;
  readonly colours: boolean;
}

/** A cell of text that is longer is cut, and further where the terminal is narrow. */
const CELL_MAX = 60;
const CELL_LEAST = 12;
const BETWEEN = ' │ ';

/** The lines of a table: its header, a rule, its rows. */
export function tableLines(
  columns: readonly TableColumn[],
  rows: readonly (readonly Cell[])[],
  look: TableLook,
): readonly string[] {
  const header = columns.map(({ name }) => harmless(name));
  const texts = rows.map((row) =>
    columns.map((_, at) => {
      const value = row[at] ?? null;
      return value === null ? 'NULL' : harmless(value);
    }),
  );
  const most = cellMost(columns, [header, ...texts], look);
  if (most < CELL_LEAST) return downward(columns, header, texts, look.columns ?? CELL_MAX);
  const cut = (text: string, isNumber: boolean): string =>
    isNumber || look.wide ? text : cutTo(text, most);
  const shown = texts.map((row) => row.map((text, at) => cut(text, isNumber(columns, at))));
  const names = header.map((name) => cut(name, false));
  const widths = widthsOf([names, ...shown]);
  const line = (cells: readonly string[], row?: readonly Cell[]): string =>
    ` ${cells.map((text, at) => placed(text, at, row)).join(BETWEEN)}`.trimEnd();
  const placed = (text: string, at: number, row?: readonly Cell[]): string => {
    const space = ' '.repeat(Math.max(0, (widths[at] ?? 0) - widthOf(text)));
    const isNull = row !== undefined && (row[at] ?? null) === null;
    const drawn = isNull && look.colours ? `\u001b[2m${text}\u001b[22m` : text;
    return isNumber(columns, at) ? `${space}${drawn}` : `${drawn}${space}`;
  };
  return [
    line(names),
    widths.map((width) => '─'.repeat(width + 2)).join('┼'),
    ...shown.map((cells, at) => line(cells, rows[at])),
  ];
}

const isNumber = (columns: readonly TableColumn[], at: number): boolean =>
  columns[at]?.isNumber === true;

const widthsOf = (lines: readonly (readonly string[])[]): readonly number[] =>
  (lines[0] ?? []).map((_, at) =>
    lines.reduce((most, line) => Math.max(most, widthOf(line[at] ?? '')), 0),
  );

/** The same for a terminal that is too narrow for a line a row: a line a cell. */
function downward(
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
    const name = cutTo(names[at] ?? '', label);
    const space = ' '.repeat(label - widthOf(name));
    const value = isNumber(columns, at) ? text : cutTo(text, cell);
    return ` ${name}${space}${BETWEEN}${value}`.trimEnd();
  };
  const shown = rows.length === 0 ? [names.map(() => '')] : rows;
  return shown.flatMap((row) => [rule, ...row.map(line)]);
}

/**
 * Columns that a text may take so that the table is no wider than the terminal; less than the least where
 * that can't be.
 */
function cellMost(
  columns: readonly TableColumn[],
  lines: readonly (readonly string[])[],
  { columns: room = Infinity, wide }: TableLook,
): number {
  if (wide) return Infinity;
  const capped = lines.map((line) =>
    line.map((text, at) => (isNumber(columns, at) ? text : cutTo(text, CELL_MAX))),
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
