// Quote of a symbol: its price and key figures.
import { h, type JSX } from 'preact';
import { type ApiRequest, useInterval } from '../../api/useApi.ts';
import { number, shortNumber, time } from '../../components/formats.ts';
import { Badge, Card, Facts, renderRequest } from '../../components/parts.ts';
import type { Row } from '../../components/sheet.ts';

/** Polling interval while the market is open. */
const POLL_MS = 5_000;

const valueText = (value: unknown, show: (value: number) => string = number): string =>
  typeof value === 'number' ? show(value) : '–';

export function Quote({ request }: { readonly request: ApiRequest<Row> }): JSX.Element {
  const isOpen = request.answer?.value['isUSMarketOpen'] === true;
  useInterval(POLL_MS, isOpen, request.reload);
  return h(
    Card,
    {
      title: 'Quote',
      actions: [
        isOpen
          ? h(Badge, { text: 'market open', tone: 'good' })
          : h(Badge, { text: 'market closed' }),
        h('button', { class: 'small', onClick: request.reload }, 'Refresh'),
      ],
    },
    renderRequest(request, 'the quote', (quote) => h(QuoteDetails, { quote })),
  );
}

function QuoteDetails({ quote }: { readonly quote: Row }): JSX.Element {
  const change = Number(quote['change'] ?? 0);
  const share = Number(quote['changePercent'] ?? 0) * 100;
  const sign = change < 0 ? '−' : '+';
  const updated = quote['latestUpdate'];
  return h(
    'div',
    { class: 'stack' },
    h('p', { class: 'soft' }, String(quote['companyName'] ?? '')),
    h(
      'p',
      { class: 'price' },
      h('b', null, valueText(quote['latestPrice'])),
      h('span', null, String(quote['currency'] ?? '')),
      h(
        'span',
        { class: change < 0 ? 'down' : 'up' },
        `${sign}${number(Math.abs(change))} (${sign}${Math.abs(share).toFixed(2)} %)`,
      ),
      h(
        'span',
        { class: 'soft small' },
        String(quote['latestSource'] ?? ''),
        typeof updated === 'number' ? `, ${time(updated)}` : '',
      ),
    ),
    h(Facts, {
      of: [
        ['Open', valueText(quote['open'])],
        ['High', valueText(quote['high'])],
        ['Low', valueText(quote['low'])],
        ['Previous close', valueText(quote['previousClose'])],
        ['Volume', valueText(quote['latestVolume'], shortNumber)],
        ['Average volume', valueText(quote['avgTotalVolume'], shortNumber)],
        ['Market capitalization', valueText(quote['marketCap'], shortNumber)],
        ['Price/earnings', valueText(quote['peRatio'])],
        ['52-week high', valueText(quote['week52High'])],
        ['52-week low', valueText(quote['week52Low'])],
      ],
    }),
  );
}
