// Recognizes rows of names below the header: the header again, or the header of another table without a gap
// before it.
import { inferType } from '../../values/infer.ts';
import { isMissing } from '../../values/missing.ts';

type Cells = readonly string[];

/** Whether a word is neither a value of a typed column nor a mark of no value. */
export const isText = (cell: string): boolean => areTexts([cell]) && !isMissing(cell);

function areTexts(cells: Cells): boolean {
  const { format, type } = inferType(cells.map((cell) => cell.trim())).property;
  return type === 'string' && format === undefined;
}

const spell = (cell: string): string => cell.trim().toLowerCase();

/** Whether the cells are the names of the header, in any case and with any blanks around them. */
export const isLikeHeader = (cells: Cells, header: Cells | undefined): boolean =>
  header !== undefined &&
  cells.length >= header.length &&
  header.every((name, at) => name === cells[at] || spell(name) === spell(cells[at] ?? ''));

/**
 * Detects a repeated header. A column of words may contain its own name; names in another case are a record,
 * unless one is no value of its column.
 * @param typed true for columns whose values are not texts
 */
export function repeatsHeader(
  cells: Cells,
  header: Cells | undefined,
  typed: readonly boolean[],
): boolean {
  if (header === undefined || !isLikeHeader(cells, header)) return false;
  const isExact = header.every((name, at) => name === cells[at]);
  if (isExact) return header.length > 1 || typed[0] === true;
  return header.some((_, at) => typed[at] === true && isText(cells[at] ?? ''));
}

interface Row {
  readonly cells: Cells;
  readonly line: number;
}

/** A row of names between typed records. */
export interface HeaderRow extends Row {
  /** Names of the columns that are text because of it. */
  readonly columns: readonly string[];
}

/** Columns that are inspected. */
const COLUMNS_MAX = 50;

/**
 * Finds a row of texts in columns that are otherwise typed: the header of another table. One column is
 * enough only if the row also has a name of the header.
 */
export function findHeaderRow(
  rows: readonly Row[],
  names: readonly string[],
): HeaderRow | undefined {
  const first = rows[0]?.cells ?? [];
  const filled = [...names.keys()].filter((at) => isValue(first[at] ?? '')).slice(0, COLUMNS_MAX);
  const [one] = filled;
  if (one === undefined) return undefined;
  // A row is inspected in one column first: most rows have a value there.
  const others = rows.filter(({ cells }) => isText(cells[one] ?? ''));
  const [row] = others;
  if (row === undefined || !others.every(isNames)) return undefined;
  const isOther = new Set(others);
  const records = rows.filter((record) => !isOther.has(record));
  const typed = filled.filter((at) => !areTexts(records.map(({ cells }) => cells[at] ?? '')));
  const spelled = row.cells.map(spell);
  const sharesName = names.some((name) => spelled.includes(spell(name)));
  if (typed.length === 0 || (typed.length === 1 && !sharesName)) return undefined;
  return { cells: row.cells, line: row.line, columns: typed.map((at) => names[at] ?? '') };
}

const isValue = (cell: string): boolean => cell.trim() !== '' && !isMissing(cell) && !isText(cell);

/** Whether a row has different words in all columns. */
const isNames = ({ cells }: Row): boolean =>
  new Set(cells.map(spell)).size === cells.length && cells.every(isText);
