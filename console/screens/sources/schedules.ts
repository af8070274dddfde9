// Schedules of a workspace and the history of their runs.
import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { callApi, apiPath } from '../../api/client.ts';
import { type ApiRequest, useApi, useAction, useInterval } from '../../api/useApi.ts';
import { screenHref } from '../../routing/place.ts';
import { Confirm } from '../../components/dialog.ts';
import { number, time } from '../../components/formats.ts';
import { Badge, Card, Empty, Failed, renderRequest } from '../../components/parts.ts';
import { Table } from '../../components/table.ts';
import type { Source } from './sourceForm.ts';

interface Schedule {
  readonly ingestionScheduleId: string;
  readonly name: string;
  readonly dataSourceId: string;
  readonly datasetId: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly state: string;
  readonly running: boolean;
  readonly lastRun: number | null;
  /** The next five runs; empty while paused. */
  readonly nextRuns: readonly number[];
}

interface Run {
  readonly ingestionHistoryId: string;
  readonly datasetId: string;
  readonly jobId: string | null;
  readonly outcome: string;
  readonly status: string | null;
  readonly attempt: number;
  readonly recordsIngested: number | null;
  readonly recordsInvalid: number | null;
  readonly error: string | null;
  readonly created: number;
}

interface SchedulesProps {
  readonly workspace: string;
  readonly sources: readonly Source[];
  /** Incremented when a schedule is created. */
  readonly version: number;
}

const POLL_MS = 2_000;
const RUNS_MAX = 50;

/** Members of a schedule that an update must repeat. */
const UPDATED_MEMBERS = [
  'name',
  'description',
  'dataSourceId',
  'datasetId',
  'cron',
  'timeZone',
  'startTime',
  'missedRuns',
  'duplicates',
  'duplicateKeyHandling',
  'overwrite',
  'maximumValidationErrors',
  'columnMapping',
  'uniqueIndex',
  'dateOrder',
  'reading',
  'attempts',
  'retryWaitSeconds',
];

type Act = 'run' | 'turn' | 'end';

export function Schedules({ sources, version, workspace }: SchedulesProps): JSX.Element {
  const request = useApi<readonly Schedule[]>(apiPath(['ingestion-schedules', workspace]));
  const runs = useApi<readonly Run[]>(
    apiPath(['ingestion-history', workspace], { last: RUNS_MAX }),
  );
  const [pendingDelete, setPendingDelete] = useState<Schedule | undefined>(undefined);
  const { problem, run } = useAction();
  const reload = (): void => {
    request.reload();
    runs.reload();
  };
  useEffect(() => {
    if (version > 0) reload();
  }, [version]);
  useInterval(POLL_MS, isRunning(request.answer?.value, runs.answer?.value), reload);
  const act = (schedule: Schedule, what: Act): void =>
    run(async () => {
      setPendingDelete(undefined);
      await applyAct(workspace, schedule, what);
      reload();
    });
  const pick = (one: Schedule, what: Act): void =>
    what === 'end' ? setPendingDelete(one) : act(one, what);
  return h(
    'div',
    null,
    h(
      Card,
      {
        title: 'Schedules',
        flush: true,
        actions: h('button', { class: 'small', onClick: reload }, 'Refresh'),
      },
      problem === undefined ? null : h(Failed, { problem }),
      renderRequest(request, 'schedules', (rows) =>
        rows.length === 0
          ? h(
              Empty,
              { title: 'No schedule yet' },
              'Add a source, then a schedule that loads from it.',
            )
          : h(Table<Schedule>, {
              label: 'Schedules',
              rows,
              columns: columnsFor(sources, workspace, pick),
            }),
      ),
    ),
    h(Runs, { runs, workspace }),
    pendingDelete === undefined
      ? null
      : h(Confirm, {
          title: `Delete the schedule ${pendingDelete.name}?`,
          text: 'Its history is deleted too. Loaded records stay.',
          yes: 'Delete',
          onYes: () => act(pendingDelete, 'end'),
          onClose: () => setPendingDelete(undefined),
        }),
  );
}

interface RunsProps {
  readonly runs: ApiRequest<readonly Run[]>;
  readonly workspace: string;
}

const Runs = ({ runs, workspace }: RunsProps): JSX.Element =>
  h(
    Card,
    { title: 'Runs, newest first', flush: true },
    renderRequest(runs, 'runs', (rows) =>
      rows.length === 0
        ? h(Empty, { title: 'No runs yet' })
        : h(Table<Run>, { label: 'Runs', rows, columns: runColumns(workspace) }),
    ),
  );

