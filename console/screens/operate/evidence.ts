// What an operator can prove: that every charge agrees with its call; and who is charged.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { pathOf } from '../../asking/ask.ts';
import { useAsk } from '../../asking/useAsk.ts';
import { number } from '../../showing/formats.ts';
import { Badge, Card, Facts, shown } from '../../showing/parts.ts';
import { type Row, Sheet } from '../../showing/sheet.ts';
import { Table } from '../../showing/table.ts';

interface Verified {
  readonly messages: number;
  readonly premium: number;
  readonly calls: number;
  readonly faults: readonly Row[];
}

interface AccountRow {
  readonly accountId: string;
  readonly name: string;
  readonly tier: string;
  readonly suspended: boolean;
  readonly messageLimit: number;
  readonly messagesUsed: number;
}

const AS_OPERATOR = { as: 'operator' } as const;

/** Every charge is recomputed: it is done when it is asked for. */
export function Ledger(): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  const asked = useAsk<Verified>(
    isAsked ? pathOf(['admin', 'verify-ledger']) : undefined,
    AS_OPERATOR,
  );
  return h(
    Card,
    {
      title: 'Ledger',
      actions: h(
        'button',
        { class: 'small', onClick: () => (isAsked ? asked.again() : setAsked(true)) },
        'Verify the ledger',
      ),
    },
    isAsked
      ? shown(asked, 'the proof', ({ calls, faults, messages, premium }) =>
          h(
            'div',
            { class: 'stack' },
            h(
              Badge,
              faults.length === 0
                ? { text: 'every charge agrees with its call', tone: 'good' }
                : { text: `${faults.length} disagree`, tone: 'bad' },
            ),
            h(Facts, {
              of: [
                ['Calls', number(calls)],
                ['Messages', number(messages)],
                ['Premium messages', number(premium)],
              ],
            }),
            faults.length === 0 ? null : h(Sheet, { label: 'What disagrees', rows: faults }),
          ),
        )
      : h(
          'p',
          { class: 'soft' },
          'Recomputes every charge from the journal of calls and tells what disagrees.',
        ),
  );
}

export function Accounts(): JSX.Element {
  const asked = useAsk<readonly AccountRow[]>(pathOf(['admin', 'accounts']), AS_OPERATOR);
  return h(
    Card,
    { title: 'Accounts', flush: true },
    shown(asked, 'accounts', (rows) =>
      h(Table<AccountRow>, {
        label: 'Accounts',
        rows,
        columns: [
          { title: 'Account', isHead: true, show: ({ name }) => name },
          { title: 'Id', class: 'soft', show: ({ accountId }) => h('code', null, accountId) },
          { title: 'Tier', show: ({ tier }) => tier },
          {
            title: 'State',
            show: ({ suspended }) =>
              h(
                Badge,
                suspended ? { text: 'suspended', tone: 'bad' } : { text: 'open', tone: 'good' },
              ),
          },
          { title: 'Used', isNumber: true, show: ({ messagesUsed }) => number(messagesUsed) },
          { title: 'Quota', isNumber: true, show: ({ messageLimit }) => number(messageLimit) },
        ],
      }),
    ),
  );
}
