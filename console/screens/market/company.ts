// Company, dividends and splits of a symbol.
import { h, type JSX } from 'preact';
import { apiPath } from '../../api/client.ts';
import { useApi } from '../../api/useApi.ts';
import { cell, number } from '../../components/formats.ts';
import { Card, Empty, Facts, renderRequest } from '../../components/parts.ts';
import type { Row } from '../../components/sheet.ts';
import { Table } from '../../components/table.ts';

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
  const request = useApi<Row>(apiPath(['stock', symbol, 'company']));
  return h(
    Card,
    { title: 'Company' },
    renderRequest(request, 'the company', (company) =>
      Object.keys(company).length === 0
        ? h(Empty, { title: 'No company data' }, 'Load records into CORE.COMPANY.')
        : h(
            'div',
            { class: 'stack' },
            h('p', { style: { maxWidth: '78ch' } }, cell(company['description']) ?? ''),
            h(Facts, {
              of: FACTS.filter(([, name]) => company[name] != null).map(
                ([title, name]) => [title, factText(company[name])] as const,
              ),
            }),
          ),
    ),
  );
}

const factText = (value: unknown): string =>
  typeof value === 'number' ? number(value) : (cell(value) ?? '');

const ROWS_MAX = 20;

export function Actions({ symbol }: SymbolProps): JSX.Element {
  return h(
    'div',
    { class: 'halves' },
    h(ActionTable, {
      symbol,
      title: 'Dividends',
      type: 'dividends',
      columns: ['exDate', 'amount', 'currency', 'paymentDate', 'flag'],
    }),
    h(ActionTable, {
      symbol,
      title: 'Splits',
      type: 'splits',
      columns: ['exDate', 'fromFactor', 'toFactor', 'description'],
    }),
  );
}

interface ActionTableProps extends SymbolProps {
  readonly title: string;
  readonly type: string;
  readonly columns: readonly string[];
}

function ActionTable({ columns, symbol, title, type }: ActionTableProps): JSX.Element {
  const request = useApi<readonly Row[]>(apiPath(['stock', symbol, type, '5y']));
  return h(
    Card,
    { title: `${title}, 5 years`, flush: true },
    renderRequest(request, title.toLowerCase(), (rows) =>
      rows.length === 0
        ? h(Empty, { title: 'None' })
        : h(Table<Row>, {
            label: title,
            rows: rows.slice(0, ROWS_MAX),
            columns: columns.map((name, index) => ({
              title: name,
              isHead: index === 0,
              show: (row: Row) => cell(row[name]) ?? '',
            })),
          }),
    ),
  );
}
