// Account screen: usage by day, token and dataset, quota, budget and charged calls.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { useApi, useAction } from '../../api/useApi.ts';
import { number, percent, plural, time } from '../../components/formats.ts';
import {
  Badge,
  Card,
  Empty,
  Facts,
  Failed,
  Head,
  renderRequest,
  Text,
} from '../../components/parts.ts';
import { Calls } from './calls.ts';
import { Days, Shares } from './shares.ts';

interface Metadata {
  readonly payAsYouGoEnabled: boolean;
  readonly tierName: string;
  readonly messageLimit: number;
  readonly messagesUsed: number;
  readonly premiumMessageLimit: number;
  readonly premiumMessagesUsed: number;
  readonly messageBudget: number | null;
  readonly circuitBreaker: number;
  readonly endDateEffective: number;
}

interface Usage {
  readonly messages: {
    readonly monthlyUsage: number;
    readonly dailyUsage: Readonly<Record<string, number>>;
    readonly tokenUsage: Readonly<Record<string, number>>;
    readonly keyUsage: Readonly<Record<string, number>>;
  };
}

export function Account(): JSX.Element {
  const metadata = useApi<Metadata>(apiPath(['account', 'metadata']));
  const usage = useApi<Usage>(apiPath(['account', 'usage']));
  return h(
    'div',
    null,
    h(Head, { title: 'Account' }),
    renderRequest(metadata, 'the account', (value) =>
      h(Quota, { metadata: value, reload: metadata.reload }),
    ),
    renderRequest(usage, 'usage', ({ messages }) =>
      messages.monthlyUsage === 0
        ? h(
            Card,
            { title: 'Usage this month', flush: true },
            h(
              Empty,
              { title: 'No usage this month' },
              'Reading records costs messages; loading them is free.',
            ),
          )
        : h(
            'div',
            null,
            h(Days, { days: messages.dailyUsage }),
            h(
              'div',
              { class: 'halves' },
              h(Shares, { title: 'By dataset or stream', of: messages.keyUsage }),
              h(Shares, { title: 'By token', of: messages.tokenUsage }),
            ),
          ),
    ),
    h(Calls, {}),
  );
}

interface QuotaProps {
  readonly metadata: Metadata;
  readonly reload: () => void;
}

function Quota({ reload, metadata }: QuotaProps): JSX.Element {
  const { messageBudget, messageLimit, messagesUsed, payAsYouGoEnabled, tierName } = metadata;
  const share = messageLimit === 0 ? 0 : messagesUsed / messageLimit;
  return h(
    Card,
    {
      title: 'This month',
      actions: h(Badge, { text: `tier ${tierName}`, tone: 'accent' }),
    },
    h(
      'div',
      { class: 'stack' },
      h(Facts, {
        of: [
          ['Messages used', number(messagesUsed)],
          ['Quota', number(messageLimit)],
          ['Share of the quota used', percent(share)],
          ['Budget', messageBudget === null ? 'none' : number(messageBudget)],
          ['Above the quota', payAsYouGoEnabled ? 'pay as you go' : 'refused'],
          ['Month ends', time(metadata.endDateEffective)],
        ],
      }),
      h('progress', {
        class: 'meter-bar',
        'aria-label': 'Share of the quota used',
        max: Math.max(1, messageLimit),
        value: messagesUsed,
      }),
      h(Budget, { budget: messageBudget, reload }),
    ),
  );
}

function Budget({
  reload,
  budget,
}: {
  readonly budget: number | null;
  readonly reload: () => void;
}): JSX.Element {
  const [text, setText] = useState(budget === null ? '' : String(budget));
  const { isBusy, problem, run } = useAction();
  const set = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const path = apiPath(['account', 'messagebudget']);
      if (text.trim() === '') await callApi(path, { method: 'DELETE' });
      else await callApi(path, { json: { totalMessages: Number(text) } });
      reload();
    });
  };
  return h(
    'form',
    { class: 'form', onSubmit: set },
    h(Text, {
      label: 'Monthly budget in messages',
      value: text,
      onText: setText,
      hint: 'Calls above it are refused. Leave empty for no budget.',
    }),
    h('button', { type: 'submit', disabled: isBusy }, 'Set the budget'),
    problem === undefined ? null : h('div', { class: 'whole' }, h(Failed, { problem })),
    h(
      'p',
      { class: 'soft small whole' },
      `The budget is ${budget === null ? 'not set' : plural(budget, 'message')}.`,
    ),
  );
}
