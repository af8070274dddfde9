// The jobs of a workspace as they go, and its log.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { hasEnded, type Job, type LogLine } from '../../asking/answers.ts';
import { pathOf } from '../../asking/ask.ts';
import { useAsk, useEvery } from '../../asking/useAsk.ts';
import { hrefOf } from '../../routing/place.ts';
import { duration, number, time } from '../../showing/formats.ts';
import { Badge, Card, Choice, Empty, Head, shown } from '../../showing/parts.ts';
import { Table } from '../../showing/table.ts';
import { toneOf } from './jobProgress.ts';
import { Log } from './log.ts';

const SHOWN = 100;
const LOOK_MS = 1_500;
const LOG_LINES = 300;

export function Jobs({ workspace }: { readonly workspace: string }): JSX.Element {
  const asked = useAsk<readonly Job[]>(pathOf(['jobs', workspace, 'ingest'], { last: SHOWN }));
  const isRunning = asked.answer?.value.some((job) => !hasEnded(job)) === true;
  useEvery(LOOK_MS, isRunning, asked.again);
  return h(
    'div',
    null,
    h(Head, { title: 'Jobs and logs' }, h('button', { onClick: asked.again }, 'Refresh')),
    h(
      Card,
      { title: `Jobs, the newest ${SHOWN}`, flush: true },
      shown(asked, 'jobs', (jobs) =>
        jobs.length === 0
          ? h(
              Empty,
              { title: 'No job yet' },
              'Each load and each run of a schedule is a job.',
              h(
                'div',
                { class: 'row-of' },
                h('a', { class: 'button', href: hrefOf(['load', workspace]) }, 'Load a file'),
              ),
            )
          : h(Table<Job>, { label: 'Jobs', rows: jobs, columns: COLUMNS }),
      ),
    ),
    h(WorkspaceLog, { workspace }),
  );
}

const COLUMNS = [
  {
    title: 'Job',
    isHead: true,
    show: ({ jobId, workspace }: Job) =>
      h('a', { href: hrefOf(['jobs', workspace, jobId]) }, jobId.slice(0, 8)),
  },
  {
    title: 'State',
    show: ({ progress, status, ...job }: Job) => [
      h(Badge, { text: status, tone: toneOf(status) }),
      job.finished === null && status !== 'INGESTED' ? ` ${Math.round(progress)} %` : '',
    ],
  },
  {
    title: 'Dataset',
    show: ({ datasetId, workspace }: Job) =>
      h('a', { href: hrefOf(['datasets', workspace, datasetId]) }, datasetId),
  },
  { title: 'From', class: 'soft', show: ({ sourceType }: Job) => sourceType.toLowerCase() },
  { title: 'Taken', isNumber: true, show: ({ recordsIngested }: Job) => number(recordsIngested) },
  { title: 'Rejected', isNumber: true, show: ({ recordsInvalid }: Job) => number(recordsInvalid) },
  {
    title: 'Took',
    isNumber: true,
    show: ({ duration: ms }: Job) => (ms === null ? '–' : duration(ms)),
  },
  { title: 'Began', class: 'nowrap soft', show: ({ created }: Job) => time(created) },
  {
    title: 'Why',
    class: 'soft',
    show: ({ error }: Job) => h('div', { class: 'clip' }, error ?? ''),
  },
];

const LEVELS = [
  ['info', 'everything'],
  ['warn', 'warnings and errors'],
  ['error', 'errors'],
] as const;

function WorkspaceLog({ workspace }: { readonly workspace: string }): JSX.Element {
  const [level, setLevel] = useState<string>(LEVELS[0][0]);
  const asked = useAsk<readonly LogLine[]>(pathOf(['logs', workspace], { level, last: LOG_LINES }));
  return h(
    Card,
    {
      title: 'Log of the last day',
      flush: true,
      actions: [
        h(Choice, { label: 'Show', value: level, options: LEVELS, onPick: setLevel }),
        h('button', { class: 'small', onClick: asked.again }, 'Refresh'),
      ],
    },
    shown(asked, 'the log', (lines) => h(Log, { lines, workspace })),
  );
}
