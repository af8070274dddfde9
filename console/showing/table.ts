// Tables of some hundred rows at most; longer ones are sheets.
import { type ComponentChildren, h, type JSX } from 'preact';

interface Column<T> {
  readonly title: string;
  readonly show: (row: T) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Names the row. */
  readonly isHead?: boolean;
  readonly class?: string;
}

interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
}

/** Rows that a table shows; a screen that may have more says so beside it. */
export const ROWS_SHOWN_MAX = 500;

const classOf = <T>({ class: name = '', isNumber = false }: Column<T>): string =>
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
            h('th', { key: column.title, scope: 'col', class: classOf(column) }, column.title),
          ),
        ),
      ),
      h(
        'tbody',
        null,
        rows
          .slice(0, ROWS_SHOWN_MAX)
          .map((row, index) => h('tr', { key: index }, cellsOf(columns, row))),
      ),
    ),
  );
}

const cellsOf = <T>(columns: readonly Column<T>[], row: T): readonly JSX.Element[] =>
  columns.map((column) =>
    column.isHead === true
      ? h('th', { key: column.title, scope: 'row', class: classOf(column) }, column.show(row))
      : h('td', { key: column.title, class: classOf(column) }, column.show(row)),
  );
