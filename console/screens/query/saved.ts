// List of the saved views and endpoints of a workspace; opens them in the editor or deletes them.
import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { useApi, useAction } from '../../api/useApi.ts';
import { Confirm } from '../../components/dialog.ts';
import { Badge, Card, Empty, Failed, renderRequest } from '../../components/parts.ts';
import { Table } from '../../components/table.ts';

interface SavedProps {
  readonly workspace: string;
  /** Incremented when a query is saved. */
  readonly version: number;
  readonly onOpen: (query: string) => void;
}

interface SavedQuery {
  readonly kind: 'views' | 'endpoints';
  readonly id: string;
  readonly query: string;
  readonly description: string;
  readonly parameters: readonly { readonly name: string }[];
}

type ListedQuery = Readonly<Record<string, unknown>>;

const toSavedQuery = (kind: SavedQuery['kind'], one: ListedQuery): SavedQuery => ({
  kind,
  id: String(one['datasetId'] ?? one['endpointId'] ?? one['id'] ?? one['name'] ?? ''),
  query: String(one['query'] ?? ''),
  description: String(one['description'] ?? ''),
  parameters: (one['parameters'] ?? []) as SavedQuery['parameters'],
});

export function Saved({ onOpen, version, workspace }: SavedProps): JSX.Element {
  const views = useApi<readonly ListedQuery[]>(apiPath(['views', workspace]));
  const endpoints = useApi<readonly ListedQuery[]>(apiPath(['endpoints', workspace]));
  const [pendingDelete, setPendingDelete] = useState<SavedQuery | undefined>(undefined);
  const { problem, run } = useAction();
  const reload = (): void => {
    views.reload();
    endpoints.reload();
  };
  useEffect(() => {
    if (version > 0) reload();
  }, [version]);
  const deleteQuery = ({ id, kind }: SavedQuery): void =>
    run(async () => {
      setPendingDelete(undefined);
      await callApi(apiPath([kind, workspace, id]), { method: 'DELETE' });
      reload();
    });
  return h(
    Card,
    { title: 'Saved queries', flush: true },
    problem === undefined ? null : h(Failed, { problem }),
    renderRequest(views, 'saved queries', (viewList) => {
      const rows = [
        ...viewList.map((one) => toSavedQuery('views', one)),
        ...(endpoints.answer?.value ?? []).map((one) => toSavedQuery('endpoints', one)),
      ];
      return rows.length === 0
        ? h(
            Empty,
            { title: 'No saved queries' },
            'Save a query as an endpoint to call it from programs.',
          )
        : h(Table<SavedQuery>, {
            label: 'Saved queries',
            rows,
            columns: columnsFor(workspace, onOpen, setPendingDelete),
          });
    }),
    pendingDelete === undefined
      ? null
      : h(Confirm, {
          title: `Delete ${pendingDelete.id}?`,
          text: 'Programs that request it receive status 404.',
          yes: 'Delete',
          onYes: () => deleteQuery(pendingDelete),
          onClose: () => setPendingDelete(undefined),
        }),
  );
}

const columnsFor = (
  workspace: string,
  onOpen: (query: string) => void,
  onEnd: (savedQuery: SavedQuery) => void,
) => [
  { title: 'Name', isHead: true, show: ({ id }: SavedQuery) => id },
  {
    title: 'Kind',
    show: ({ kind }: SavedQuery) =>
      h(Badge, kind === 'views' ? { text: 'view' } : { text: 'endpoint', tone: 'accent' as const }),
  },
  {
    title: 'Address',
    show: ({ id, kind, parameters }: SavedQuery) =>
      h(
        'code',
        null,
        kind === 'views' ? apiPath(['data', workspace, id]) : apiPath(['endpoints', workspace, id]),
        parameters.length === 0 ? '' : `?${parameters.map(({ name }) => `${name}=…`).join('&')}`,
      ),
  },
  { title: 'Description', class: 'soft', show: ({ description }: SavedQuery) => description },
  {
    title: 'Actions',
    show: (savedQuery: SavedQuery) =>
      h(
        'div',
        { class: 'row-of' },
        h(
          'button',
          {
            class: 'small',
            'aria-label': `Open ${savedQuery.id}`,
            onClick: () => onOpen(savedQuery.query),
          },
          'Open',
        ),
        h(
          'button',
          {
            class: 'small danger',
            'aria-label': `Delete ${savedQuery.id}`,
            onClick: () => onEnd(savedQuery),
          },
          'Delete',
        ),
      ),
  },
];
