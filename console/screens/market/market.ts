// Market screen: symbol search, and the quote, chart, company, dividends and splits of one symbol.
import { h, type JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { apiPath } from '../../api/client.ts';
import { useApi } from '../../api/useApi.ts';
import { toCandles, findOhlc, toSeconds } from '../../components/points.ts';
import { go, screenHref, replaceQuery } from '../../routing/place.ts';
import { Chart } from '../../components/chart.ts';
import { plural } from '../../components/formats.ts';
import { Card, Choice, Empty, Head, renderRequest } from '../../components/parts.ts';
import type { Row } from '../../components/sheet.ts';
import { Table } from '../../components/table.ts';
import { Actions, Company } from './company.ts';
import { Quote } from './quote.ts';

interface MarketProps {
  readonly symbol: string | undefined;
  readonly query: URLSearchParams;
}

export function Market({ query, symbol }: MarketProps): JSX.Element {
  const [words, setWords] = useState(query.get('search') ?? '');
  const search = (event: Event): void => {
    const { value } = event.target as HTMLInputElement;
    setWords(value);
    if (symbol === undefined) replaceQuery({ search: value });
  };
  const open = (event: Event): void => {
    event.preventDefault();
    if (symbol !== undefined) go(screenHref(['market'], { search: words.trim() }));
  };
  return h(
    'div',
    null,
    h(
      Head,
      symbol === undefined
        ? { title: 'Market' }
        : {
            title: symbol,
            crumb: [h('a', { href: screenHref(['market']) }, 'Market'), ' / symbol'],
          },
      h(
        'form',
        { role: 'search', onSubmit: open },
        h('input', {
          type: 'search',
          value: words,
          placeholder: 'Symbol or name  /',
          onInput: search,
          'aria-label': 'Search symbols',
          style: { width: '260px' },
        }),
      ),
    ),
    symbol === undefined ? h(SearchResults, { words }) : h(SymbolScreen, { symbol, query }),
  );
}

interface Security {
  readonly symbol: string;
  readonly securityName: string;
  readonly securityType: string;
  readonly exchange: string;
  readonly sector: string | null;
  readonly currency: string | null;
}

function SearchResults({ words }: { readonly words: string }): JSX.Element {
  const text = words.trim();
  const request = useApi<readonly Security[]>(text === '' ? undefined : apiPath(['search', text]));
  const active = useApi<readonly Row[]>(
    text === '' ? apiPath(['stock', 'market', 'list', 'mostactive'], { listLimit: 10 }) : undefined,
  );
  if (text === '') {
    return h(
      Card,
      { title: 'Most traded', flush: true },
      renderRequest(active, 'the most traded', (rows) =>
        rows.length === 0
          ? h(
              Empty,
              { title: 'No market data yet' },
              'Load daily prices into CORE to get quotes, charts and key figures.',
            )
          : h(Table<Row>, { label: 'Most traded', rows, columns: QUOTE_COLUMNS }),
      ),
    );
  }
  return h(
    Card,
    { title: 'Search results', flush: true },
    renderRequest(request, 'search results', (rows) =>
      rows.length === 0
        ? h(
            Empty,
            { title: `No results for ${text}` },
            'Search by the beginning of a symbol or name.',
          )
        : h(Table<Security>, { label: 'Securities', rows, columns: SECURITY_COLUMNS }),
    ),
  );
}

const symbolLink = (symbol: string): JSX.Element =>
  h('a', { href: screenHref(['market', symbol]) }, symbol);

const SECURITY_COLUMNS = [
  { title: 'Symbol', isHead: true, show: ({ symbol }: Security) => symbolLink(symbol) },
  { title: 'Name', show: ({ securityName }: Security) => securityName },
  { title: 'Exchange', class: 'soft', show: ({ exchange }: Security) => exchange },
  { title: 'Sector', class: 'soft', show: ({ sector }: Security) => sector ?? '' },
  { title: 'Currency', class: 'soft', show: ({ currency }: Security) => currency ?? '' },
];

const QUOTE_COLUMNS = [
  { title: 'Symbol', isHead: true, show: (row: Row) => symbolLink(String(row['symbol'])) },
  { title: 'Name', show: (row: Row) => String(row['companyName'] ?? '') },
  { title: 'Price', isNumber: true, show: (row: Row) => numberText(row['latestPrice']) },
  { title: 'Change', isNumber: true, show: (row: Row) => changeText(row['changePercent']) },
  { title: 'Volume', isNumber: true, show: (row: Row) => numberText(row['latestVolume']) },
];

const numberText = (value: unknown): string =>
  typeof value === 'number' ? value.toLocaleString('en-US') : '–';

/** Formats a change in percent with sign and colour. */
const changeText = (value: unknown): JSX.Element | string =>
  typeof value === 'number'
    ? h(
        'span',
        { class: value < 0 ? 'down' : 'up' },
        `${value < 0 ? '−' : '+'}${Math.abs(value * 100).toFixed(2)} %`,
      )
    : '–';

const RANGES = ['1m', '3m', '6m', 'ytd', '1y', '2y', '5y', 'max'].map((one) => [one, one] as const);

function SymbolScreen({
  query,
  symbol,
}: {
  readonly symbol: string;
  readonly query: URLSearchParams;
}): JSX.Element {
  const range = query.get('range') ?? '6m';
  const quote = useApi<Row>(apiPath(['stock', symbol, 'quote']));
  const request = useApi<readonly Row[]>(apiPath(['stock', symbol, 'chart', range]));
  if (quote.problem?.status === 404) {
    return h(
      Card,
      { title: quote.problem.message, flush: true },
      h(
        Empty,
        { title: `Unknown symbol ${symbol}` },
        'Search above by part of its symbol or name, or load its daily prices into CORE.',
      ),
    );
  }
  return h(
    'div',
    null,
    h(Quote, { request: quote }),
    h(
      Card,
      {
        title: 'Daily prices',
        actions: h(Choice, {
          label: 'Range',
          value: range,
          options: RANGES,
          onPick: (value) => replaceQuery({ range: value }),
        }),
      },
      renderRequest(request, 'daily prices', (rows, messages) =>
        rows.length === 0
          ? h(Empty, { title: 'No prices in this range' })
          : [
              h(Candles, { rows, symbol }),
              h(
                'p',
                { class: 'soft small' },
                `${plural(rows.length, 'day')}, ${plural(messages, 'message')}.`,
              ),
            ],
      ),
    ),
    h(Company, { symbol }),
    h(Actions, { symbol }),
  );
}

const OHLC = findOhlc(['open', 'high', 'low', 'close']);

function Candles({
  rows,
  symbol,
}: {
  readonly rows: readonly Row[];
  readonly symbol: string;
}): JSX.Element {
  const [x, series] = useMemo(
    () => [toSeconds(rows, 'date'), OHLC === undefined ? [] : [toCandles(rows, OHLC)]] as const,
    [rows],
  );
  return h(Chart, { label: `Days of ${symbol}`, x, isTime: true, series });
}
