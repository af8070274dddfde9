// Jobs screen: the jobs of a workspace with their progress, and the workspace log.
import { h, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { hasEnded, type Job, type LogLine } from '../../api/answers.ts';
import { apiPath } from '../../api/client.ts';
import { useApi, useInterval } from '../../api/useApi.ts';
import { screenHref } from '../../routing/place.ts';
import { duration, number, time } from '../../components/formats.ts';
import { Badge, Card, Choice, Empty, Head, renderRequest } from '../../components/parts.ts';
import { Table } from '../../components/table.ts';
import { statusTone } from './jobProgress.ts';
import { Log } from './log.ts';

const JOBS_MAX = 100;
const POLL_MS = 1_500;
const LOG_LINES = 300;

export function Jobs({ workspace }: { readonly workspace: string }): JSX.Element {
  const request = useApi<readonly Job[]>(
    apiPath(['jobs', workspace, 'ingest'], { last: JOBS_MAX }),
  );
  const isRunning = request.answer?.value.some((job) => !hasEnded(job)) === true;
  useInterval(POLL_MS, isRunning, request.reload);
  return h(
    'div',
    null,
    h(Head, { title: 'Jobs and logs' }, h('button', { onClick: request.reload }, 'Refresh')),
    h(
      Card,
      { title: `Latest ${JOBS_MAX} jobs`, flush: true },
      renderRequest(request, 'jobs', (jobs) =>
        jobs.length === 0
          ? h(
              Empty,
              { title: 'No job yet' },
              'Each load and each run of a schedule is a job.',
              h(
                'div',
                { class: 'row-of' },
                h('a', { class: 'button', href: screenHref(['load', workspace]) }, 'Load a file'),
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
      h('a', { href: screenHref(['jobs', workspace, jobId]) }, jobId.slice(0, 8)),
  },
  {
    title: 'State',
    show: ({ progress, status, ...job }: Job) => [
      h(Badge, { text: status, tone: statusTone(status) }),
      job.finished === null && status !== 'INGESTED' ? ` ${Math.round(progress)} %` : '',
    ],
  },
  {
    title: 'Dataset',
    show: ({ datasetId, workspace }: Job) =>
      h('a', { href: screenHref(['datasets', workspace, datasetId]) }, datasetId),
  },
  { title: 'From', class: 'soft', show: ({ sourceType }: Job) => sourceType.toLowerCase() },
  { title: 'Loaded', isNumber: true, show: ({ recordsIngested }: Job) => number(recordsIngested) },
  { title: 'Rejected', isNumber: true, show: ({ recordsInvalid }: Job) => number(recordsInvalid) },
  {
    title: 'Duration',
    isNumber: true,
    show: ({ duration: ms }: Job) => (ms === null ? '–' : duration(ms)),
  },
  { title: 'Created', class: 'nowrap soft', show: ({ created }: Job) => time(created) },
  {
    title: 'Reason',
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
  const request = useApi<readonly LogLine[]>(
    apiPath(['logs', workspace], { level, last: LOG_LINES }),
  );
  return h(
    Card,
    {
      title: 'Log of the last day',
      flush: true,
      actions: [
        h(Choice, { label: 'Show', value: level, options: LEVELS, onPick: setLevel }),
        h('button', { class: 'small', onClick: request.reload }, 'Refresh'),
      ],
    },
    renderRequest(request, 'the log', (lines) => h(Log, { lines, workspace })),
  );
}
