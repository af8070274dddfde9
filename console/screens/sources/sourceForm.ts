// Form for a new source with its credential, of any kind except a query, which the SQL screen saves.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { useAction } from '../../api/useApi.ts';
import { Dialog } from '../../components/dialog.ts';
import { Choice, Failed, Text } from '../../components/parts.ts';
import { type Field, type Kind, KINDS, toMembers, type Values } from './sourceKinds.ts';

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

export const sourceLocation = (source: Source): string =>
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
  readonly onCreated: () => void;
}

/** Creates the credential, then the source. Deletes the credential if the source is refused. */
async function createSource(
  workspace: string,
  kind: Kind,
  name: string,
  values: Values,
): Promise<void> {
  const { credential = [], fields, title, type } = kind;
  const secret = toMembers(credential, values);
  const source = { name, type, ...toMembers(fields, values) };
  if (Object.keys(secret).length === 0) {
    await callApi(apiPath(['data-sources', workspace]), { json: source });
    return;
  }
  const credentialBody = { name: `${name} (${title})`, type, ...secret };
  const { value } = await callApi<{ readonly credentialId: string }>(
    apiPath(['credentials', workspace]),
    {
      json: credentialBody,
      secrets: credential.filter(({ secret }) => secret).map((one) => one.name),
    },
  );
  const { credentialId } = value;
  try {
    await callApi(apiPath(['data-sources', workspace]), { json: { ...source, credentialId } });
  } catch (problem) {
    await callApi(apiPath(['credentials', workspace, credentialId]), { method: 'DELETE' });
    throw problem;
  }
}

export function SourceForm({ onClose, onCreated, workspace }: FormProps): JSX.Element {
  const [name, setName] = useState('');
  const [kind, setKind] = useState<Kind>(KINDS[0]);
  const [values, setValues] = useState<Values>({});
  const { isBusy, problem, run } = useAction();
  const pick = (type: string): void => {
    setKind(KINDS.find((one) => one.type === type) ?? KINDS[0]);
    setValues({});
  };
  const save = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await createSource(workspace, kind, name, values);
      onCreated();
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
        h('button', { class: 'primary', type: 'submit', disabled: isBusy }, 'Add'),
      ),
    ),
  );
}
