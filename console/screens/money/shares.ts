// Usage per day as bars, and shares by dataset or token.
import { h, type JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { number, percent, plural } from '../../components/formats.ts';
import { Bars } from '../../components/bars.ts';
import { Card, Empty } from '../../components/parts.ts';
import { Table } from '../../components/table.ts';

const dayText = (day: string): string => `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6, 8)}`;

export function Days({ days }: { readonly days: Readonly<Record<string, number>> }): JSX.Element {
  const rows = useMemo(
    () => Object.entries(days).sort(([one], [other]) => one.localeCompare(other)),
    [days],
  );
  const most = rows.reduce((least, row) => (row[1] > least[1] ? row : least), rows[0] ?? ['', 0]);
  const total = rows.reduce((sum, [, count]) => sum + count, 0);
  const label =
    `${plural(total, 'message')} on ${plural(rows.length, 'day')}; most on ` +
    `${dayText(most[0])}: ${number(most[1])}`;
  return h(
    Card,
    { title: 'By day' },
    h(
      'div',
      { class: 'stack' },
      rows.length < 2 ? null : h(Bars, { label, counts: rows.map(([, count]) => count) }),
      h('p', { class: 'soft' }, label),
    ),
  );
}

interface SharesProps {
  readonly title: string;
  readonly of: Readonly<Record<string, number>>;
}

const SHARES_MAX = 12;

export function Shares({ of, title }: SharesProps): JSX.Element {
  const rows = Object.entries(of).sort(([, one], [, other]) => other - one);
  const total = rows.reduce((sum, [, count]) => sum + count, 0);
  const rest = rows.slice(SHARES_MAX).reduce((sum, [, count]) => sum + count, 0);
  const shares = [
    ...rows.slice(0, SHARES_MAX),
    ...(rest === 0 ? [] : [[`${rows.length - SHARES_MAX} more`, rest] as const]),
  ];
  return h(
    Card,
    { title, flush: true },
    rows.length === 0
      ? h(Empty, { title: 'Nothing yet' })
      : h(Table<readonly [string, number]>, {
          label: title,
          rows: shares,
          columns: [
            { title: 'Name', isHead: true, show: ([name]) => name },
            { title: 'Messages', isNumber: true, show: ([, count]) => number(count) },
            {
              title: 'Share',
              isNumber: true,
              show: ([, count]) => percent(count / Math.max(1, total)),
            },
          ],
        }),
  );
}
