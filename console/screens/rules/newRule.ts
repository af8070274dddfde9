// Screen that builds a rule, backtests it and creates it.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { useApi, useAction } from '../../api/useApi.ts';
import { go, screenHref } from '../../routing/place.ts';
import { Card, Choice, Failed, Head, renderRequest, Text } from '../../components/parts.ts';
import { Backtest } from './backtest.ts';
import { Conditions } from './conditions.ts';
import { Output } from './output.ts';
import { buildRuleBody, type Draft, EMPTY, type RuleSchema } from './ruleSchema.ts';

const SCHEMA = apiPath(['rules', 'schema']);

export function NewRule(): JSX.Element {
  const request = useApi<RuleSchema>(SCHEMA);
  return h(
    'div',
    null,
    h(Head, {
      title: 'Build a rule',
      crumb: [h('a', { href: screenHref(['rules']) }, 'Rules'), ' / new'],
    }),
    renderRequest(request, 'the rule schema', (schema) => h(RuleForm, { schema })),
  );
}

const MATCHES = [
  ['all', 'all conditions are met'],
  ['any', 'any condition is met'],
] as const;

function RuleForm({ schema }: { readonly schema: RuleSchema }): JSX.Element {
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const { isBusy, problem, run } = useAction();
  const change = (more: Partial<Draft>): void => setDraft({ ...draft, ...more });
  const create = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const { value } = await callApi<{ readonly id: string }>(apiPath(['rules', 'create']), {
        json: buildRuleBody(draft),
      });
      go(screenHref(['rules', value.id]));
    });
  };
  return h(
    'div',
    null,
    h(
      Card,
      { title: 'Rule' },
      h(
        'form',
        { class: 'stack', onSubmit: create },
        h(
          'div',
          { class: 'form' },
          h(Text, {
            label: 'Symbol',
            value: draft.symbol,
            required: true,
            hint: 'ANYEVENT matches every symbol.',
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
          h('button', { class: 'primary', type: 'submit', disabled: isBusy }, 'Create the rule'),
        ),
      ),
    ),
    h(Backtest, { draft }),
  );
}
