// The answer of a query: as a sheet, as a chart, as a file.
import { h, type JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Answer } from '../../asking/ask.ts';
import { Chart } from '../../showing/chart.ts';
import { number, plural } from '../../showing/formats.ts';
import { Badge, Card, Choice, Empty } from '../../showing/parts.ts';
import { columnsOf, type Row, Sheet } from '../../showing/sheet.ts';

interface ResultProps {
  readonly answer: Answer<readonly Row[]> & { readonly text: string };
}

/** Rows of one sheet; further ones are told, not shown. */
const ROWS_MAX = 100_000;

export function Result({ answer }: ResultProps): JSX.Element {
  const { cutAt, messages, value } = answer;
  const [isChart, setChart] = useState(false);
  const rows = useMemo(() => value.slice(0, ROWS_MAX), [value]);
  const cut = cutAt ?? (value.length > ROWS_MAX ? ROWS_MAX : undefined);
  const view = (title: string, wanted: boolean): JSX.Element =>
    h(
      'button',
      { class: 'small', 'aria-pressed': isChart === wanted, onClick: () => setChart(wanted) },
      title,
    );
  return h(
    Card,
    {
      title: `Result: ${plural(value.length, 'row')}`,
      flush: true,
      actions: [
        cut === undefined
          ? null
          : h(Badge, { text: `the first ${number(cut)} are shown`, tone: 'warn' }),
        h('span', { class: 'soft small' }, plural(messages, 'message')),
        rows.length === 0 ? null : [view('Rows', false), view('Chart', true)],
      ],
    },
    rows.length === 0
      ? h(Empty, { title: 'The query answered no rows' }, 'Nothing met its conditions.')
      : isChart
        ? h(ResultChart, { rows })
        : h(Sheet, { label: 'Result', rows }),
  );
}

/** Points that are drawn. */
const POINTS_MAX = 20_000;
const LINES_MAX = 6;

const dated = (value: unknown): number | undefined =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value)
    ? Date.parse(value) / 1_000
    : undefined;

function ResultChart({ rows }: { readonly rows: readonly Row[] }): JSX.Element {
  const names = columnsOf(rows);
  const dates = names.filter((name) => rows.every((row) => dated(row[name]) !== undefined));
  const numeric = names.filter((name) =>
    rows.every((row) => row[name] === null || typeof row[name] === 'number'),
  );
  const across = [...dates, ...numeric];
  const [x, setX] = useState(across[0] ?? '#');
  const [y, setY] = useState(numeric.find((name) => name !== across[0]) ?? numeric[0] ?? '');
  const [xs, series] = useMemo(() => pointsOf(rows, x, y), [rows, x, y]);
  if (numeric.length === 0) {
    return h(
      Empty,
      { title: 'Nothing to draw' },
      'No column of this answer is a number throughout.',
    );
  }
  const all = [...numeric.map((name) => [name, name] as const), ['*', 'all numbers'] as const];
  return h(
    'div',
    null,
    h(
      'div',
      { class: 'row form' },
      h(Choice, {
        label: 'Across',
        value: x,
        options: [...across.map((name) => [name, name] as const), ['#', 'row number'] as const],
        onPick: setX,
      }),
      h(Choice, { label: 'Draw', value: y, options: all, onPick: setY }),
    ),
    h(
      'div',
      { class: 'body' },
      h(Chart, { label: 'Chart of the result', x: xs, isTime: dates.includes(x), series }),
    ),
  );
}

function pointsOf(
  rows: readonly Row[],
  x: string,
  y: string,
): readonly [
  readonly number[],
  readonly { kind: 'line'; name: string; values: (number | null)[] }[],
] {
  const placed = rows
    .slice(0, POINTS_MAX)
    .map((row, index) => [x === '#' ? index + 1 : (dated(row[x]) ?? Number(row[x])), row] as const)
    .sort(([one], [other]) => one - other);
  const drawn = (y === '*' ? columnsOf(rows) : [y])
    .filter((name) => name !== x && placed.some(([, row]) => typeof row[name] === 'number'))
    .slice(0, LINES_MAX);
  return [
    placed.map(([place]) => place),
    drawn.map((name) => ({
      kind: 'line',
      name,
      values: placed.map(([, row]) => (typeof row[name] === 'number' ? row[name] : null)),
    })),
  ];
}
