// The company of a symbol, and what it paid and split.
import { h, type JSX } from 'preact';
import { pathOf } from '../../asking/ask.ts';
import { useAsk } from '../../asking/useAsk.ts';
import { cell, number } from '../../showing/formats.ts';
import { Card, Empty, Facts, shown } from '../../showing/parts.ts';
import type { Row } from '../../showing/sheet.ts';
import { Table } from '../../showing/table.ts';

interface SymbolProps {
  readonly symbol: string;
}

const FACTS = [
  ['Sector', 'sector'],
  ['Industry', 'industry'],
  ['Exchange', 'exchange'],
  ['Employees', 'employees'],
  ['Country', 'country'],
  ['City', 'city'],
  ['Chief executive', 'CEO'],
  ['Website', 'website'],
] as const;

export function Company({ symbol }: SymbolProps): JSX.Element {
  const asked = useAsk<Row>(pathOf(['stock', symbol, 'company']));
  return h(
    Card,
    { title: 'Company' },
    shown(asked, 'the company', (company) =>
      Object.keys(company).length === 0
        ? h(Empty, { title: 'Nothing is known of it' }, 'Load records into COMPANY of CORE.')
        : h(
            'div',
            { class: 'stack' },
            h('p', { style: { maxWidth: '78ch' } }, cell(company['description']) ?? ''),
            h(Facts, {
              of: FACTS.filter(([, name]) => company[name] != null).map(
                ([title, name]) => [title, factOf(company[name])] as const,
              ),
            }),
          ),
    ),
  );
}

const factOf = (value: unknown): string =>
  typeof value === 'number' ? number(value) : (cell(value) ?? '');

const SHOWN = 20;

export function Actions({ symbol }: SymbolProps): JSX.Element {
  return h(
    'div',
    { class: 'halves' },
    h(Happened, {
      symbol,
      title: 'Dividends',
      type: 'dividends',
      columns: ['exDate', 'amount', 'currency', 'paymentDate', 'flag'],
    }),
    h(Happened, {
      symbol,
      title: 'Splits',
      type: 'splits',
      columns: ['exDate', 'fromFactor', 'toFactor', 'description'],
    }),
  );
}

interface HappenedProps extends SymbolProps {
  readonly title: string;
  readonly type: string;
  readonly columns: readonly string[];
}

function Happened({ columns, symbol, title, type }: HappenedProps): JSX.Element {
  const asked = useAsk<readonly Row[]>(pathOf(['stock', symbol, type, '5y']));
  return h(
    Card,
    { title: `${title}, 5 years`, flush: true },
    shown(asked, title.toLowerCase(), (rows) =>
      rows.length === 0
        ? h(Empty, { title: 'None' })
        : h(Table<Row>, {
            label: title,
            rows: rows.slice(0, SHOWN),
            columns: columns.map((name, index) => ({
              title: name,
              isHead: index === 0,
              show: (row: Row) => cell(row[name]) ?? '',
            })),
          }),
    ),
  );
}
