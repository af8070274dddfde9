// Sources screen: data sources, samples of them, and schedules.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { type ApiRequest, useApi, useAction } from '../../api/useApi.ts';
import { Confirm } from '../../components/dialog.ts';
import { Badge, Card, Empty, Failed, Head, renderRequest } from '../../components/parts.ts';
import { type Row, Sheet } from '../../components/sheet.ts';
import { Table } from '../../components/table.ts';
import { BucketObjects } from './bucketObjects.ts';
import { ScheduleForm } from './scheduleForm.ts';
import { Schedules } from './schedules.ts';
import { type Source, SourceForm, sourceLocation } from './sourceForm.ts';

export function Sources({ workspace }: { readonly workspace: string }): JSX.Element {
  const request = useApi<readonly Source[]>(apiPath(['data-sources', workspace]));
  const [form, setForm] = useState<'source' | 'schedule' | undefined>(undefined);
  const [version, setVersion] = useState(0);
  const sources = request.answer?.value ?? [];
  const close = (): void => setForm(undefined);
  return h(
    'div',
    null,
    h(
      Head,
      { title: 'Sources and schedules' },
      h('button', { onClick: () => setForm('source') }, 'Add a source'),
      h(
        'button',
        { class: 'primary', disabled: sources.length === 0, onClick: () => setForm('schedule') },
        'Create a schedule',
      ),
    ),
    h(Schedules, { workspace, sources, version }),
    h(SourceList, { workspace, request }),
    form === 'source'
      ? h(SourceForm, {
          workspace,
          onClose: close,
          onCreated: () => {
            close();
            request.reload();
          },
        })
      : null,
    form === 'schedule'
      ? h(ScheduleForm, {
          workspace,
          sources,
          onClose: close,
          onCreated: () => {
            close();
            setVersion(version + 1);
          },
        })
      : null,
  );
}

interface ListProps {
  readonly workspace: string;
  readonly request: ApiRequest<readonly Source[]>;
}

function SourceList({ request, workspace }: ListProps): JSX.Element {
  const [sampleSource, setSampleSource] = useState<Source | undefined>(undefined);
  const [bucketSource, setBucketSource] = useState<Source | undefined>(undefined);
  const [pendingDelete, setPendingDelete] = useState<Source | undefined>(undefined);
  const { problem, run } = useAction();
  const end = ({ dataSourceId }: Source): void =>
    run(async () => {
      setPendingDelete(undefined);
      await callApi(apiPath(['data-sources', workspace, dataSourceId]), { method: 'DELETE' });
      request.reload();
    });
  return h(
    'div',
    null,
    h(
      Card,
      { title: 'Sources', flush: true },
      problem === undefined ? null : h(Failed, { problem }),
      renderRequest(request, 'sources', (rows) =>
        rows.length === 0
          ? h(
              Empty,
              { title: 'No source yet' },
              'Add a URL, a file on the server, a bucket, a database or a feed.',
            )
          : h(Table<Source>, {
              label: 'Sources',
              rows,
              columns: columnsFor({
                onSample: setSampleSource,
                onList: setBucketSource,
                onEnd: setPendingDelete,
              }),
            }),
      ),
    ),
    sampleSource === undefined
      ? null
      : h(Sample, { key: sampleSource.dataSourceId, workspace, source: sampleSource }),
    bucketSource === undefined
      ? null
      : h(BucketObjects, { key: bucketSource.dataSourceId, workspace, source: bucketSource }),
    pendingDelete === undefined
      ? null
      : h(Confirm, {
          title: `Delete ${pendingDelete.name}?`,
          text: 'Loaded records stay. A source that a schedule uses cannot be deleted.',
          yes: 'Delete',
          onYes: () => end(pendingDelete),
          onClose: () => setPendingDelete(undefined),
        }),
  );
}

interface SourceActions {
  readonly onSample: (source: Source) => void;
  readonly onList: (source: Source) => void;
  readonly onEnd: (source: Source) => void;
}

const columnsFor = ({ onEnd, onList, onSample }: SourceActions) => [
  { title: 'Source', isHead: true, show: ({ name }: Source) => name },
  { title: 'Kind', show: ({ type }: Source) => h(Badge, { text: type.toLowerCase() }) },
  {
    title: 'Location',
    class: 'soft',
    show: (source: Source) => h('div', { class: 'clip' }, sourceLocation(source)),
  },
  {
    title: 'Actions',
    show: (source: Source) =>
      h(
        'div',
        { class: 'row-of' },
        h(
          'button',
          {
            class: 'small',
            'aria-label': `Sample ${source.name}`,
            onClick: () => onSample(source),
          },
          'Sample',
        ),
        source.type === 'AWS-S3'
          ? h(
              'button',
              {
                class: 'small',
                'aria-label': `Objects of ${source.name}`,
                onClick: () => onList(source),
              },
              'Objects',
            )
          : null,
        h(
          'button',
          {
            class: 'small danger',
            'aria-label': `Delete ${source.name}`,
            onClick: () => onEnd(source),
          },
          'Delete',
        ),
      ),
  },
];

interface SampleProps {
  readonly workspace: string;
  readonly source: Source;
}

/** Shows the first records of a source without storing them. */
function Sample({ source, workspace }: SampleProps): JSX.Element {
  const request = useApi<unknown>(apiPath(['sample-data-source', workspace, source.dataSourceId]));
  return h(
    Card,
    { title: `Sample of ${source.name}`, flush: true },
    renderRequest(request, 'its first records', (value) => {
      const rows = rowsOf(value);
      return rows.length === 0
        ? h(Empty, { title: 'No records' })
        : h(Sheet, { label: `Sample of ${source.name}`, rows });
    }),
  );
}

function rowsOf(value: unknown): readonly Row[] {
  if (Array.isArray(value)) return value as readonly Row[];
  const lists = Object.values(value ?? {}).filter(Array.isArray);
  return (lists[0] ?? []) as readonly Row[];
}
