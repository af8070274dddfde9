// Lists the objects in a source's bucket, one folder and one page at a time.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { apiPath } from '../../api/client.ts';
import { useApi } from '../../api/useApi.ts';
import { Card, Empty, renderRequest } from '../../components/parts.ts';
import { Table } from '../../components/table.ts';
import type { Source } from './sourceForm.ts';

interface Page {
  readonly folders: readonly string[];
  readonly objects: readonly Item[];
  readonly nextPage: string | null;
}

interface Item {
  readonly key: string;
  readonly size: number | undefined;
  readonly lastModified: number | null;
}

interface Props {
  readonly workspace: string;
  readonly source: Source;
}

export function BucketObjects({ source, workspace }: Props): JSX.Element {
  const [prefix, setPrefix] = useState('');
  const [pages, setPages] = useState<readonly string[]>([]);
  const page = pages.at(-1);
  const place = ['bucket-objects', workspace, source.dataSourceId];
  const request = useApi<Page>(apiPath(place, { folders: true, prefix, page }));
  const open = (folder: string): void => {
    setPages([]);
    setPrefix(folder);
  };
  const above = prefix.split('/').slice(0, -2).join('/');
  const nextPage = request.answer?.value.nextPage ?? undefined;
  return h(
    Card,
    { title: `Objects of ${source.name}: /${prefix}`, flush: true },
    h(
      'div',
      { class: 'row-of' },
      button('Up', prefix === '' ? undefined : () => open(above === '' ? '' : `${above}/`)),
      button('Back', page === undefined ? undefined : () => setPages(pages.slice(0, -1))),
      button('Next page', nextPage && (() => setPages([...pages, nextPage]))),
    ),
    renderRequest(request, 'its objects', ({ folders, objects }) => {
      const rows: readonly Item[] = [
        ...folders.map((key) => ({ key, size: undefined, lastModified: null })),
        ...objects,
      ];
      return rows.length === 0
        ? h(Empty, { title: 'No objects' })
        : h(Table<Item>, {
            label: `Objects of ${source.name}`,
            rows,
            columns: columnsFor(open),
          });
    }),
  );
}

const button = (title: string, onClick: (() => void) | undefined | ''): JSX.Element =>
  h('button', { class: 'small', disabled: !onClick, onClick: onClick || undefined }, title);

const columnsFor = (onOpen: (folder: string) => void) => [
  {
    title: 'Object',
    isHead: true,
    show: ({ key, size }: Item) =>
      size === undefined ? h('button', { class: 'small', onClick: () => onOpen(key) }, key) : key,
  },
  { title: 'Bytes', show: ({ size }: Item) => size?.toLocaleString('en') ?? '' },
  {
    title: 'Changed',
    class: 'soft',
    show: ({ lastModified }: Item) =>
      lastModified === null ? '' : new Date(lastModified).toISOString(),
  },
];
