// Result of a query as a sheet or a chart.
import { h, type JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Answer } from '../../api/client.ts';
import { Chart } from '../../components/chart.ts';
import { number, plural } from '../../components/formats.ts';
import { Badge, Card, Choice, Empty } from '../../components/parts.ts';
import { listColumns, type Row, Sheet } from '../../components/sheet.ts';

interface ResultProps {
  readonly answer: Answer<readonly Row[]> & { readonly text: string };
}

/** Maximum number of rows shown. */
const ROWS_MAX = 100_000;

export function Result({ answer }: ResultProps): JSX.Element {
  const { cutAt, messages, value } = answer;
  const [isChart, setChart] = useState(false);
  const rows = useMemo(() => value.slice(0, ROWS_MAX), [value]);
  const cut = cutAt ?? (value.length > ROWS_MAX ? ROWS_MAX : undefined);
  const view = (title: string, isChartView: boolean): JSX.Element =>
    h(
      'button',
      {
        class: 'small',
        'aria-pressed': isChart === isChartView,
        onClick: () => setChart(isChartView),
      },
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
          : h(Badge, { text: `showing the first ${number(cut)}`, tone: 'warn' }),
        h('span', { class: 'soft small' }, plural(messages, 'message')),
        rows.length === 0 ? null : [view('Rows', false), view('Chart', true)],
      ],
    },
    rows.length === 0
      ? h(Empty, { title: 'The query returned no rows' }, 'No row meets its conditions.')
      : isChart
        ? h(ResultChart, { rows })
        : h(Sheet, { label: 'Result', rows }),
  );
}

/** Maximum number of points in the chart. */
const POINTS_MAX = 20_000;
const LINES_MAX = 6;

const parseDate = (value: unknown): number | undefined =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value)
    ? Date.parse(value) / 1_000
    : undefined;

function ResultChart({ rows }: { readonly rows: readonly Row[] }): JSX.Element {
  const names = listColumns(rows);
  const dates = names.filter((name) => rows.every((row) => parseDate(row[name]) !== undefined));
  const numeric = names.filter((name) =>
    rows.every((row) => row[name] === null || typeof row[name] === 'number'),
  );
  const xColumns = [...dates, ...numeric];
  const [x, setX] = useState(xColumns[0] ?? '#');
  const [y, setY] = useState(numeric.find((name) => name !== xColumns[0]) ?? numeric[0] ?? '');
  const [xs, series] = useMemo(() => toPoints(rows, x, y), [rows, x, y]);
  if (numeric.length === 0) {
    return h(Empty, { title: 'Nothing to chart' }, 'No column of the result is numeric.');
  }
  const all = [...numeric.map((name) => [name, name] as const), ['*', 'all numbers'] as const];
  return h(
    'div',
    null,
    h(
      'div',
      { class: 'row form' },
      h(Choice, {
        label: 'X axis',
        value: x,
        options: [...xColumns.map((name) => [name, name] as const), ['#', 'row number'] as const],
        onPick: setX,
      }),
      h(Choice, { label: 'Y axis', value: y, options: all, onPick: setY }),
    ),
    h(
      'div',
      { class: 'body' },
      h(Chart, { label: 'Chart of the result', x: xs, isTime: dates.includes(x), series }),
    ),
  );
}

function toPoints(
  rows: readonly Row[],
  x: string,
  y: string,
): readonly [
  readonly number[],
  readonly { kind: 'line'; name: string; values: (number | null)[] }[],
] {
  const points = rows
    .slice(0, POINTS_MAX)
    .map(
      (row, index) => [x === '#' ? index + 1 : (parseDate(row[x]) ?? Number(row[x])), row] as const,
    )
    .sort(([one], [other]) => one - other);
  const columns = (y === '*' ? listColumns(rows) : [y])
    .filter((name) => name !== x && points.some(([, row]) => typeof row[name] === 'number'))
    .slice(0, LINES_MAX);
  return [
    points.map(([place]) => place),
    columns.map((name) => ({
      kind: 'line',
      name,
      values: points.map(([, row]) => (typeof row[name] === 'number' ? row[name] : null)),
    })),
  ];
}
