// Where records come from by themselves: sources, and the schedules that take from them.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { type Asked, useAsk, useDeed } from '../../asking/useAsk.ts';
import { Confirm } from '../../showing/dialog.ts';
import { Badge, Card, Empty, Failed, Head, shown } from '../../showing/parts.ts';
import { type Row, Sheet } from '../../showing/sheet.ts';
import { Table } from '../../showing/table.ts';
import { BucketObjects } from './bucketObjects.ts';
import { ScheduleForm } from './scheduleForm.ts';
import { Schedules } from './schedules.ts';
import { type Source, SourceForm, whereOf } from './sourceForm.ts';

export function Sources({ workspace }: { readonly workspace: string }): JSX.Element {
  const asked = useAsk<readonly Source[]>(pathOf(['data-sources', workspace]));
  const [form, setForm] = useState<'source' | 'schedule' | undefined>(undefined);
  const [version, setVersion] = useState(0);
  const sources = asked.answer?.value ?? [];
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
        'Make a schedule',
      ),
    ),
    h(Schedules, { workspace, sources, version }),
    h(SourceList, { workspace, asked }),
    form === 'source'
      ? h(SourceForm, {
          workspace,
          onClose: close,
          onMade: () => {
            close();
            asked.again();
          },
        })
      : null,
    form === 'schedule'
      ? h(ScheduleForm, {
          workspace,
          sources,
          onClose: close,
          onMade: () => {
            close();
            setVersion(version + 1);
          },
        })
      : null,
  );
}

interface ListProps {
  readonly workspace: string;
  readonly asked: Asked<readonly Source[]>;
}

function SourceList({ asked, workspace }: ListProps): JSX.Element {
  const [sampled, setSampled] = useState<Source | undefined>(undefined);
  const [listed, setListed] = useState<Source | undefined>(undefined);
  const [doomed, setDoomed] = useState<Source | undefined>(undefined);
  const { problem, run } = useDeed();
  const end = ({ dataSourceId }: Source): void =>
    run(async () => {
      setDoomed(undefined);
      await ask(pathOf(['data-sources', workspace, dataSourceId]), { method: 'DELETE' });
      asked.again();
    });
  return h(
    'div',
    null,
    h(
      Card,
      { title: 'Sources', flush: true },
      problem === undefined ? null : h(Failed, { problem }),
      shown(asked, 'sources', (rows) =>
        rows.length === 0
          ? h(
              Empty,
              { title: 'No source yet' },
              'Where records come from: a URL, a file of the server, a bucket, a database, a feed.',
            )
          : h(Table<Source>, {
              label: 'Sources',
              rows,
              columns: columnsFor({ onSample: setSampled, onList: setListed, onEnd: setDoomed }),
            }),
      ),
    ),
    sampled === undefined
      ? null
      : h(Sample, { key: sampled.dataSourceId, workspace, source: sampled }),
    listed === undefined
      ? null
      : h(BucketObjects, { key: listed.dataSourceId, workspace, source: listed }),
    doomed === undefined
      ? null
      : h(Confirm, {
          title: `Delete ${doomed.name}?`,
          text: 'What it brought stays. A source that a schedule takes from is not deleted.',
          yes: 'Delete',
          onYes: () => end(doomed),
          onClose: () => setDoomed(undefined),
        }),
  );
}

interface Deeds {
  readonly onSample: (source: Source) => void;
  readonly onList: (source: Source) => void;
  readonly onEnd: (source: Source) => void;
}

const columnsFor = ({ onEnd, onList, onSample }: Deeds) => [
  { title: 'Source', isHead: true, show: ({ name }: Source) => name },
  { title: 'Kind', show: ({ type }: Source) => h(Badge, { text: type.toLowerCase() }) },
  {
    title: 'Where',
    class: 'soft',
    show: (source: Source) => h('div', { class: 'clip' }, whereOf(source)),
  },
  {
    title: 'Do',
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

/** The first records of a source: fetched, and kept nowhere. */
function Sample({ source, workspace }: SampleProps): JSX.Element {
  const asked = useAsk<unknown>(pathOf(['sample-data-source', workspace, source.dataSourceId]));
  return h(
    Card,
    { title: `Sample of ${source.name}`, flush: true },
    shown(asked, 'its first records', (value) => {
      const rows = rowsOf(value);
      return rows.length === 0
        ? h(Empty, { title: 'It has no records' })
        : h(Sheet, { label: `Sample of ${source.name}`, rows });
    }),
  );
}

function rowsOf(value: unknown): readonly Row[] {
  if (Array.isArray(value)) return value as readonly Row[];
  const lists = Object.values(value ?? {}).filter(Array.isArray);
  return (lists[0] ?? []) as readonly Row[];
}