const isRunning = (schedules: readonly Schedule[] = [], runs: readonly Run[] = []): boolean =>
  schedules.some(({ running }) => running) ||
  runs.some(
    ({ jobId, status }) => jobId !== null && !/^(INGESTED|ERROR|CANCEL)/.test(status ?? ''),
  );

async function applyAct(workspace: string, schedule: Schedule, what: Act): Promise<void> {
  const path = ['ingestion-schedules', workspace, schedule.ingestionScheduleId];
  if (what === 'run') await callApi(apiPath([...path, 'run']), { method: 'POST' });
  if (what === 'end') await callApi(apiPath(path), { method: 'DELETE' });
  if (what === 'turn') {
    const members = Object.entries(schedule).filter(
      ([name, value]) => UPDATED_MEMBERS.includes(name) && value !== null,
    );
    const state = schedule.state === 'PAUSED' ? 'ENABLED' : 'PAUSED';
    await callApi(apiPath(path), {
      method: 'PUT',
      json: { ...Object.fromEntries(members), state },
    });
  }
}

const columnsFor = (
  sources: readonly Source[],
  workspace: string,
  onAct: (schedule: Schedule, what: Act) => void,
) => [
  {
    title: 'Schedule',
    isHead: true,
    show: ({ cron, name, timeZone }: Schedule) => [
      name,
      h('div', { class: 'soft' }, h('code', null, cron), ` ${timeZone}`),
    ],
  },
  {
    title: 'State',
    show: ({ running, state }: Schedule) =>
      running
        ? h(Badge, { text: 'running', tone: 'accent' as const })
        : h(Badge, { text: state.toLowerCase(), tone: state === 'PAUSED' ? 'warn' : 'good' }),
  },
  {
    title: 'From',
    show: ({ dataSourceId }: Schedule) =>
      sources.find((one) => one.dataSourceId === dataSourceId)?.name ?? dataSourceId,
  },
  {
    title: 'Into',
    show: ({ datasetId }: Schedule) =>
      h('a', { href: screenHref(['datasets', workspace, datasetId]) }, datasetId),
  },
  { title: 'Last run', class: 'nowrap', show: ({ lastRun }: Schedule) => moment(lastRun) },
  { title: 'Next runs', class: 'nowrap', show: renderNextRuns },
  {
    title: 'Actions',
    show: (one: Schedule) => {
      const button = (what: Act, title: string): JSX.Element =>
        h(
          'button',
          {
            class: `small ${what === 'end' ? 'danger' : ''}`,
            'aria-label': `${title} ${one.name}`,
            onClick: () => onAct(one, what),
          },
          title,
        );
      return h(
        'div',
        { class: 'row-of', style: { flexWrap: 'nowrap' } },
        button('run', 'Run now'),
        button('turn', one.state === 'PAUSED' ? 'Resume' : 'Pause'),
        button('end', 'Delete'),
      );
    },
  },
];

const renderNextRuns = ({ nextRuns, timeZone }: Schedule): string | JSX.Element =>
  nextRuns.length === 0
    ? '–'
    : h(
        'div',
        null,
        nextRuns.map((ms) => h('div', { title: time(ms) }, timeIn(ms, timeZone))),
      );

/** Formats a time in the schedule's time zone. */
const timeIn = (ms: number, timeZone: string): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(ms);

const moment = (ms: number | null): string => (ms === null ? '–' : time(ms));

const runColumns = (workspace: string) => [
  { title: 'When', class: 'nowrap', show: ({ created }: Run) => time(created) },
  { title: 'Dataset', isHead: true, show: ({ datasetId }: Run) => datasetId },
  {
    title: 'Outcome',
    show: ({ outcome, status }: Run) => {
      const text = status ?? outcome;
      const tone = text === 'INGESTED' ? 'good' : text === 'ERROR' ? 'bad' : 'accent';
      return h(Badge, { text, tone });
    },
  },
  { title: 'Attempt', isNumber: true, show: ({ attempt }: Run) => attempt },
  {
    title: 'Loaded',
    isNumber: true,
    show: ({ recordsIngested }: Run) => number(recordsIngested ?? 0),
  },
  {
    title: 'Rejected',
    isNumber: true,
    show: ({ recordsInvalid }: Run) => number(recordsInvalid ?? 0),
  },
  { title: 'Reason', show: ({ error }: Run) => error ?? '' },
  {
    title: 'Job',
    show: ({ jobId }: Run) =>
      jobId === null
        ? ''
        : h('a', { href: screenHref(['jobs', workspace, jobId]) }, jobId.slice(0, 8)),
  },
];
