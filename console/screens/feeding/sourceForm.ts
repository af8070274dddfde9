// A new source of any kind but of a query, which the SQL screen keeps; with the credential that opens it.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { useDeed } from '../../asking/useAsk.ts';
import { Dialog } from '../../showing/dialog.ts';
import { Choice, Failed, Text } from '../../showing/parts.ts';
import { type Field, type Kind, KINDS, membersOf, type Values } from './sourceKinds.ts';

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

/** Keeps the credential first, and takes it back when there is no source for it. */
async function makeSource(
  workspace: string,
  kind: Kind,
  name: string,
  values: Values,
): Promise<void> {
  const { credential = [], fields, title, type } = kind;
  const secret = membersOf(credential, values);
  const source = { name, type, ...membersOf(fields, values) };
  if (Object.keys(secret).length === 0) {
    await ask(pathOf(['data-sources', workspace]), { json: source });
    return;
  }
  const kept = { name: `${name} (${title})`, type, ...secret };
  const { value } = await ask<{ readonly credentialId: string }>(
    pathOf(['credentials', workspace]),
    { json: kept, secrets: credential.filter(({ secret }) => secret).map((one) => one.name) },
  );
  const { credentialId } = value;
  try {
    await ask(pathOf(['data-sources', workspace]), { json: { ...source, credentialId } });
  } catch (problem) {
    await ask(pathOf(['credentials', workspace, credentialId]), { method: 'DELETE' });
    throw problem;
  }
}

export function SourceForm({ onClose, onMade, workspace }: FormProps): JSX.Element {
  const [name, setName] = useState('');
  const [kind, setKind] = useState<Kind>(KINDS[0]);
  const [values, setValues] = useState<Values>({});
  const { isBusy, problem, run } = useDeed();
  const pick = (type: string): void => {
    setKind(KINDS.find((one) => one.type === type) ?? KINDS[0]);
    setValues({});
  };
  const save = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await makeSource(workspace, kind, name, values);
      onMade();
    });
  };
  const inputs = (fields: readonly Field[]): readonly JSX.Element[] =>
    fields.map(({ name: member, number: _, secret, ...field }) =>
      h(Text, {
        key: `${kind.type} ${member}`,
        value: values[member] ?? '',
        ...field,
        ...(secret === true ? { type: 'password' } : {}),
        onText: (text) =>
          setValues((before) => ({
            ...before,
            [member]: text,
          })),
      }),
    );
  return h(
    Dialog,
    { title: 'Add a source', onClose },
    h(
      'form',
      { class: 'stack', onSubmit: save },
      h(Text, { label: 'Name', value: name, onText: setName, required: true }),
      h(Choice, {
        label: 'Kind',
        value: kind.type,
        onPick: pick,
        options: KINDS.map(({ title, type }) => [type, title] as const),
      }),
      inputs(kind.fields),
      inputs(kind.credential ?? []),
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
