// The views and endpoints of a workspace: opened in the editor, or deleted.
import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { useAsk, useDeed } from '../../asking/useAsk.ts';
import { Confirm } from '../../showing/dialog.ts';
import { Badge, Card, Empty, Failed, shown } from '../../showing/parts.ts';
import { Table } from '../../showing/table.ts';

interface SavedProps {
  readonly workspace: string;
  /** Grows when another one was saved. */
  readonly version: number;
  readonly onOpen: (query: string) => void;
}

interface Named {
  readonly kind: 'views' | 'endpoints';
  readonly id: string;
  readonly query: string;
  readonly description: string;
  readonly parameters: readonly { readonly name: string }[];
}

type Listed = Readonly<Record<string, unknown>>;

const namedOf = (kind: Named['kind'], one: Listed): Named => ({
  kind,
  id: String(one['datasetId'] ?? one['endpointId'] ?? one['id'] ?? one['name'] ?? ''),
  query: String(one['query'] ?? ''),
  description: String(one['description'] ?? ''),
  parameters: (one['parameters'] ?? []) as Named['parameters'],
});

export function Saved({ onOpen, version, workspace }: SavedProps): JSX.Element {
  const views = useAsk<readonly Listed[]>(pathOf(['views', workspace]));
  const endpoints = useAsk<readonly Listed[]>(pathOf(['endpoints', workspace]));
  const [doomed, setDoomed] = useState<Named | undefined>(undefined);
  const { problem, run } = useDeed();
  const again = (): void => {
    views.again();
    endpoints.again();
  };
  useEffect(() => {
    if (version > 0) again();
  }, [version]);
  const end = ({ id, kind }: Named): void =>
    run(async () => {
      setDoomed(undefined);
      await ask(pathOf([kind, workspace, id]), { method: 'DELETE' });
      again();
    });
  return h(
    Card,
    { title: 'Saved queries', flush: true },
    problem === undefined ? null : h(Failed, { problem }),
    shown(views, 'saved queries', (some) => {
      const rows = [
        ...some.map((one) => namedOf('views', one)),
        ...(endpoints.answer?.value ?? []).map((one) => namedOf('endpoints', one)),
      ];
      return rows.length === 0
        ? h(
            Empty,
            { title: 'None yet' },
            'Save a query as an endpoint, and programs ask it by its address.',
          )
        : h(Table<Named>, {
            label: 'Saved queries',
            rows,
            columns: columnsFor(workspace, onOpen, setDoomed),
          });
    }),
    doomed === undefined
      ? null
      : h(Confirm, {
          title: `Delete ${doomed.id}?`,
          text: 'Programs that ask for it are answered that it is not there.',
          yes: 'Delete',
          onYes: () => end(doomed),
          onClose: () => setDoomed(undefined),
        }),
  );
}

const columnsFor = (
  workspace: string,
  onOpen: (query: string) => void,
  onEnd: (named: Named) => void,
) => [
  { title: 'Name', isHead: true, show: ({ id }: Named) => id },
  {
    title: 'Kind',
    show: ({ kind }: Named) =>
      h(Badge, kind === 'views' ? { text: 'view' } : { text: 'endpoint', tone: 'accent' as const }),
  },
  {
    title: 'Address',
    show: ({ id, kind, parameters }: Named) =>
      h(
        'code',
        null,
        kind === 'views' ? pathOf(['data', workspace, id]) : pathOf(['endpoints', workspace, id]),
        parameters.length === 0 ? '' : `?${parameters.map(({ name }) => `${name}=…`).join('&')}`,
      ),
  },
  { title: 'Description', class: 'soft', show: ({ description }: Named) => description },
  {
    title: 'Do',
    show: (named: Named) =>
      h(
        'div',
        { class: 'row-of' },
        h(
          'button',
          { class: 'small', 'aria-label': `Open ${named.id}`, onClick: () => onOpen(named.query) },
          'Open',
        ),
        h(
          'button',
          {
            class: 'small danger',
            'aria-label': `Delete ${named.id}`,
            onClick: () => onEnd(named),
          },
          'Delete',
        ),
      ),
  },
];
