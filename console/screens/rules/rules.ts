// List of the rules of the account with their counters and state.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { useApi, useAction } from '../../api/useApi.ts';
import { screenHref } from '../../routing/place.ts';
import { Confirm } from '../../components/dialog.ts';
import { number } from '../../components/formats.ts';
import { Badge, Card, Empty, Failed, Head, renderRequest } from '../../components/parts.ts';
import { Table } from '../../components/table.ts';
import { conditionText } from './ruleSchema.ts';

export interface Rule {
  readonly id: string;
  readonly name: string;
  readonly event: string;
  readonly isActive: boolean;
  readonly evaluated: number;
  readonly passed: number;
  readonly sent: number;
  readonly weight: number | null;
  readonly type: string;
  readonly conditions: readonly (readonly unknown[])[];
  readonly outputs: readonly { readonly method: string; readonly frequency: number }[];
  readonly note?: string;
}

type Act = 'pause' | 'resume' | 'end';

export function Rules(): JSX.Element {
  const request = useApi<readonly Rule[]>(apiPath(['rules']));
  const [pendingDelete, setPendingDelete] = useState<Rule | undefined>(undefined);
  const { problem, run } = useAction();
  const act = ({ id }: Rule, what: Act): void =>
    run(async () => {
      setPendingDelete(undefined);
      if (what === 'end') await callApi(apiPath(['rules', id]), { method: 'DELETE' });
      else await callApi(apiPath(['rules', what]), { json: { ruleId: id } });
      request.reload();
    });
  return h(
    'div',
    null,
    h(
      Head,
      { title: 'Rules' },
      h('a', { class: 'button primary', href: screenHref(['rules', 'new']) }, 'Build a rule'),
    ),
    problem === undefined ? null : h(Failed, { problem }),
    h(
      Card,
      { title: 'Rules of this account', flush: true },
      renderRequest(request, 'rules', (rows) =>
        rows.length === 0
          ? h(
              Empty,
              { title: 'No rule yet' },
              'A rule sends an alert when the values of a symbol meet its conditions. Backtest it first.',
            )
          : h(Table<Rule>, {
              label: 'Rules',
              rows,
              columns: columnsFor((rule, what) =>
                what === 'end' ? setPendingDelete(rule) : act(rule, what),
              ),
            }),
      ),
    ),
    pendingDelete === undefined
      ? null
      : h(Confirm, {
          title: `Delete ${pendingDelete.name}?`,
          text: 'Its alerts are deleted too.',
          yes: 'Delete',
          onYes: () => act(pendingDelete, 'end'),
          onClose: () => setPendingDelete(undefined),
        }),
  );
}

const columnsFor = (onAct: (rule: Rule, what: Act) => void) => [
  {
    title: 'Rule',
    isHead: true,
    show: ({ id, name }: Rule) => h('a', { href: screenHref(['rules', id]) }, name),
  },
  { title: 'Watches', show: ({ event }: Rule) => event },
  {
    title: 'When',
    show: ({ conditions, type }: Rule) =>
      h('code', null, conditions.map(conditionText).join(type === 'all' ? ' and ' : ' or ')),
  },
  { title: 'Alerts go to', show: ({ outputs }: Rule) => outputs[0]?.method ?? '' },
  {
    title: 'State',
    show: ({ isActive, note }: Rule) => [
      h(Badge, isActive ? { text: 'running', tone: 'good' } : { text: 'paused', tone: 'warn' }),
      note === undefined ? null : h('div', { class: 'small soft' }, note),
    ],
  },
  { title: 'Evaluated', isNumber: true, show: ({ evaluated }: Rule) => number(evaluated) },
  { title: 'Passed', isNumber: true, show: ({ passed }: Rule) => number(passed) },
  { title: 'Alerts', isNumber: true, show: ({ sent }: Rule) => number(sent) },
  {
    title: 'Cost per alert',
    isNumber: true,
    show: ({ weight }: Rule) => (weight === null ? '–' : number(weight)),
  },
  {
    title: 'Actions',
    show: (rule: Rule) => {
      const button = (what: Act, title: string): JSX.Element =>
        h(
          'button',
          {
            class: `small ${what === 'end' ? 'danger' : ''}`,
            'aria-label': `${title} ${rule.name}`,
            onClick: () => onAct(rule, what),
          },
          title,
        );
      return h(
        'div',
        { class: 'row-of', style: { flexWrap: 'nowrap' } },
        rule.isActive ? button('pause', 'Pause') : button('resume', 'Resume'),
        button('end', 'Delete'),
      );
    },
  },
];
