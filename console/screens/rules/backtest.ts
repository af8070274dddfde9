// When a rule would have fired over the past, drawn over the days of its symbol.
import { h, type JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { useAsk, useDeed } from '../../asking/useAsk.ts';
import { Chart } from '../../showing/chart.ts';
import { number, plural, time } from '../../showing/formats.ts';
import { Card, Choice, Empty, Facts, Failed, shown, Text } from '../../showing/parts.ts';
import { candlesOf, ohlcOf, secondsOf } from '../../showing/points.ts';
import { cell } from '../../showing/formats.ts';
import type { Row } from '../../showing/sheet.ts';
import { Table } from '../../showing/table.ts';
import { bodyOf, conditionText, type Draft } from './ruleSchema.ts';

interface Backtested {
  readonly from: string;
  readonly to: string;
  readonly step: string;
  readonly symbols: readonly string[];
  readonly evaluated: number;
  readonly passed: number;
  readonly alerts: number;
  readonly messages: number;
  readonly conditions: readonly { readonly condition: readonly unknown[]; readonly held: number }[];
  readonly firings: readonly Firing[];
}

interface Firing {
  readonly timestamp: number;
  readonly event: string;
  readonly data: Row;
}

const STEPS = [
  ['day', 'each day'],
  ['minute', 'each minute, at most 31 days'],
] as const;

export function Backtest({ draft }: { readonly draft: Draft }): JSX.Element {
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [step, setStep] = useState<string>('day');
  const [result, setResult] = useState<Backtested | undefined>(undefined);
  const { isBusy, problem, run } = useDeed();
  const test = (event: Event): void => {
    event.preventDefault();
    const range = { step, ...(from === '' ? {} : { from }), ...(to === '' ? {} : { to }) };
    run(async () => {
      const json = { ...bodyOf(draft), ...range };
      setResult((await ask<Backtested>(pathOf(['rules', 'backtest']), { json })).value);
    });
  };
  return h(
    'div',
    null,
    h(
      Card,
      { title: 'Test it on the past' },
      h(
        'form',
        { class: 'form', onSubmit: test },
        h(Text, { label: 'From', type: 'date', value: from, onText: setFrom }),
        h(Text, { label: 'To', type: 'date', value: to, onText: setTo }),
        h(Choice, { label: 'Look', value: step, options: STEPS, onPick: setStep }),
        h('button', { type: 'submit', disabled: isBusy }, isBusy ? 'Testing …' : 'Test it'),
        h(
          'p',
          { class: 'soft small whole' },
          'Without days: the week before. It costs the bars that it runs over.',
        ),
      ),
      problem === undefined ? null : h(Failed, { problem }),
    ),
    result === undefined ? null : h(Outcome, { result }),
  );
}

function Outcome({ result }: { readonly result: Backtested }): JSX.Element {
  const { alerts, conditions, evaluated, firings, from, messages, passed, symbols, to } = result;
  const symbol = symbols[0] ?? '';
  return h(
    Card,
    { title: `It would have fired ${plural(alerts, 'time')}`, flush: true },
    h(
      'div',
      { class: 'body stack' },
      h(Facts, {
        of: [
          ['From', from],
          ['To', to],
          ['Looked', plural(evaluated, 'time')],
          ['Conditions held', plural(passed, 'time')],
          ['Alerts', number(alerts)],
          ['They would have cost', plural(messages, 'message')],
        ],
      }),
      h(Drawn, { key: `${symbol} ${from} ${to}`, symbol, from, to, firings }),
      h(
        'ul',
        { class: 'small soft' },
        conditions.map(({ condition, held }, index) =>
          h(
            'li',
            { key: index },
            h('code', null, conditionText(condition)),
            ` held ${plural(held, 'time')}`,
          ),
        ),
      ),
    ),
    firings.length === 0
      ? h(Empty, { title: 'It would never have fired' }, 'Ask less of it, or look at more days.')
      : h(Table<Firing>, {
          label: 'When it would have fired',
          rows: firings,
          columns: [
            {
              title: 'When',
              isHead: true,
              class: 'nowrap',
              show: ({ timestamp }) => time(timestamp),
            },
            { title: 'Symbol', show: ({ event }) => event },
            { title: 'With', show: ({ data }) => h('code', null, cell(data) ?? '') },
          ],
        }),
  );
}

interface DrawnProps {
  readonly symbol: string;
  readonly from: string;
  readonly to: string;
  readonly firings: readonly Firing[];
}

const BARS = ohlcOf(['open', 'high', 'low', 'close']);

function Drawn({ firings, from, symbol, to }: DrawnProps): JSX.Element {
  const asked = useAsk<readonly Row[]>(
    pathOf(['data', 'CORE', 'HISTORICAL_PRICES', symbol], { from, to, sort: 'asc' }),
  );
  const rows = asked.answer?.value;
  const [x, series, marks] = useMemo(
    () => [
      secondsOf(rows ?? [], 'date'),
      BARS === undefined || rows === undefined ? [] : [candlesOf(rows, BARS)],
      firings
        .filter(({ event }) => event === symbol)
        .map(({ timestamp }) => ({ x: timestamp / 1_000 })),
    ],
    [rows, firings],
  );
  return h('div', null, [
    shown(asked, 'its days', (days) =>
      days.length === 0
        ? h('p', { class: 'soft' }, `There are no days of ${symbol} to draw.`)
        : h(Chart, {
            label: `Days of ${symbol} with ${plural(marks.length, 'firing')}`,
            x,
            series,
            marks,
            isTime: true,
            height: 260,
          }),
    ),
  ]);
}
