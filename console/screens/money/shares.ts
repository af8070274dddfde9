// Usage in parts: a bar for each day, and who or what used how much.
import { h, type JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { number, percent, plural } from '../../showing/formats.ts';
import { Bars } from '../../showing/bars.ts';
import { Card, Empty } from '../../showing/parts.ts';
import { Table } from '../../showing/table.ts';

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

const SHOWN = 12;

export function Shares({ of, title }: SharesProps): JSX.Element {
  const rows = Object.entries(of).sort(([, one], [, other]) => other - one);
  const total = rows.reduce((sum, [, count]) => sum + count, 0);
  const rest = rows.slice(SHOWN).reduce((sum, [, count]) => sum + count, 0);
  const listed = [
    ...rows.slice(0, SHOWN),
    ...(rest === 0 ? [] : [[`${rows.length - SHOWN} more`, rest] as const]),
  ];
  return h(
    Card,
    { title, flush: true },
    rows.length === 0
      ? h(Empty, { title: 'Nothing yet' })
      : h(Table<readonly [string, number]>, {
          label: title,
          rows: listed,
          columns: [
            { title: 'What', isHead: true, show: ([name]) => name },
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
