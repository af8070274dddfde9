// A name for a query: a view, which other queries read as a table, or an endpoint with parameters for
// programs.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { useDeed } from '../../asking/useAsk.ts';
import { Dialog } from '../../showing/dialog.ts';
import { Choice, Failed, Text } from '../../showing/parts.ts';

interface SaveProps {
  readonly workspace: string;
  readonly text: string;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

const KINDS = [
  ['endpoints', 'Endpoint: an address that programs ask'],
  ['views', 'View: a table for other queries'],
] as const;

const PARAMETER = /[:$]\w+/g;
const NAME_MAX = 64;

/** Names of parameters that the text has; the server knows which of them are. A cast has two colons. */
const parametersOf = (text: string): readonly string[] => [
  ...new Set(
    [...text.matchAll(PARAMETER)]
      .filter(
        ({ index, 0: found }) => !/[:\w]/.test(text[index - 1] ?? '') && !/\d/.test(found[1] ?? ''),
      )
      .map(([found]) => found.slice(1, NAME_MAX + 1)),
  ),
];

export function SaveQuery({ onClose, onSaved, text, workspace }: SaveProps): JSX.Element {
  const [kind, setKind] = useState<string>(KINDS[0][0]);
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const { isBusy, problem, run } = useDeed();
  const parameters = kind === 'endpoints' ? parametersOf(text) : [];
  const [types, setTypes] = useState<Readonly<Record<string, string>>>({});
  const save = (event: Event): void => {
    event.preventDefault();
    const said = { query: text, description };
    const typed = parameters.map((one) => ({ name: one, type: types[one] ?? 'string' }));
    const json = kind === 'views' ? { view: said } : { endpoint: { ...said, parameters: typed } };
    run(async () => {
      await ask(pathOf([kind, workspace, name.trim()]), { json });
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
