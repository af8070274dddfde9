// A virtualized table of records: only the rows in view are in the page.
import { h, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { cell } from './formats.ts';

export type Row = Readonly<Record<string, unknown>>;

interface SheetProps {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns?: readonly string[];
  /** Offset of the first row in the whole result. */
  readonly from?: number;
}

const ROW_PIXELS = 28;
/** Rows rendered above and below the view, so that scrolling shows no gap. */
const MARGIN_ROWS = 12;
/** Columns are read from this many rows, because records of one response have the same properties. */
const SAMPLE_ROWS = 100;
const COLUMNS_MAX = 200;

export const listColumns = (rows: readonly Row[]): readonly string[] =>
  [...new Set(rows.slice(0, SAMPLE_ROWS).flatMap((row) => Object.keys(row)))].slice(0, COLUMNS_MAX);

export function Sheet({ columns, from = 0, label, rows }: SheetProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useEffect(() => {
    setHeight(box.current?.clientHeight ?? 600);
    setTop(box.current?.scrollTop ?? 0);
  }, [rows]);
  const names = columns ?? listColumns(rows);
  const first = Math.max(0, Math.floor(top / ROW_PIXELS) - MARGIN_ROWS);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW_PIXELS) + MARGIN_ROWS);
  const numeric = new Set(names.filter((name) => isNumeric(rows, name)));
  return h(
    'div',
    {
      ref: box,
      class: 'sheet',
      role: 'region',
      'aria-label': label,
      tabIndex: 0,
      onScroll: (event: Event) => setTop((event.currentTarget as HTMLElement).scrollTop),
    },
    h(
      'table',
      { 'aria-rowcount': rows.length + 1 },
      h('caption', { class: 'hidden' }, label),
      h('thead', null, headerRow(names, numeric)),
      h(
        'tbody',
        null,
        filler(first, names.length),
        rows.slice(first, last).map((row, index) => {
          const place = first + index;
          return h(
            'tr',
            { key: place, 'aria-rowindex': place + 2 },
            h('th', { scope: 'row', class: 'number soft' }, from + place + 1),
            names.map((name) => valueCell(name, row[name], numeric.has(name))),
          );
        }),
        filler(rows.length - last, names.length),
      ),
    ),
  );
}

const headerRow = (names: readonly string[], numeric: ReadonlySet<string>): JSX.Element =>
  h(
    'tr',
    { 'aria-rowindex': 1 },
    h('th', { scope: 'col', class: 'number' }, '#'),
    names.map((name) =>
      h('th', { key: name, scope: 'col', class: numeric.has(name) ? 'number' : '' }, name),
    ),
  );

function valueCell(name: string, value: unknown, isNumber: boolean): JSX.Element {
  const text = cell(value);
  return h(
    'td',
    {
      key: name,
      class: isNumber ? 'number' : '',
      title: text !== undefined && text.length > 60 ? text : undefined,
    },
    text === undefined ? h('span', { class: 'null' }, 'null') : h('div', null, text),
  );
}

/** Spacer for the rows out of view. */
const filler = (rows: number, columns: number): JSX.Element | null =>
  rows <= 0
    ? null
    : h(
        'tr',
        { class: 'filler', 'aria-hidden': true, style: { height: `${rows * ROW_PIXELS}px` } },
        h('td', { colSpan: columns + 1 }),
      );

const isNumeric = (rows: readonly Row[], name: string): boolean =>
  rows.slice(0, SAMPLE_ROWS).every((row) => {
    const value = row[name];
    return value === null || value === undefined || typeof value === 'number';
  });
