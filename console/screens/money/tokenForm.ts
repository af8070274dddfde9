// A new token: its kind, its rights, its limit.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { useDeed } from '../../asking/useAsk.ts';
import { Dialog } from '../../showing/dialog.ts';
import { Choice, Failed, Text } from '../../showing/parts.ts';

export interface Token {
  readonly tokenId: string;
  readonly token: string;
  readonly kind: string;
  readonly test: boolean;
  readonly name: string;
  readonly disabled: boolean;
  readonly messageLimit: number | null;
  readonly grants:
    readonly { readonly datasets: string; readonly rights: readonly string[] }[] | null;
  readonly created: number;
  readonly lastUsed: number | null;
}

interface FormProps {
  readonly onClose: () => void;
  readonly onMade: (token: Token) => void;
}

const KINDS = [
  ['publishable', 'Publishable: reads what is granted; may be shown'],
  ['secret', 'Secret: manages too; keep it on servers'],
] as const;
const GRANTED = '*, WORKSPACE.* or WORKSPACE.DATASET, with commas between.';
const RIGHTS = ['read', 'write', 'delete'] as const;

export function TokenForm({ onClose, onMade }: FormProps): JSX.Element {
  const [kind, setKind] = useState<string>('publishable');
  const [name, setName] = useState('');
  const [datasets, setDatasets] = useState('*');
  const [rights, setRights] = useState<readonly string[]>(['read']);
  const [limit, setLimit] = useState('');
  const { isBusy, problem, run } = useDeed();
  const save = (event: Event): void => {
    event.preventDefault();
    const granted = datasets.split(/[\s,]+/).filter((one) => one !== '');
    const json = {
      kind,
      name,
      messageLimit: limit.trim() === '' ? null : Number(limit),
      grants:
        granted.length === 0
          ? null
          : granted.map((one) => ({
              datasets: one,
              rights,
            })),
    };
    run(async () => onMade((await ask<Token>(pathOf(['account', 'tokens']), { json })).value));
  };
  return h(
    Dialog,
    { title: 'Make a token', onClose },
    h(
      'form',
      { class: 'stack', onSubmit: save },
      h(Choice, { label: 'Kind', value: kind, options: KINDS, onPick: setKind }),
      h(Text, { label: 'Name', value: name, onText: setName, hint: 'What it is for.' }),
      h(Text, {
        label: 'Datasets',
        value: datasets,
        onText: setDatasets,
        hint: `${GRANTED} Empty: ${kind === 'secret' ? 'everything of the account' : 'CORE alone'}.`,
      }),
      h(Rights, { rights, onRights: setRights }),
      h(Text, {
        label: 'Messages a month',
        value: limit,
        onText: setLimit,
        hint: 'Empty: no limit of its own.',
      }),
      problem === undefined ? null : h(Failed, { problem }),
      h(
        'div',
        { class: 'actions' },
        h('button', { type: 'button', onClick: onClose }, 'Cancel'),
        h('button', { class: 'primary', type: 'submit', disabled: isBusy }, 'Make it'),
      ),
    ),
  );
}

interface RightsProps {
  readonly rights: readonly string[];
  readonly onRights: (rights: readonly string[]) => void;
}

const Rights = ({ onRights, rights }: RightsProps): JSX.Element =>
  h(
    'fieldset',
    null,
    h('legend', null, 'Rights'),
    h(
      'div',
      { class: 'row-of' },
      RIGHTS.map((right) =>
        h(
          'label',
          { key: right, class: 'check' },
          h('input', {
            type: 'checkbox',
            checked: rights.includes(right),
            onChange: () =>
              onRights(RIGHTS.filter((one) => (one === right) !== rights.includes(one))),
          }),
          right,
        ),
      ),
    ),
  );
