// A plain table of at most some hundred rows; longer ones use a sheet.
import { type ComponentChildren, h, type JSX } from 'preact';

interface Column<T> {
  readonly title: string;
  readonly show: (row: T) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Row header. */
  readonly isHead?: boolean;
  readonly class?: string;
}

interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
}

/** Maximum number of rows; a screen that may have more shows a note. */
export const TABLE_ROWS_MAX = 500;

const columnClass = <T>({ class: name = '', isNumber = false }: Column<T>): string =>
  `${isNumber ? 'number ' : ''}${name}`;

export function Table<T>({ columns, label, rows }: TableProps<T>): JSX.Element {
  return h(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': label, tabIndex: 0 },
    h(
      'table',
      null,
      h('caption', { class: 'hidden' }, label),
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          columns.map((column) =>
            h('th', { key: column.title, scope: 'col', class: columnClass(column) }, column.title),
          ),
        ),
      ),
      h(
        'tbody',
        null,
        rows
          .slice(0, TABLE_ROWS_MAX)
          .map((row, index) => h('tr', { key: index }, rowCells(columns, row))),
      ),
    ),
  );
}

const rowCells = <T>(columns: readonly Column<T>[], row: T): readonly JSX.Element[] =>
  columns.map((column) =>
    column.isHead === true
      ? h('th', { key: column.title, scope: 'row', class: columnClass(column) }, column.show(row))
      : h('td', { key: column.title, class: columnClass(column) }, column.show(row)),
  );
