// Form that saves a query as a view, which other queries read as a table, or as an endpoint with parameters.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { useAction } from '../../api/useApi.ts';
import { Dialog } from '../../components/dialog.ts';
import { Choice, Failed, Text } from '../../components/parts.ts';

interface SaveProps {
  readonly workspace: string;
  readonly text: string;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

const KINDS = [
  ['endpoints', 'Endpoint: an address for programs'],
  ['views', 'View: a table for other queries'],
] as const;

const PARAMETER = /[:$]\w+/g;
const NAME_MAX = 64;

/** Finds possible parameter names; the server checks them. A cast, with two colons, is not a parameter. */
const findParameters = (text: string): readonly string[] => [
  ...new Set(
    [...text.matchAll(PARAMETER)]
      .filter(
        ({ index, 0: match }) => !/[:\w]/.test(text[index - 1] ?? '') && !/\d/.test(match[1] ?? ''),
      )
      .map(([match]) => match.slice(1, NAME_MAX + 1)),
  ),
];

export function SaveQuery({ onClose, onSaved, text, workspace }: SaveProps): JSX.Element {
  const [kind, setKind] = useState<string>(KINDS[0][0]);
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const { isBusy, problem, run } = useAction();
  const parameters = kind === 'endpoints' ? findParameters(text) : [];
  const [types, setTypes] = useState<Readonly<Record<string, string>>>({});
  const save = (event: Event): void => {
    event.preventDefault();
    const definition = { query: text, description };
    const typedParameters = parameters.map((one) => ({ name: one, type: types[one] ?? 'string' }));
    const json =
      kind === 'views'
        ? { view: definition }
        : { endpoint: { ...definition, parameters: typedParameters } };
    run(async () => {
      await callApi(apiPath([kind, workspace, name.trim()]), { json });
      onSaved();
      onClose();
    });
  };
  return h(
    Dialog,
    { title: 'Save the query', onClose },
    h(
      'form',
      { class: 'stack', onSubmit: save },
      h(Choice, { label: 'Save as', value: kind, options: KINDS, onPick: setKind }),
      h(Text, {
        label: 'Name',
        value: name,
        onText: setName,
        required: true,
        hint: 'Letters, digits, _',
      }),
      h(Text, { label: 'Description', value: description, onText: setDescription }),
      parameters.map((one) =>
        h(Choice, {
          key: one,
          label: `Type of parameter ${one}`,
          value: types[one] ?? 'string',
          options: ['string', 'number', 'integer', 'boolean', 'date'].map(
            (type) => [type, type] as const,
          ),
          onPick: (type) => setTypes({ ...types, [one]: type }),
        }),
      ),
      problem === undefined ? null : h(Failed, { problem }),
      h(
        'div',
        { class: 'actions' },
        h('button', { type: 'button', onClick: onClose }, 'Cancel'),
        h('button', { class: 'primary', type: 'submit', disabled: isBusy }, 'Save'),
      ),
    ),
  );
}
