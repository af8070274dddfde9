// Declares or removes the unique index of a dataset whose index was inferred. The server proves a declared
// index on all records before it changes anything.
import { h, type JSX } from 'preact';
import type { Dataset } from '../../api/answers.ts';
import { callApi, apiPath } from '../../api/client.ts';
import { useAction } from '../../api/useApi.ts';
import { Failed } from '../../components/parts.ts';

interface Props {
  readonly dataset: Dataset;
  readonly onChanged: () => void;
}

export function IndexChoice({ dataset, onChanged }: Props): JSX.Element | null {
  const { columnMapping, datasetId, uniqueIndex, workspace } = dataset;
  const { isBusy, problem, run } = useAction();
  const parts = [columnMapping.key, columnMapping.subkey, columnMapping.date];
  const indexColumns = parts.filter((name) => name !== undefined).join(', ');
  const isUnique = uniqueIndex !== false;
  const declare = (unique: boolean): void =>
    run(async () => {
      const members = unique ? { columnMapping, uniqueIndex: true } : { uniqueIndex: false };
      await callApi(apiPath(['datasets', workspace, datasetId]), {
        method: 'PATCH',
        json: members,
      });
      onChanged();
    });
  const text = isUnique
    ? `An earlier version inferred the unique index ${indexColumns}: duplicates are not stored. ` +
      'Declare it if that is correct, or keep every record.'
    : `The index ${indexColumns} was inferred from data. It orders and finds records; every record stays. ` +
      'Declare it as unique if a newer record should replace an earlier one.';
  return h(
    'div',
    { class: isUnique ? 'notice warn' : 'notice' },
    h('p', null, text),
    problem === undefined ? null : h(Failed, { problem }),
    h(
      'button',
      { disabled: isBusy, onClick: () => declare(true) },
      isBusy ? 'Checking all records …' : `Declare ${indexColumns} as unique`,
    ),
    isUnique
      ? h('button', { disabled: isBusy, onClick: () => declare(false) }, 'Keep every record')
      : null,
  );
}
