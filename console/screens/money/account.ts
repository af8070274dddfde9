// What the account has used: by day, by token, by dataset; what is left; each call explained.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { useAsk, useDeed } from '../../asking/useAsk.ts';
import { number, percent, plural, time } from '../../showing/formats.ts';
import { Badge, Card, Empty, Facts, Failed, Head, shown, Text } from '../../showing/parts.ts';
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
  const metadata = useAsk<Metadata>(pathOf(['account', 'metadata']));
  const usage = useAsk<Usage>(pathOf(['account', 'usage']));
  return h(
    'div',
    null,
    h(Head, { title: 'Account' }),
    shown(metadata, 'the account', (value) => h(Quota, { metadata: value, again: metadata.again })),
    shown(usage, 'usage', ({ messages }) =>
      messages.monthlyUsage === 0
        ? h(
            Card,
            { title: 'Usage of this month', flush: true },
            h(
              Empty,
              { title: 'Nothing was used this month' },
              'Reading records costs; loading them does not.',
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
  readonly again: () => void;
}

function Quota({ again, metadata }: QuotaProps): JSX.Element {
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
          ['Used of the quota', percent(share)],
          ['Budget', messageBudget === null ? 'none' : number(messageBudget)],
          ['Above the quota', payAsYouGoEnabled ? 'paid as you go' : 'refused'],
          ['Month ends', time(metadata.endDateEffective)],
        ],
      }),
      h('progress', {
        class: 'meter-bar',
        'aria-label': 'Share of the quota that is used',
        max: Math.max(1, messageLimit),
        value: messagesUsed,
      }),
      h(Budget, { budget: messageBudget, again }),
    ),
  );
}

function Budget({
  again,
  budget,
}: {
  readonly budget: number | null;
  readonly again: () => void;
}): JSX.Element {
  const [text, setText] = useState(budget === null ? '' : String(budget));
  const { isBusy, problem, run } = useDeed();
  const set = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const path = pathOf(['account', 'messagebudget']);
      if (text.trim() === '') await ask(path, { method: 'DELETE' });
      else await ask(path, { json: { totalMessages: Number(text) } });
      again();
    });
  };
  return h(
    'form',
    { class: 'form', onSubmit: set },
    h(Text, {
      label: 'Budget of a month, in messages',
      value: text,
      onText: setText,
      hint: 'All calls stop there. Empty: no budget.',
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
