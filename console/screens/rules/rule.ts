// One rule: why it holds now or not, its alerts, and how each was delivered.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { useAsk, useDeed } from '../../asking/useAsk.ts';
import { hrefOf } from '../../routing/place.ts';
import { cell, number, time } from '../../showing/formats.ts';
import { Badge, Card, Empty, Facts, Failed, Head, shown } from '../../showing/parts.ts';
import { type Row, Sheet } from '../../showing/sheet.ts';
import { Table } from '../../showing/table.ts';
import { conditionText } from './ruleSchema.ts';
import type { Rule } from './rules.ts';

interface Alert {
  readonly alertId: string;
  readonly event: string;
  readonly timestamp: number;
  readonly data: Row;
  readonly method: string;
  readonly messages: number;
  readonly state: string;
  readonly outcome: string;
  readonly attempts: number;
}

interface Why {
  readonly passes: boolean;
  readonly values: Row;
  readonly conditions: readonly {
    readonly condition: readonly unknown[];
    readonly holds: boolean;
  }[];
}

export function RuleScreen({ id }: { readonly id: string }): JSX.Element {
  const asked = useAsk<readonly Rule[]>(pathOf(['rules', 'info', id]));
  const rule = asked.answer?.value[0];
  return h(
    'div',
    null,
    h(Head, {
      title: rule?.name ?? 'Rule',
      crumb: [h('a', { href: hrefOf(['rules']) }, 'Rules'), ' / rule'],
    }),
    shown(asked, 'the rule', () =>
      rule === undefined
        ? h('p', { class: 'notice warn' }, 'There is no such rule.')
        : h('div', null, h(Told, { rule }), h(WhyNow, { id }), h(Alerts, { id })),
    ),
  );
}

const Told = ({ rule }: { readonly rule: Rule }): JSX.Element =>
  h(
    Card,
    {
      title: 'What it does',
      actions: h(
        Badge,
        rule.isActive ? { text: 'running', tone: 'good' } : { text: 'paused', tone: 'warn' },
      ),
    },
    h(
      'div',
      { class: 'stack' },
      h(
        'code',
        null,
        rule.conditions.map(conditionText).join(rule.type === 'all' ? ' and ' : ' or '),
      ),
      h(Facts, {
        of: [
          ['Watches', rule.event],
          ['Alerts go to', rule.outputs[0]?.method ?? ''],
          ['At most one in', `${number(rule.outputs[0]?.frequency ?? 0)} s`],
          ['Evaluated', number(rule.evaluated)],
          ['Conditions held', number(rule.passed)],
          ['Alerts', number(rule.sent)],
        ],
      }),
      rule.note === undefined ? null : h('p', { class: 'notice warn' }, rule.note),
    ),
  );

function WhyNow({ id }: { readonly id: string }): JSX.Element {
  const asked = useAsk<Why>(pathOf(['rules', 'why', id]));
  return h(
    Card,
    {
      title: 'How it stands now',
      actions: h('button', { class: 'small', onClick: asked.again }, 'Refresh'),
    },
    shown(asked, 'how it stands', ({ conditions = [], passes, values }) =>
      h(
        'div',
        { class: 'stack' },
        h(
          Badge,
          passes
            ? { text: 'its conditions hold', tone: 'good' }
            : { text: 'it does not fire', tone: 'warn' },
        ),
        h(
          'ul',
          null,
          conditions.map(({ condition, holds }, index) =>
            h(
              'li',
              { key: index },
              h('code', null, conditionText(condition)),
              holds ? ' holds' : ' does not hold',
              `; ${String(condition[0])} is ${cell(values[String(condition[0])]) ?? 'not known'}`,
            ),
          ),
        ),
      ),
    ),
  );
}

function Alerts({ id }: { readonly id: string }): JSX.Element {
  const asked = useAsk<readonly Alert[]>(pathOf(['rules', 'alerts', id]));
  const [chosen, setChosen] = useState<Alert | undefined>(undefined);
  return h(
    'div',
    null,
    h(
      Card,
      {
        title: 'Alerts, newest first',
        flush: true,
        actions: h('button', { class: 'small', onClick: asked.again }, 'Refresh'),
      },
      shown(asked, 'its alerts', (rows) =>
        rows.length === 0
          ? h(Empty, { title: 'It has not fired yet' })
          : h(Table<Alert>, { label: 'Alerts', rows, columns: columnsFor(setChosen) }),
      ),
    ),
    chosen === undefined
      ? null
      : h(Deliveries, { key: chosen.alertId, alert: chosen, again: asked.again }),
  );
}

const toneOf = (state: string): 'good' | 'bad' | 'warn' =>
  /^(logged|delivered|shadow)$/.test(state)
    ? 'good'
    : /^(dead|unsent)$/.test(state)
      ? 'bad'
      : 'warn';

const columnsFor = (onPick: (alert: Alert) => void) => [
  { title: 'When', isHead: true, class: 'nowrap', show: ({ timestamp }: Alert) => time(timestamp) },
  { title: 'Symbol', show: ({ event }: Alert) => event },
  { title: 'With', show: ({ data }: Alert) => h('code', null, cell(data) ?? '') },
  {
    title: 'State',
    show: ({ outcome, state }: Alert) => [
      h(Badge, { text: state, tone: toneOf(state) }),
      ` ${outcome}`,
    ],
  },
  { title: 'Messages', isNumber: true, show: ({ messages }: Alert) => number(messages) },
  {
    title: 'Deliveries',
    show: (alert: Alert) =>
      h(
        'button',
        {
          class: 'small',
          'aria-label': `Deliveries of ${time(alert.timestamp)}`,
          onClick: () => onPick(alert),
        },
        `${number(alert.attempts)} so far`,
      ),
  },
];

interface DeliveriesProps {
  readonly alert: Alert;
  readonly again: () => void;
}

function Deliveries({ again, alert }: DeliveriesProps): JSX.Element {
  const asked = useAsk<readonly Row[]>(pathOf(['rules', 'deliveries', alert.alertId]));
  const { isBusy, problem, run } = useDeed();
  const resend = (): void =>
    run(async () => {
      await ask(pathOf(['rules', 'redeliver']), { json: { alertId: alert.alertId } });
      again();
      asked.again();
    });
  return h(
    Card,
    {
      title: `Deliveries of the alert of ${time(alert.timestamp)}`,
      flush: true,
      actions:
        alert.method === 'logs'
          ? null
          : h('button', { class: 'small', disabled: isBusy, onClick: resend }, 'Send it again'),
    },
    problem === undefined ? null : h(Failed, { problem }),
    shown(asked, 'its deliveries', (rows) =>
      rows.length === 0
        ? h(
            Empty,
            { title: 'Nobody was called' },
            alert.method === 'logs' ? 'Alerts of this rule are logged.' : '',
          )
        : h(Sheet, { label: 'Deliveries', rows }),
    ),
  );
}
