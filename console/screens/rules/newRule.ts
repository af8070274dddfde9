// A rule is built, tested on the past, then made.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { useAsk, useDeed } from '../../asking/useAsk.ts';
import { go, hrefOf } from '../../routing/place.ts';
import { Card, Choice, Failed, Head, shown, Text } from '../../showing/parts.ts';
import { Backtest } from './backtest.ts';
import { Conditions } from './conditions.ts';
import { Output } from './output.ts';
import { bodyOf, type Draft, EMPTY, type RuleSchema } from './ruleSchema.ts';

const SCHEMA = pathOf(['rules', 'schema']);

export function NewRule(): JSX.Element {
  const asked = useAsk<RuleSchema>(SCHEMA);
  return h(
    'div',
    null,
    h(Head, {
      title: 'Build a rule',
      crumb: [h('a', { href: hrefOf(['rules']) }, 'Rules'), ' / new'],
    }),
    shown(asked, 'what rules may read', (schema) => h(RuleForm, { schema })),
  );
}

const MATCHES = [
  ['all', 'all of them hold'],
  ['any', 'one of them holds'],
] as const;

function RuleForm({ schema }: { readonly schema: RuleSchema }): JSX.Element {
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const { isBusy, problem, run } = useDeed();
  const change = (more: Partial<Draft>): void => setDraft({ ...draft, ...more });
  const make = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const { value } = await ask<{ readonly id: string }>(pathOf(['rules', 'create']), {
        json: bodyOf(draft),
      });
      go(hrefOf(['rules', value.id]));
    });
  };
  return h(
    'div',
    null,
    h(
      Card,
      { title: 'The rule' },
      h(
        'form',
        { class: 'stack', onSubmit: make },
        h(
          'div',
          { class: 'form' },
          h(Text, {
            label: 'Symbol',
            value: draft.symbol,
            required: true,
            hint: 'ANYEVENT: each symbol.',
            onText: (symbol) => change({ symbol }),
          }),
          h(Text, { label: 'Name', value: draft.name, onText: (name) => change({ name }) }),
          h(Choice, {
            label: 'It fires when',
            value: draft.match,
            options: MATCHES,
            onPick: (match) => change({ match }),
          }),
        ),
        h(Conditions, {
          schema,
          conditions: draft.conditions,
          onChange: (conditions) => change({ conditions }),
        }),
        h(Output, { schema, draft, onChange: change }),
        problem === undefined ? null : h(Failed, { problem }),
        h(
          'div',
          { class: 'row-of' },
          h('button', { class: 'primary', type: 'submit', disabled: isBusy }, 'Make the rule'),
        ),
      ),
    ),
    h(Backtest, { draft }),
  );
}
