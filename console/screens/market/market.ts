// A symbol: what it costs now, its chart, its company, its dividends and splits.
import { h, type JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { pathOf } from '../../asking/ask.ts';
import { useAsk } from '../../asking/useAsk.ts';
import { candlesOf, ohlcOf, secondsOf } from '../../showing/points.ts';
import { go, hrefOf, restate } from '../../routing/place.ts';
import { Chart } from '../../showing/chart.ts';
import { plural } from '../../showing/formats.ts';
import { Card, Choice, Empty, Head, shown } from '../../showing/parts.ts';
import type { Row } from '../../showing/sheet.ts';
import { Table } from '../../showing/table.ts';
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
    if (symbol === undefined) restate({ search: value });
  };
  const open = (event: Event): void => {
    event.preventDefault();
    if (symbol !== undefined) go(hrefOf(['market'], { search: words.trim() }));
  };
  return h(
    'div',
    null,
    h(
      Head,
      symbol === undefined
        ? { title: 'Market' }
        : { title: symbol, crumb: [h('a', { href: hrefOf(['market']) }, 'Market'), ' / symbol'] },
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
    symbol === undefined ? h(Found, { words }) : h(SymbolScreen, { symbol, query }),
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

function Found({ words }: { readonly words: string }): JSX.Element {
  const text = words.trim();
  const asked = useAsk<readonly Security[]>(text === '' ? undefined : pathOf(['search', text]));
  const active = useAsk<readonly Row[]>(
    text === '' ? pathOf(['stock', 'market', 'list', 'mostactive'], { listLimit: 10 }) : undefined,
  );
  if (text === '') {
    return h(
      Card,
      { title: 'Most traded', flush: true },
      shown(active, 'the most traded', (rows) =>
        rows.length === 0
          ? h(
              Empty,
              { title: 'No market data yet' },
              'Load daily prices into CORE, and quotes, charts and key figures come of them.',
            )
          : h(Table<Row>, { label: 'Most traded', rows, columns: QUOTED }),
      ),
    );
  }
  return h(
    Card,
    { title: 'Found', flush: true },
    shown(asked, 'what was found', (rows) =>
      rows.length === 0
        ? h(
            Empty,
            { title: `Nothing is called ${text}` },
            'Search by the beginning of a symbol or name.',
          )
        : h(Table<Security>, { label: 'Securities', rows, columns: LISTED }),
    ),
  );
}

const linked = (symbol: string): JSX.Element =>
  h('a', { href: hrefOf(['market', symbol]) }, symbol);

const LISTED = [
  { title: 'Symbol', isHead: true, show: ({ symbol }: Security) => linked(symbol) },
  { title: 'Name', show: ({ securityName }: Security) => securityName },
  { title: 'Exchange', class: 'soft', show: ({ exchange }: Security) => exchange },
  { title: 'Sector', class: 'soft', show: ({ sector }: Security) => sector ?? '' },
  { title: 'Currency', class: 'soft', show: ({ currency }: Security) => currency ?? '' },
];

const QUOTED = [
  { title: 'Symbol', isHead: true, show: (row: Row) => linked(String(row['symbol'])) },
  { title: 'Name', show: (row: Row) => String(row['companyName'] ?? '') },
  { title: 'Price', isNumber: true, show: (row: Row) => told(row['latestPrice']) },
  { title: 'Change', isNumber: true, show: (row: Row) => changeOf(row['changePercent']) },
  { title: 'Volume', isNumber: true, show: (row: Row) => told(row['latestVolume']) },
];

const told = (value: unknown): string =>
  typeof value === 'number' ? value.toLocaleString('en-US') : '–';

/** A share with its sign, and coloured. */
const changeOf = (value: unknown): JSX.Element | string =>
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
  const quote = useAsk<Row>(pathOf(['stock', symbol, 'quote']));
  const asked = useAsk<readonly Row[]>(pathOf(['stock', symbol, 'chart', range]));
  if (quote.problem?.status === 404) {
    return h(
      Card,
      { title: quote.problem.message, flush: true },
      h(
        Empty,
        { title: `Nothing is called ${symbol}` },
        'Search above by a part of its symbol or name, or load its days into CORE.',
      ),
    );
  }
  return h(
    'div',
    null,
    h(Quote, { asked: quote }),
    h(
      Card,
      {
        title: 'Days',
        actions: h(Choice, {
          label: 'Range',
          value: range,
          options: RANGES,
          onPick: (value) => restate({ range: value }),
        }),
      },
      shown(asked, 'its days', (rows, messages) =>
        rows.length === 0
          ? h(Empty, { title: 'No days in this range' })
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

const BARS = ohlcOf(['open', 'high', 'low', 'close']);

function Candles({
  rows,
  symbol,
}: {
  readonly rows: readonly Row[];
  readonly symbol: string;
}): JSX.Element {
  const [x, series] = useMemo(
    () => [secondsOf(rows, 'date'), BARS === undefined ? [] : [candlesOf(rows, BARS)]] as const,
    [rows],
  );
  return h(Chart, { label: `Days of ${symbol}`, x, isTime: true, series });
}
