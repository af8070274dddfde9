// Screen of one dataset with its tabs and the version slider.
import { h, type JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Dataset, Version } from '../../api/answers.ts';
import { apiPath } from '../../api/client.ts';
import { useApi } from '../../api/useApi.ts';
import { screenHref } from '../../routing/place.ts';
import { number, plural, time } from '../../components/formats.ts';
import { Badge, Facts, Head, renderRequest, Tabs } from '../../components/parts.ts';
import { AsOf, listChanges } from './asOf.ts';
import { IndexChoice } from './indexChoice.ts';
import { Profile } from './profile.ts';
import { Quality } from './quality.ts';
import { Records } from './records.ts';
import { Schema } from './schema.ts';
import { SeriesChart } from './seriesChart.ts';
import { Versions } from './versions.ts';

interface DatasetProps {
  readonly workspace: string;
  readonly id: string;
  readonly query: URLSearchParams;
  readonly isSecret: boolean;
}

const TABS = [
  ['records', 'Records'],
  ['chart', 'Chart'],
  ['profile', 'Profile'],
  ['schema', 'Schema'],
  ['versions', 'Versions'],
  ['quality', 'Quality'],
] as const;

/** Tabs that require a secret token. */
const OWNER_TABS: readonly string[] = ['versions', 'quality'];

export function DatasetScreen({ id, isSecret, query, workspace }: DatasetProps): JSX.Element {
  const path = isSecret ? ['datasets', workspace, id] : ['data', workspace];
  const request = useApi<Dataset | readonly Dataset[]>(apiPath(path));
  return h(
    'div',
    null,
    h(
      Head,
      {
        title: id,
        crumb: [h('a', { href: screenHref(['datasets', workspace]) }, workspace), ' / dataset'],
      },
      h(
        'a',
        {
          class: 'button',
          href: screenHref(['sql', workspace], { q: `SELECT * FROM ${plainName(id)} LIMIT 100` }),
        },
        'Query',
      ),
    ),
    renderRequest(request, 'the dataset', (value) => {
      const dataset = findDataset(value, id);
      if (dataset === undefined)
        return h('p', { class: 'notice warn' }, `There is no dataset ${id}.`);
      return h(DatasetTabs, { dataset, query, isSecret, onChanged: request.reload });
    }),
  );
}

interface DatasetTabsProps {
  readonly dataset: Dataset;
  readonly query: URLSearchParams;
  readonly isSecret: boolean;
  readonly onChanged: () => void;
}

function DatasetTabs({ dataset, isSecret, onChanged, query }: DatasetTabsProps): JSX.Element {
  const { datasetId, weight, workspace } = dataset;
  // A view has no records, versions or quarantine.
  const isOwner = isSecret && weight !== null;
  const versions = useApi<readonly Version[]>(
    isOwner ? apiPath(['datasets', workspace, datasetId, 'versions']) : undefined,
  );
  const changes = useMemo(() => listChanges(versions.answer?.value ?? []), [versions.answer]);
  const tab = query.get('tab') ?? 'records';
  const asOf = query.get('asOf') ?? undefined;
  const tabs = TABS.filter(([name]) => isOwner || !OWNER_TABS.includes(name)).map(
    ([name, title]) => ({
      id: name,
      title,
      href: screenHref(['datasets', workspace, datasetId], {
        tab: name,
        asOf,
      }),
    }),
  );
  return h(
    'div',
    null,
    h(Overview, { dataset }),
    isOwner && dataset.inferredIndex === true && indexNames(dataset).length > 0
      ? h(IndexChoice, { dataset, onChanged })
      : null,
    h(Tabs, { label: 'Parts of the dataset', tabs, chosen: tab }),
    tab === 'records' || tab === 'chart' ? h(AsOf, { changes, query }) : null,
    h(TabContent, { tab, dataset, query, versions: versions.answer?.value ?? [] }),
  );
}

/** Quotes an id in back-ticks only if needed. */
const plainName = (id: string): string => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(id) ? id : `\`${id}\``);

const isList = (value: Dataset | readonly Dataset[]): value is readonly Dataset[] =>
  Array.isArray(value);

const findDataset = (value: Dataset | readonly Dataset[], id: string): Dataset | undefined =>
  isList(value) ? value.find(({ datasetId }) => datasetId === id) : value;

const indexNames = ({ columnMapping: { date, key, subkey } }: Dataset): readonly string[] =>
  [key, subkey, date].filter((name) => name !== undefined);

function indexTitle({ inferredIndex, uniqueIndex }: Dataset): string {
  if (uniqueIndex !== false) return 'Unique index';
  return inferredIndex === true ? 'Inferred index' : 'Order';
}

const Overview = ({ dataset }: { readonly dataset: Dataset }): JSX.Element => {
  const { description, keys, records, source, title, updated, weight } = dataset;
  const index = indexNames(dataset);
  return h(
    'section',
    { class: 'card', 'aria-label': 'Overview' },
    h(
      'div',
      { class: 'body stack' },
      title === '' && description === ''
        ? null
        : h('div', null, h('strong', null, title), h('p', { class: 'soft' }, description)),
      h(Facts, {
        of: [
          ['Records', records == null ? '–' : number(records)],
          ['Keys', keys == null ? '–' : number(keys)],
          [indexTitle(dataset), index.length === 0 ? 'none' : index.join(', ')],
          ['Weight', weight === null ? 'of its datasets' : plural(weight, 'message')],
          ['Changed', updated === undefined ? '–' : time(updated)],
          ['Source', source === '' ? 'not specified' : source],
        ],
      }),
      dataset.expectations !== undefined && dataset.expectations.length > 0
        ? h(Badge, { text: plural(dataset.expectations.length, 'expectation'), tone: 'accent' })
        : null,
    ),
  );
};

interface TabContentProps {
  readonly tab: string;
  readonly dataset: Dataset;
  readonly query: URLSearchParams;
  readonly versions: readonly Version[];
}

function TabContent({ dataset, query, tab, versions }: TabContentProps): JSX.Element {
  if (tab === 'chart') return h(SeriesChart, { dataset, query });
  if (tab === 'profile') return h(Profile, { dataset });
  if (tab === 'schema') return h(Schema, { dataset });
  if (tab === 'versions') return h(Versions, { dataset, versions });
  if (tab === 'quality') return h(Quality, { dataset });
  return h(Records, { dataset, query });
}
