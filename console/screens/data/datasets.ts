// The datasets of a workspace: found by any word of their names, titles or columns.
import { h, type JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type Dataset, type Workspace } from '../../asking/answers.ts';
import { pathOf } from '../../asking/ask.ts';
import type { Session } from '../../asking/session.ts';
import { useAsk } from '../../asking/useAsk.ts';
import { hrefOf, restate } from '../../routing/place.ts';
import { bytes, number, plural, time } from '../../showing/formats.ts';
import { Badge, Card, Empty, Head, shown } from '../../showing/parts.ts';
import { ROWS_SHOWN_MAX, Table } from '../../showing/table.ts';

interface DatasetsProps {
  readonly workspace: string;
  readonly query: URLSearchParams;
  readonly session: Session;
}

export function Datasets({ query, session, workspace }: DatasetsProps): JSX.Element {
  const path = session.isSecret ? ['datasets', workspace] : ['data', workspace];
  const asked = useAsk<readonly Dataset[]>(workspace === '' ? undefined : pathOf(path));
  const spaces = useAsk<readonly Workspace[]>(
    session.isSecret ? pathOf(['workspaces']) : undefined,
  );
  const [words, setWords] = useState(query.get('search') ?? '');
  const search = (event: Event): void => {
    const { value } = event.target as HTMLInputElement;
    setWords(value);
    restate({ search: value });
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
        ? h('a', { class: 'button primary', href: hrefOf(['load', workspace]) }, 'Load a file')
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
      ? h(Empty, { title: 'This token reads no workspace.' })
      : shown(asked, 'datasets', (all) => h(DatasetList, { all, words, workspace })),
  );
}

interface ListProps {
  readonly all: readonly Dataset[];
  readonly words: string;
  readonly workspace: string;
}

function DatasetList({ all, words, workspace }: ListProps): JSX.Element {
  const found = useMemo(() => all.filter((one) => isFound(one, words)), [all, words]);
  if (all.length === 0) {
    return h(
      Card,
      { title: workspace, flush: true },
      h(
        Empty,
        { title: 'No datasets yet' },
        'Load a CSV, JSON, Parquet or Arrow file: the first load makes the dataset, types and all.',
        h(
          'div',
          { class: 'row-of' },
          h('a', { class: 'button primary', href: hrefOf(['load', workspace]) }, 'Load a file'),
        ),
      ),
    );
  }
  const more =
    found.length > ROWS_SHOWN_MAX ? `, the first ${number(ROWS_SHOWN_MAX)} are shown` : '';
  return h(
    Card,
    { title: `${plural(found.length, 'dataset')}${more}`, flush: true },
    found.length === 0
      ? h(
          Empty,
          { title: 'None has these words' },
          'Search by a part of a name, title, source or column.',
        )
      : h(Table<Dataset>, { label: 'Datasets', columns: COLUMNS, rows: found }),
  );
}

const COLUMNS = [
  {
    title: 'Dataset',
    isHead: true,
    show: ({ datasetId, title, weight, workspace }: Dataset) => [
      h('a', { href: hrefOf(['datasets', workspace, datasetId]) }, datasetId),
      weight === null ? [' ', h(Badge, { text: 'view' })] : null,
      title === '' ? null : h('div', { class: 'soft small' }, title),
    ],
  },
  { title: 'Records', isNumber: true, show: ({ records }: Dataset) => counted(records) },
  { title: 'Keys', isNumber: true, show: ({ keys }: Dataset) => counted(keys) },
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
  { title: 'Weight', isNumber: true, show: ({ weight }: Dataset) => counted(weight) },
  {
    title: 'Changed',
    class: 'nowrap soft',
    show: ({ updated }: Dataset) => (updated === undefined ? '' : time(updated)),
  },
];

const counted = (count: number | null | undefined): string => (count == null ? '–' : number(count));

function isFound(
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
