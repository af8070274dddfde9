// A new source: a URL, or a file of the server. The kinds that need credentials are made by the API.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, pathOf } from '../asking/ask.ts';
import { useDeed } from '../asking/useAsk.ts';
import { Dialog } from '../showing/dialog.ts';
import { Choice, Failed, Text } from '../showing/parts.ts';

export interface Source {
  readonly dataSourceId: string;
  readonly name: string;
  readonly type: string;
  readonly url?: string;
  readonly path?: string;
  readonly awsbucketName?: string;
  readonly table?: string;
  readonly query?: string;
  readonly dataset?: string;
}

export const whereOf = (source: Source): string =>
  source.url ??
  source.path ??
  source.awsbucketName ??
  source.table ??
  source.dataset ??
  source.query ??
  '';

interface FormProps {
  readonly workspace: string;
  readonly onClose: () => void;
  readonly onMade: () => void;
}

const KINDS = [
  ['HTTP', 'URL'],
  ['FILE', 'File of the server’s source folder'],
] as const;

export function SourceForm({ onClose, onMade, workspace }: FormProps): JSX.Element {
  const [name, setName] = useState('');
  const [type, setType] = useState<string>('HTTP');
  const [where, setWhere] = useState('');
  const [jsonPath, setJsonPath] = useState('');
  const { isBusy, problem, run } = useDeed();
  const save = (event: Event): void => {
    event.preventDefault();
    const place = type === 'HTTP' ? { url: where.trim() } : { path: where.trim() };
    const json = {
      name,
      type,
      ...place,
      ...(jsonPath.trim() === '' ? {} : { jsonPath: jsonPath.trim() }),
    };
    run(async () => {
      await ask(pathOf(['data-sources', workspace]), { json });
      onMade();
    });
  };
  return h(
    Dialog,
    { title: 'Add a source', onClose },
    h(
      'form',
      { class: 'stack', onSubmit: save },
      h(Text, { label: 'Name', value: name, onText: setName, required: true }),
      h(Choice, { label: 'Kind', value: type, options: KINDS, onPick: setType }),
      h(Text, {
        ...{
          label: type === 'HTTP' ? 'URL' : 'Path',
          value: where,
          onText: setWhere,
          required: true,
        },
        placeholder: type === 'HTTP' ? 'https://example.com/prices.csv' : 'daily/prices.csv',
      }),
      h(Text, {
        label: 'Path of the records in a JSON document',
        value: jsonPath,
        onText: setJsonPath,
        hint: 'Such as $.data[*]. Empty: it is found.',
      }),
      problem === undefined ? null : h(Failed, { problem }),
      h(
        'div',
        { class: 'actions' },
        h('button', { type: 'button', onClick: onClose }, 'Cancel'),
        h('button', { class: 'primary', type: 'submit', disabled: isBusy }, 'Add it'),
      ),
    ),
  );
}
