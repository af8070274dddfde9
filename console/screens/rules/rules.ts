// The rules of the account: what each watches, how often it fired, whether it runs.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { useAsk, useDeed } from '../../asking/useAsk.ts';
import { hrefOf } from '../../routing/place.ts';
import { Confirm } from '../../showing/dialog.ts';
import { number } from '../../showing/formats.ts';
import { Badge, Card, Empty, Failed, Head, shown } from '../../showing/parts.ts';
import { Table } from '../../showing/table.ts';
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
  const asked = useAsk<readonly Rule[]>(pathOf(['rules']));
  const [doomed, setDoomed] = useState<Rule | undefined>(undefined);
  const { problem, run } = useDeed();
  const act = ({ id }: Rule, what: Act): void =>
    run(async () => {
      setDoomed(undefined);
      if (what === 'end') await ask(pathOf(['rules', id]), { method: 'DELETE' });
      else await ask(pathOf(['rules', what]), { json: { ruleId: id } });
      asked.again();
    });
  return h(
    'div',
    null,
    h(
      Head,
      { title: 'Rules' },
      h('a', { class: 'button primary', href: hrefOf(['rules', 'new']) }, 'Build a rule'),
    ),
    problem === undefined ? null : h(Failed, { problem }),
    h(
      Card,
      { title: 'Rules of this account', flush: true },
      shown(asked, 'rules', (rows) =>
        rows.length === 0
          ? h(
              Empty,
              { title: 'No rule yet' },
              'It watches values of a symbol and tells when its conditions hold. Test it on the past first.',
            )
          : h(Table<Rule>, {
              label: 'Rules',
              rows,
              columns: columnsFor((rule, what) =>
                what === 'end' ? setDoomed(rule) : act(rule, what),
              ),
            }),
      ),
    ),
    doomed === undefined
      ? null
      : h(Confirm, {
          title: `Delete ${doomed.name}?`,
          text: 'Its alerts go with it.',
          yes: 'Delete',
          onYes: () => act(doomed, 'end'),
          onClose: () => setDoomed(undefined),
        }),
  );
}

const columnsFor = (onAct: (rule: Rule, what: Act) => void) => [
  {
    title: 'Rule',
    isHead: true,
    show: ({ id, name }: Rule) => h('a', { href: hrefOf(['rules', id]) }, name),
  },
  { title: 'Watches', show: ({ event }: Rule) => event },
  {
    title: 'When',
    show: ({ conditions, type }: Rule) =>
      h('code', null, conditions.map(conditionText).join(type === 'all' ? ' and ' : ' or ')),
  },
  { title: 'Tells', show: ({ outputs }: Rule) => outputs[0]?.method ?? '' },
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
    title: 'An alert costs',
    isNumber: true,
    show: ({ weight }: Rule) => (weight === null ? '–' : number(weight)),
  },
  {
    title: 'Do',
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
