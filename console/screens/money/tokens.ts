// Tokens screen: the tokens of the account with their rights; create, disable and rotate.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { useApi, useAction } from '../../api/useApi.ts';
import { Confirm, Dialog } from '../../components/dialog.ts';
import { number, time } from '../../components/formats.ts';
import { Badge, Card, Failed, Head, renderRequest } from '../../components/parts.ts';
import { Table } from '../../components/table.ts';
import { TokenForm, type Token } from './tokenForm.ts';

type Act = 'disable' | 'rotate';

export function Tokens(): JSX.Element {
  const request = useApi<readonly Token[]>(apiPath(['account', 'tokens']));
  const [isCreating, setCreating] = useState(false);
  const [token, setToken] = useState<Token | undefined>(undefined);
  const [pending, setPending] = useState<readonly [Token, Act] | undefined>(undefined);
  const { problem, run } = useAction();
  const act = ({ tokenId }: Token, what: Act | 'enable'): void =>
    run(async () => {
      setPending(undefined);
      const path = ['account', 'tokens', tokenId];
      if (what === 'enable')
        await callApi(apiPath(path), { method: 'PATCH', json: { disabled: false } });
      if (what === 'disable') await callApi(apiPath(path), { method: 'DELETE' });
      if (what === 'rotate')
        setToken((await callApi<Token>(apiPath([...path, 'rotate']), { method: 'POST' })).value);
      request.reload();
    });
  return h(
    'div',
    null,
    h(
      Head,
      { title: 'Tokens' },
      h('button', { class: 'primary', onClick: () => setCreating(true) }, 'Create a token'),
    ),
    problem === undefined ? null : h(Failed, { problem }),
    token === undefined ? null : h(NewToken, { token, onClose: () => setToken(undefined) }),
    h(
      Card,
      { title: 'Tokens of this account', flush: true },
      renderRequest(request, 'tokens', (rows) =>
        h(Table<Token>, {
          label: 'Tokens',
          rows,
          columns: columnsFor((token, what) =>
            what === 'enable' ? act(token, what) : setPending([token, what]),
          ),
        }),
      ),
    ),
    isCreating
      ? h(TokenForm, {
          onClose: () => setCreating(false),
          onCreated: (token) => {
            setCreating(false);
            setToken(token);
            request.reload();
          },
        })
      : null,
    pending === undefined
      ? null
      : h(ConfirmAct, {
          what: pending[1],
          onYes: () => act(...pending),
          onClose: () => setPending(undefined),
        }),
  );
}

interface ConfirmActProps {
  readonly what: Act;
  readonly onYes: () => void;
  readonly onClose: () => void;
}

const ConfirmAct = ({ onClose, onYes, what }: ConfirmActProps): JSX.Element =>
  h(Confirm, {
    ...(what === 'disable'
      ? {
          title: 'Disable the token?',
          text: 'Its requests are refused immediately. You can enable it again.',
          yes: 'Disable',
        }
      : {
          title: 'Rotate the token?',
          text: 'The old token is refused immediately; the new one is shown once.',
          yes: 'Rotate',
        }),
    onYes,
    onClose,
  });

const NewToken = ({
  onClose,
  token,
}: {
  readonly token: Token;
  readonly onClose: () => void;
}): JSX.Element =>
  h(
    Dialog,
    { title: 'New token', onClose },
    h('p', null, 'Copy it now: a secret token is shown only once.'),
    h('code', { class: 'secret', style: { margin: '12px 0' } }, token.token),
    h(
      'div',
      { class: 'actions' },
      h('button', { onClick: () => void navigator.clipboard?.writeText(token.token) }, 'Copy'),
      h('button', { class: 'primary', onClick: onClose }, 'Done'),
    ),
  );

const rightsText = ({ grants, kind }: Token): string => {
  if (grants === null) return kind === 'secret' ? 'the whole account' : 'reads CORE';
  return grants.map(({ datasets, rights }) => `${datasets}: ${rights.join(', ')}`).join('; ');
};

const columnsFor = (onAct: (token: Token, what: Act | 'enable') => void) => [
  {
    title: 'Token',
    isHead: true,
    show: ({ name, token }: Token) => [
      name === '' ? null : h('div', null, name),
      h('code', { class: 'soft' }, token),
    ],
  },
  {
    title: 'Kind',
    show: ({ disabled, kind, test }: Token) =>
      h(
        'div',
        { class: 'row-of', style: { flexWrap: 'nowrap' } },
        h(Badge, { text: kind, tone: kind === 'secret' ? 'warn' : 'accent' }),
        test ? h(Badge, { text: 'test' }) : null,
        disabled ? h(Badge, { text: 'disabled', tone: 'bad' }) : null,
      ),
  },
  { title: 'Rights', show: (token: Token) => rightsText(token) },
  {
    title: 'Monthly limit',
    isNumber: true,
    show: ({ messageLimit }: Token) => (messageLimit === null ? 'none' : number(messageLimit)),
  },
  {
    title: 'Last used',
    class: 'nowrap soft',
    show: ({ lastUsed }: Token) => (lastUsed === null ? 'never' : time(lastUsed)),
  },
  {
    title: 'Actions',
    show: (token: Token) => {
      const label = token.name === '' ? token.token : token.name;
      const button = (what: Act | 'enable', title: string): JSX.Element =>
        h(
          'button',
          {
            class: `small ${what === 'disable' ? 'danger' : ''}`,
            'aria-label': `${title} ${label}`,
            onClick: () => onAct(token, what),
          },
          title,
        );
      return h(
        'div',
        { class: 'row-of', style: { flexWrap: 'nowrap' } },
        token.disabled
          ? button('enable', 'Enable')
          : [button('rotate', 'Rotate'), button('disable', 'Disable')],
      );
    },
  },
];
