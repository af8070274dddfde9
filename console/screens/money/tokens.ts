// The tokens of the account: what each may do, made, disabled, given another text.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { useAsk, useDeed } from '../../asking/useAsk.ts';
import { Confirm, Dialog } from '../../showing/dialog.ts';
import { number, time } from '../../showing/formats.ts';
import { Badge, Card, Failed, Head, shown } from '../../showing/parts.ts';
import { Table } from '../../showing/table.ts';
import { TokenForm, type Token } from './tokenForm.ts';

type Act = 'disable' | 'rotate';

export function Tokens(): JSX.Element {
  const asked = useAsk<readonly Token[]>(pathOf(['account', 'tokens']));
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<Token | undefined>(undefined);
  const [doomed, setDoomed] = useState<readonly [Token, Act] | undefined>(undefined);
  const { problem, run } = useDeed();
  const act = ({ tokenId }: Token, what: Act | 'enable'): void =>
    run(async () => {
      setDoomed(undefined);
      const path = ['account', 'tokens', tokenId];
      if (what === 'enable')
        await ask(pathOf(path), { method: 'PATCH', json: { disabled: false } });
      if (what === 'disable') await ask(pathOf(path), { method: 'DELETE' });
      if (what === 'rotate')
        setMade((await ask<Token>(pathOf([...path, 'rotate']), { method: 'POST' })).value);
      asked.again();
    });
  return h(
    'div',
    null,
    h(
      Head,
      { title: 'Tokens' },
      h('button', { class: 'primary', onClick: () => setMaking(true) }, 'Make a token'),
    ),
    problem === undefined ? null : h(Failed, { problem }),
    made === undefined ? null : h(MadeToken, { token: made, onClose: () => setMade(undefined) }),
    h(
      Card,
      { title: 'Tokens of this account', flush: true },
      shown(asked, 'tokens', (rows) =>
        h(Table<Token>, {
          label: 'Tokens',
          rows,
          columns: columnsFor((token, what) =>
            what === 'enable' ? act(token, what) : setDoomed([token, what]),
          ),
        }),
      ),
    ),
    isMaking
      ? h(TokenForm, {
          onClose: () => setMaking(false),
          onMade: (token) => {
            setMaking(false);
            setMade(token);
            asked.again();
          },
        })
      : null,
    doomed === undefined
      ? null
      : h(Sure, {
          what: doomed[1],
          onYes: () => act(...doomed),
          onClose: () => setDoomed(undefined),
        }),
  );
}

interface SureProps {
  readonly what: Act;
  readonly onYes: () => void;
  readonly onClose: () => void;
}

const Sure = ({ onClose, onYes, what }: SureProps): JSX.Element =>
  h(Confirm, {
    ...(what === 'disable'
      ? {
          title: 'Disable the token?',
          text: 'Whoever uses it is refused from the next request on. It can be enabled again.',
          yes: 'Disable',
        }
      : {
          title: 'Give it another text?',
          text: 'The old text is refused from the next request on; the new one is shown once.',
          yes: 'Rotate',
        }),
    onYes,
    onClose,
  });

const MadeToken = ({
  onClose,
  token,
}: {
  readonly token: Token;
  readonly onClose: () => void;
}): JSX.Element =>
  h(
    Dialog,
    { title: 'The token', onClose },
    h('p', null, 'Keep it now: a secret token is shown whole this once.'),
    h('code', { class: 'secret', style: { margin: '12px 0' } }, token.token),
    h(
      'div',
      { class: 'actions' },
      h('button', { onClick: () => void navigator.clipboard?.writeText(token.token) }, 'Copy'),
      h('button', { class: 'primary', onClick: onClose }, 'I have it'),
    ),
  );

const rightsText = ({ grants, kind }: Token): string => {
  if (grants === null) return kind === 'secret' ? 'everything of the account' : 'reads CORE';
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
  { title: 'May', show: (token: Token) => rightsText(token) },
  {
    title: 'Limit a month',
    isNumber: true,
    show: ({ messageLimit }: Token) => (messageLimit === null ? 'none' : number(messageLimit)),
  },
  {
    title: 'Last used',
    class: 'nowrap soft',
    show: ({ lastUsed }: Token) => (lastUsed === null ? 'never' : time(lastUsed)),
  },
  {
    title: 'Do',
    show: (token: Token) => {
      const told = token.name === '' ? token.token : token.name;
      const button = (what: Act | 'enable', title: string): JSX.Element =>
        h(
          'button',
          {
            class: `small ${what === 'disable' ? 'danger' : ''}`,
            'aria-label': `${title} ${told}`,
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
