// The quote of a symbol: its price first, then what a person asks next.
import { h, type JSX } from 'preact';
import { type Asked, useEvery } from '../../asking/useAsk.ts';
import { number, shortNumber, time } from '../../showing/formats.ts';
import { Badge, Card, Facts, shown } from '../../showing/parts.ts';
import type { Row } from '../../showing/sheet.ts';

/** How often an open market is looked at. */
const LOOK_MS = 5_000;

const valueOf = (value: unknown, show: (value: number) => string = number): string =>
  typeof value === 'number' ? show(value) : '–';

export function Quote({ asked }: { readonly asked: Asked<Row> }): JSX.Element {
  const isOpen = asked.answer?.value['isUSMarketOpen'] === true;
  useEvery(LOOK_MS, isOpen, asked.again);
  return h(
    Card,
    {
      title: 'Quote',
      actions: [
        isOpen
          ? h(Badge, { text: 'market open', tone: 'good' })
          : h(Badge, { text: 'market closed' }),
        h('button', { class: 'small', onClick: asked.again }, 'Refresh'),
      ],
    },
    shown(asked, 'the quote', (quote) => h(Told, { quote })),
  );
}

function Told({ quote }: { readonly quote: Row }): JSX.Element {
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
      h('b', null, valueOf(quote['latestPrice'])),
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
        ['Open', valueOf(quote['open'])],
        ['High', valueOf(quote['high'])],
        ['Low', valueOf(quote['low'])],
        ['Previous close', valueOf(quote['previousClose'])],
        ['Volume', valueOf(quote['latestVolume'], shortNumber)],
        ['Average volume', valueOf(quote['avgTotalVolume'], shortNumber)],
        ['Market value', valueOf(quote['marketCap'], shortNumber)],
        ['Price to earnings', valueOf(quote['peRatio'])],
        ['52 weeks, high', valueOf(quote['week52High'])],
        ['52 weeks, low', valueOf(quote['week52Low'])],
      ],
    }),
  );
}
