// The records of a dataset, a page at a time: all of them, or those of one key.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Dataset } from '../../asking/answers.ts';
import { pathOf } from '../../asking/ask.ts';
import { useAsk } from '../../asking/useAsk.ts';
import { restate } from '../../routing/place.ts';
import { number, plural } from '../../showing/formats.ts';
import { Card, Empty, shown } from '../../showing/parts.ts';
import { type Row, Sheet } from '../../showing/sheet.ts';

interface RecordsProps {
  readonly dataset: Dataset;
  readonly query: URLSearchParams;
}

const PAGE = 50;

export function Records({ dataset, query }: RecordsProps): JSX.Element {
  const { columnMapping, datasetId, records, schema, workspace } = dataset;
  const page = Math.max(1, Number(query.get('page') ?? 1) || 1);
  const key = query.get('key') ?? '';
  const asOf = query.get('asOf') ?? undefined;
  const path = ['data', workspace, datasetId, ...(key === '' ? [] : [key])];
  const isDated = columnMapping.date !== undefined;
  const asked = useAsk<readonly Row[]>(
    pathOf(path, {
      ...(isDated ? { last: PAGE } : { limit: PAGE }),
      offset: (page - 1) * PAGE || undefined,
      asOf,
    }),
  );
  const turn = (to: number): void => restate({ ...Object.fromEntries(query), page: to });
  const count = asked.answer?.value.length ?? 0;
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
          { class: 'small', disabled: page <= 1, onClick: () => turn(page - 1) },
          'Newer',
        ),
        h(
          'span',
          { class: 'small soft', 'aria-live': 'polite' },
          count === 0
            ? `page ${page}`
            : `${number((page - 1) * PAGE + 1)} to ${number((page - 1) * PAGE + count)}`,
          all == null ? '' : ` of ${number(all)}`,
        ),
        h(
          'button',
          { class: 'small', disabled: count < PAGE, onClick: () => turn(page + 1) },
          'Older',
        ),
      ],
    },
    shown(asked, 'records', (rows, messages) =>
      rows.length === 0
        ? h(Empty, { title: 'No records here' }, emptyAdvice(key, asOf))
        : [
            h(Sheet, {
              label: `Records of ${datasetId}`,
              columns: Object.keys(schema.properties),
              from: (page - 1) * PAGE,
              rows,
            }),
            h('p', { class: 'row soft small' }, `This page cost ${plural(messages, 'message')}.`),
          ],
    ),
  );
}

function emptyAdvice(key: string, asOf: string | undefined): string {
  if (key !== '') return `The key ${key} has none: keys are matched whole.`;
  return asOf === undefined ? 'Load some, or go back a page.' : 'This version had none yet.';
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
    restate({ ...Object.fromEntries(query), key: text.trim(), page: undefined });
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
