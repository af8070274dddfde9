// List of the datasets in a workspace, searchable by words of names, titles and columns.
import { h, type JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type Dataset, type Workspace } from '../../api/answers.ts';
import { apiPath } from '../../api/client.ts';
import type { Session } from '../../api/session.ts';
import { useApi } from '../../api/useApi.ts';
import { screenHref, replaceQuery } from '../../routing/place.ts';
import { bytes, number, plural, time } from '../../components/formats.ts';
import { Badge, Card, Empty, Head, renderRequest } from '../../components/parts.ts';
import { TABLE_ROWS_MAX, Table } from '../../components/table.ts';

interface DatasetsProps {
  readonly workspace: string;
  readonly query: URLSearchParams;
  readonly session: Session;
}

export function Datasets({ query, session, workspace }: DatasetsProps): JSX.Element {
  const path = session.isSecret ? ['datasets', workspace] : ['data', workspace];
  const request = useApi<readonly Dataset[]>(workspace === '' ? undefined : apiPath(path));
  const spaces = useApi<readonly Workspace[]>(
    session.isSecret ? apiPath(['workspaces']) : undefined,
  );
  const [words, setWords] = useState(query.get('search') ?? '');
  const search = (event: Event): void => {
    const { value } = event.target as HTMLInputElement;
    setWords(value);
    replaceQuery({ search: value });
  };
  const storage = spaces.answer?.value.find((one) => one.workspace === workspace)?.storage;
  return h(
    'div',
    null,
    h(
      Head,
      { title: 'Datasets' },
      h('input', {
        type: 'search',
        placeholder: 'Search names, titles, columns  /',
        value: words,
        'aria-label': 'Search datasets',
        onInput: search,
        style: { width: '280px' },
      }),
      session.isSecret
        ? h('a', { class: 'button primary', href: screenHref(['load', workspace]) }, 'Load a file')
        : null,
    ),
    storage === undefined
      ? null
      : h(
          'p',
          { class: 'soft small', style: { marginBottom: '12px' } },
          `${bytes(storage.live)} of records, ${bytes(storage.history)} of earlier versions, ` +
            `limit ${bytes(storage.limit)}`,
        ),
    workspace === ''
      ? h(Empty, { title: 'This token can read no workspace.' })
      : renderRequest(request, 'datasets', (all) => h(DatasetList, { all, words, workspace })),
  );
}

interface ListProps {
  readonly all: readonly Dataset[];
  readonly words: string;
  readonly workspace: string;
}

function DatasetList({ all, words, workspace }: ListProps): JSX.Element {
  const matches = useMemo(() => all.filter((one) => isMatch(one, words)), [all, words]);
  if (all.length === 0) {
    return h(
      Card,
      { title: workspace, flush: true },
      h(
        Empty,
        { title: 'No datasets yet' },
        'Load a CSV, JSON, Parquet or Arrow file: the first load creates the dataset.',
        h(
          'div',
          { class: 'row-of' },
          h('a', { class: 'button primary', href: screenHref(['load', workspace]) }, 'Load a file'),
        ),
      ),
    );
  }
  const more =
    matches.length > TABLE_ROWS_MAX ? `, showing the first ${number(TABLE_ROWS_MAX)}` : '';
  return h(
    Card,
    { title: `${plural(matches.length, 'dataset')}${more}`, flush: true },
    matches.length === 0
      ? h(
          Empty,
          { title: 'No dataset matches' },
          'Search by part of a name, title, source or column.',
        )
      : h(Table<Dataset>, { label: 'Datasets', columns: COLUMNS, rows: matches }),
  );
}

const COLUMNS = [
  {
    title: 'Dataset',
    isHead: true,
    show: ({ datasetId, title, weight, workspace }: Dataset) => [
      h('a', { href: screenHref(['datasets', workspace, datasetId]) }, datasetId),
      weight === null ? [' ', h(Badge, { text: 'view' })] : null,
      title === '' ? null : h('div', { class: 'soft small' }, title),
    ],
  },
  { title: 'Records', isNumber: true, show: ({ records }: Dataset) => countText(records) },
  { title: 'Keys', isNumber: true, show: ({ keys }: Dataset) => countText(keys) },
  {
    title: 'Columns',
    class: 'soft',
    show: ({ schema }: Dataset) =>
      h('div', { class: 'clip' }, Object.keys(schema.properties).join(', ')),
  },
  {
    title: 'Source',
    class: 'soft',
    show: ({ source }: Dataset) => h('div', { class: 'clip' }, source),
  },
  { title: 'Weight', isNumber: true, show: ({ weight }: Dataset) => countText(weight) },
  {
    title: 'Changed',
    class: 'nowrap soft',
    show: ({ updated }: Dataset) => (updated === undefined ? '' : time(updated)),
  },
];

const countText = (count: number | null | undefined): string =>
  count == null ? '–' : number(count);

function isMatch(
  { datasetId, description, schema, source, title }: Dataset,
  words: string,
): boolean {
  const text = [datasetId, title, description, source, ...Object.keys(schema.properties)]
    .join(' ')
    .toLowerCase();
  return words
    .toLowerCase()
    .split(' ')
    .every((word) => text.includes(word));
}
