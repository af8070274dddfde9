// Form for a new token: kind, rights and limit.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { useAction } from '../../api/useApi.ts';
import { Dialog } from '../../components/dialog.ts';
import { Choice, Failed, Text } from '../../components/parts.ts';

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
  readonly onCreated: (token: Token) => void;
}

const KINDS = [
  ['publishable', 'Publishable: reads what it is granted; safe to publish'],
  ['secret', 'Secret: also manages the account; keep it on servers'],
] as const;
const GRANTED = '*, WORKSPACE.* or WORKSPACE.DATASET, separated by commas.';
const RIGHTS = ['read', 'write', 'delete'] as const;

export function TokenForm({ onClose, onCreated }: FormProps): JSX.Element {
  const [kind, setKind] = useState<string>('publishable');
  const [name, setName] = useState('');
  const [datasets, setDatasets] = useState('*');
  const [rights, setRights] = useState<readonly string[]>(['read']);
  const [limit, setLimit] = useState('');
  const { isBusy, problem, run } = useAction();
  const save = (event: Event): void => {
    event.preventDefault();
    const patterns = datasets.split(/[\s,]+/).filter((one) => one !== '');
    const json = {
      kind,
      name,
      messageLimit: limit.trim() === '' ? null : Number(limit),
      grants:
        patterns.length === 0
          ? null
          : patterns.map((one) => ({
              datasets: one,
              rights,
            })),
    };
    run(async () =>
      onCreated((await callApi<Token>(apiPath(['account', 'tokens']), { json })).value),
    );
  };
  return h(
    Dialog,
    { title: 'Create a token', onClose },
    h(
      'form',
      { class: 'stack', onSubmit: save },
      h(Choice, { label: 'Kind', value: kind, options: KINDS, onPick: setKind }),
      h(Text, { label: 'Name', value: name, onText: setName, hint: 'The purpose of the token.' }),
      h(Text, {
        label: 'Datasets',
        value: datasets,
        onText: setDatasets,
        hint: `${GRANTED} Leave empty for ${kind === 'secret' ? 'the whole account' : 'CORE only'}.`,
      }),
      h(Rights, { rights, onRights: setRights }),
      h(Text, {
        label: 'Messages per month',
        value: limit,
        onText: setLimit,
        hint: 'Leave empty for no limit.',
      }),
      problem === undefined ? null : h(Failed, { problem }),
      h(
        'div',
        { class: 'actions' },
        h('button', { type: 'button', onClick: onClose }, 'Cancel'),
        h('button', { class: 'primary', type: 'submit', disabled: isBusy }, 'Create'),
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
