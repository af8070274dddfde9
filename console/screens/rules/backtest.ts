// Backtest of a rule: when it would have fired, shown on the daily prices of its symbol.
import { h, type JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { useApi, useAction } from '../../api/useApi.ts';
import { Chart } from '../../components/chart.ts';
import { number, plural, time } from '../../components/formats.ts';
import { Card, Choice, Empty, Facts, Failed, renderRequest, Text } from '../../components/parts.ts';
import { toCandles, findOhlc, toSeconds } from '../../components/points.ts';
import { cell } from '../../components/formats.ts';
import type { Row } from '../../components/sheet.ts';
import { Table } from '../../components/table.ts';
import { buildRuleBody, conditionText, type Draft } from './ruleSchema.ts';

interface BacktestResult {
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
  const [result, setResult] = useState<BacktestResult | undefined>(undefined);
  const { isBusy, problem, run } = useAction();
  const test = (event: Event): void => {
    event.preventDefault();
    const range = { step, ...(from === '' ? {} : { from }), ...(to === '' ? {} : { to }) };
    run(async () => {
      const json = { ...buildRuleBody(draft), ...range };
      setResult((await callApi<BacktestResult>(apiPath(['rules', 'backtest']), { json })).value);
    });
  };
  return h(
    'div',
    null,
    h(
      Card,
      { title: 'Backtest' },
      h(
        'form',
        { class: 'form', onSubmit: test },
        h(Text, { label: 'From', type: 'date', value: from, onText: setFrom }),
        h(Text, { label: 'To', type: 'date', value: to, onText: setTo }),
        h(Choice, { label: 'Step', value: step, options: STEPS, onPick: setStep }),
        h(
          'button',
          { type: 'submit', disabled: isBusy },
          isBusy ? 'Running …' : 'Run the backtest',
        ),
        h(
          'p',
          { class: 'soft small whole' },
          'Without dates it covers the last week. You pay for the bars it reads.',
        ),
      ),
      problem === undefined ? null : h(Failed, { problem }),
    ),
    result === undefined ? null : h(Outcome, { result }),
  );
}

function Outcome({ result }: { readonly result: BacktestResult }): JSX.Element {
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
          ['Evaluated', plural(evaluated, 'time')],
          ['Conditions met', plural(passed, 'time')],
          ['Alerts', number(alerts)],
          ['Cost of the alerts', plural(messages, 'message')],
        ],
      }),
      h(FiringChart, { key: `${symbol} ${from} ${to}`, symbol, from, to, firings }),
      h(
        'ul',
        { class: 'small soft' },
        conditions.map((result, index) =>
          h(
            'li',
            { key: index },
            h('code', null, conditionText(result.condition)),
            ` met ${plural(result.held, 'time')}`,
          ),
        ),
      ),
    ),
    firings.length === 0
      ? h(Empty, { title: 'It would never have fired' }, 'Relax its conditions, or test more days.')
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
            { title: 'Values', show: ({ data }) => h('code', null, cell(data) ?? '') },
          ],
        }),
  );
}

interface FiringChartProps {
  readonly symbol: string;
  readonly from: string;
  readonly to: string;
  readonly firings: readonly Firing[];
}

const OHLC = findOhlc(['open', 'high', 'low', 'close']);

function FiringChart({ firings, from, symbol, to }: FiringChartProps): JSX.Element {
  const request = useApi<readonly Row[]>(
    apiPath(['data', 'CORE', 'HISTORICAL_PRICES', symbol], { from, to, sort: 'asc' }),
  );
  const rows = request.answer?.value;
  const [x, series, marks] = useMemo(
    () => [
      toSeconds(rows ?? [], 'date'),
      OHLC === undefined || rows === undefined ? [] : [toCandles(rows, OHLC)],
      firings
        .filter(({ event }) => event === symbol)
        .map(({ timestamp }) => ({ x: timestamp / 1_000 })),
    ],
    [rows, firings],
  );
  return h('div', null, [
    renderRequest(request, 'daily prices', (days) =>
      days.length === 0
        ? h('p', { class: 'soft' }, `There are no daily prices of ${symbol} to chart.`)
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
