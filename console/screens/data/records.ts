// Records tab of a dataset, page by page, optionally filtered by one key.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Dataset } from '../../api/answers.ts';
import { apiPath } from '../../api/client.ts';
import { useApi } from '../../api/useApi.ts';
import { replaceQuery } from '../../routing/place.ts';
import { number, plural } from '../../components/formats.ts';
import { Card, Empty, renderRequest } from '../../components/parts.ts';
import { type Row, Sheet } from '../../components/sheet.ts';

interface RecordsProps {
  readonly dataset: Dataset;
  readonly query: URLSearchParams;
}

const PAGE_SIZE = 50;

export function Records({ dataset, query }: RecordsProps): JSX.Element {
  const { columnMapping, datasetId, records, schema, workspace } = dataset;
  const page = Math.max(1, Number(query.get('page') ?? 1) || 1);
  const key = query.get('key') ?? '';
  const asOf = query.get('asOf') ?? undefined;
  const path = ['data', workspace, datasetId, ...(key === '' ? [] : [key])];
  const isDated = columnMapping.date !== undefined;
  const request = useApi<readonly Row[]>(
    apiPath(path, {
      ...(isDated ? { last: PAGE_SIZE } : { limit: PAGE_SIZE }),
      offset: (page - 1) * PAGE_SIZE || undefined,
      asOf,
    }),
  );
  const turnPage = (to: number): void => replaceQuery({ ...Object.fromEntries(query), page: to });
  const count = request.answer?.value.length ?? 0;
  const all = key === '' && asOf === undefined ? records : undefined;
  return h(
    Card,
    {
      title: 'Records',
      flush: true,
      actions: [
        columnMapping.key === undefined
          ? null
          : h(KeyFilter, { name: columnMapping.key, value: key, query }),
        h(
          'button',
          { class: 'small', disabled: page <= 1, onClick: () => turnPage(page - 1) },
          'Newer',
        ),
        h(
          'span',
          { class: 'small soft', 'aria-live': 'polite' },
          count === 0
            ? `page ${page}`
            : `${number((page - 1) * PAGE_SIZE + 1)} to ${number((page - 1) * PAGE_SIZE + count)}`,
          all == null ? '' : ` of ${number(all)}`,
        ),
        h(
          'button',
          { class: 'small', disabled: count < PAGE_SIZE, onClick: () => turnPage(page + 1) },
          'Older',
        ),
      ],
    },
    renderRequest(request, 'records', (rows, messages) =>
      rows.length === 0
        ? h(Empty, { title: 'No records' }, emptyAdvice(key, asOf))
        : [
            h(Sheet, {
              label: `Records of ${datasetId}`,
              columns: Object.keys(schema.properties),
              from: (page - 1) * PAGE_SIZE,
              rows,
            }),
            h('p', { class: 'row soft small' }, `This page cost ${plural(messages, 'message')}.`),
          ],
    ),
  );
}

function emptyAdvice(key: string, asOf: string | undefined): string {
  if (key !== '') return `No record has the key ${key}. Keys must match exactly.`;
  return asOf === undefined
    ? 'Load records, or go back a page.'
    : 'This version had no records yet.';
}

interface KeyProps {
  readonly name: string;
  readonly value: string;
  readonly query: URLSearchParams;
}

function KeyFilter({ name, query, value }: KeyProps): JSX.Element {
  const [text, setText] = useState(value);
  const submit = (event: Event): void => {
    event.preventDefault();
    replaceQuery({ ...Object.fromEntries(query), key: text.trim(), page: undefined });
  };
  return h(
    'form',
    { class: 'row-of', onSubmit: submit, role: 'search' },
    h('input', {
      type: 'search',
      value: text,
      placeholder: name,
      'aria-label': `Records of one ${name}`,
      style: { width: '150px' },
      onInput: (event: Event) => setText((event.target as HTMLInputElement).value),
    }),
    h('button', { class: 'small', type: 'submit' }, 'Show'),
  );
}
