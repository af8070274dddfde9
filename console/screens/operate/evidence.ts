// Ledger verification and the list of accounts, for the operator.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { apiPath } from '../../api/client.ts';
import { useApi } from '../../api/useApi.ts';
import { number } from '../../components/formats.ts';
import { Badge, Card, Facts, renderRequest } from '../../components/parts.ts';
import { type Row, Sheet } from '../../components/sheet.ts';
import { Table } from '../../components/table.ts';

interface LedgerCheck {
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

/** Verifies the ledger on request only, because every charge is recomputed. */
export function Ledger(): JSX.Element {
  const [isRequested, setRequested] = useState(false);
  const request = useApi<LedgerCheck>(
    isRequested ? apiPath(['admin', 'verify-ledger']) : undefined,
    AS_OPERATOR,
  );
  return h(
    Card,
    {
      title: 'Ledger',
      actions: h(
        'button',
        { class: 'small', onClick: () => (isRequested ? request.reload() : setRequested(true)) },
        'Verify the ledger',
      ),
    },
    isRequested
      ? renderRequest(request, 'the verification', ({ calls, faults, messages, premium }) =>
          h(
            'div',
            { class: 'stack' },
            h(
              Badge,
              faults.length === 0
                ? { text: 'all charges match their calls', tone: 'good' }
                : { text: `${faults.length} mismatches`, tone: 'bad' },
            ),
            h(Facts, {
              of: [
                ['Calls', number(calls)],
                ['Messages', number(messages)],
                ['Premium messages', number(premium)],
              ],
            }),
            faults.length === 0 ? null : h(Sheet, { label: 'Mismatches', rows: faults }),
          ),
        )
      : h(
          'p',
          { class: 'soft' },
          'Recomputes every charge from the journal of calls and lists mismatches.',
        ),
  );
}

export function Accounts(): JSX.Element {
  const request = useApi<readonly AccountRow[]>(apiPath(['admin', 'accounts']), AS_OPERATOR);
  return h(
    Card,
    { title: 'Accounts', flush: true },
    renderRequest(request, 'accounts', (rows) =>
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
