// Screen of one rule: current state of its conditions, alerts and deliveries.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { useApi, useAction } from '../../api/useApi.ts';
import { screenHref } from '../../routing/place.ts';
import { cell, number, time } from '../../components/formats.ts';
import { Badge, Card, Empty, Facts, Failed, Head, renderRequest } from '../../components/parts.ts';
import { type Row, Sheet } from '../../components/sheet.ts';
import { Table } from '../../components/table.ts';
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

interface RuleState {
  readonly passes: boolean;
  readonly values: Row;
  readonly conditions: readonly {
    readonly condition: readonly unknown[];
    readonly holds: boolean;
  }[];
}

export function RuleScreen({ id }: { readonly id: string }): JSX.Element {
  const request = useApi<readonly Rule[]>(apiPath(['rules', 'info', id]));
  const rule = request.answer?.value[0];
  return h(
    'div',
    null,
    h(Head, {
      title: rule?.name ?? 'Rule',
      crumb: [h('a', { href: screenHref(['rules']) }, 'Rules'), ' / rule'],
    }),
    renderRequest(request, 'the rule', () =>
      rule === undefined
        ? h('p', { class: 'notice warn' }, 'No such rule.')
        : h('div', null, h(RuleOverview, { rule }), h(CurrentState, { id }), h(Alerts, { id })),
    ),
  );
}

const RuleOverview = ({ rule }: { readonly rule: Rule }): JSX.Element =>
  h(
    Card,
    {
      title: 'Rule',
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
          ['Conditions met', number(rule.passed)],
          ['Alerts', number(rule.sent)],
        ],
      }),
      rule.note === undefined ? null : h('p', { class: 'notice warn' }, rule.note),
    ),
  );

function CurrentState({ id }: { readonly id: string }): JSX.Element {
  const request = useApi<RuleState>(apiPath(['rules', 'why', id]));
  return h(
    Card,
    {
      title: 'Current state',
      actions: h('button', { class: 'small', onClick: request.reload }, 'Refresh'),
    },
    renderRequest(request, 'the current state', ({ conditions = [], passes, values }) =>
      h(
        'div',
        { class: 'stack' },
        h(
          Badge,
          passes
            ? { text: 'conditions met', tone: 'good' }
            : { text: 'conditions not met', tone: 'warn' },
        ),
        h(
          'ul',
          null,
          conditions.map(({ condition, holds }, index) =>
            h(
              'li',
              { key: index },
              h('code', null, conditionText(condition)),
              holds ? ' is met' : ' is not met',
              `; ${String(condition[0])} is ${cell(values[String(condition[0])]) ?? 'unknown'}`,
            ),
          ),
        ),
      ),
    ),
  );
}

function Alerts({ id }: { readonly id: string }): JSX.Element {
  const request = useApi<readonly Alert[]>(apiPath(['rules', 'alerts', id]));
  const [chosen, setChosen] = useState<Alert | undefined>(undefined);
  return h(
    'div',
    null,
    h(
      Card,
      {
        title: 'Alerts, newest first',
        flush: true,
        actions: h('button', { class: 'small', onClick: request.reload }, 'Refresh'),
      },
      renderRequest(request, 'its alerts', (rows) =>
        rows.length === 0
          ? h(Empty, { title: 'No alerts yet' })
          : h(Table<Alert>, { label: 'Alerts', rows, columns: columnsFor(setChosen) }),
      ),
    ),
    chosen === undefined
      ? null
      : h(Deliveries, { key: chosen.alertId, alert: chosen, reload: request.reload }),
  );
}

const stateTone = (state: string): 'good' | 'bad' | 'warn' =>
  /^(logged|delivered|shadow)$/.test(state)
    ? 'good'
    : /^(dead|unsent)$/.test(state)
      ? 'bad'
      : 'warn';

const columnsFor = (onPick: (alert: Alert) => void) => [
  { title: 'When', isHead: true, class: 'nowrap', show: ({ timestamp }: Alert) => time(timestamp) },
  { title: 'Symbol', show: ({ event }: Alert) => event },
  { title: 'Values', show: ({ data }: Alert) => h('code', null, cell(data) ?? '') },
  {
    title: 'State',
    show: ({ outcome, state }: Alert) => [
      h(Badge, { text: state, tone: stateTone(state) }),
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
  readonly reload: () => void;
}

function Deliveries({ reload, alert }: DeliveriesProps): JSX.Element {
  const request = useApi<readonly Row[]>(apiPath(['rules', 'deliveries', alert.alertId]));
  const { isBusy, problem, run } = useAction();
  const resend = (): void =>
    run(async () => {
      await callApi(apiPath(['rules', 'redeliver']), { json: { alertId: alert.alertId } });
      reload();
      request.reload();
    });
  return h(
    Card,
    {
      title: `Deliveries of the alert of ${time(alert.timestamp)}`,
      flush: true,
      actions:
        alert.method === 'logs'
          ? null
          : h('button', { class: 'small', disabled: isBusy, onClick: resend }, 'Send again'),
    },
    problem === undefined ? null : h(Failed, { problem }),
    renderRequest(request, 'its deliveries', (rows) =>
      rows.length === 0
        ? h(
            Empty,
            { title: 'No deliveries' },
            alert.method === 'logs' ? 'Alerts of this rule are logged.' : '',
          )
        : h(Sheet, { label: 'Deliveries', rows }),
    ),
  );
}
