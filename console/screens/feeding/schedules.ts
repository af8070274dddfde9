// The schedules of a workspace, and what became of their runs.
import { h, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ask, pathOf } from '../../asking/ask.ts';
import { type Asked, useAsk, useDeed, useEvery } from '../../asking/useAsk.ts';
import { hrefOf } from '../../routing/place.ts';
import { Confirm } from '../../showing/dialog.ts';
import { number, time } from '../../showing/formats.ts';
import { Badge, Card, Empty, Failed, shown } from '../../showing/parts.ts';
import { Table } from '../../showing/table.ts';
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
  /** The next five; none while it is paused. */
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
  /** Grows when another one was made. */
  readonly version: number;
}

const LOOK_MS = 2_000;
const RUNS_SHOWN = 50;

/** Members of a schedule that its change must say again. */
const KEPT = [
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
  const asked = useAsk<readonly Schedule[]>(pathOf(['ingestion-schedules', workspace]));
  const runs = useAsk<readonly Run[]>(
    pathOf(['ingestion-history', workspace], { last: RUNS_SHOWN }),
  );
  const [doomed, setDoomed] = useState<Schedule | undefined>(undefined);
  const { problem, run } = useDeed();
  const again = (): void => {
    asked.again();
    runs.again();
  };
  useEffect(() => {
    if (version > 0) again();
  }, [version]);
  useEvery(LOOK_MS, isGoing(asked.answer?.value, runs.answer?.value), again);
  const act = (schedule: Schedule, what: Act): void =>
    run(async () => {
      setDoomed(undefined);
      await done(workspace, schedule, what);
      again();
    });
  const pick = (one: Schedule, what: Act): void =>
    what === 'end' ? setDoomed(one) : act(one, what);
  return h(
    'div',
    null,
    h(
      Card,
      {
        title: 'Schedules',
        flush: true,
        actions: h('button', { class: 'small', onClick: again }, 'Refresh'),
      },
      problem === undefined ? null : h(Failed, { problem }),
      shown(asked, 'schedules', (rows) =>
        rows.length === 0
          ? h(
              Empty,
              { title: 'No schedule yet' },
              'Add a source, then a schedule that takes from it.',
            )
          : h(Table<Schedule>, {
              label: 'Schedules',
              rows,
              columns: columnsFor(sources, workspace, pick),
            }),
      ),
    ),
    h(Runs, { runs, workspace }),
    doomed === undefined
      ? null
      : h(Confirm, {
          title: `Delete the schedule ${doomed.name}?`,
          text: 'Its history goes with it. Its records stay.',
          yes: 'Delete',
          onYes: () => act(doomed, 'end'),
          onClose: () => setDoomed(undefined),
        }),
  );
}

interface RunsProps {
  readonly runs: Asked<readonly Run[]>;
  readonly workspace: string;
}

const Runs = ({ runs, workspace }: RunsProps): JSX.Element =>
  h(
    Card,
    { title: 'Their runs, newest first', flush: true },
    shown(runs, 'runs', (rows) =>
      rows.length === 0
        ? h(Empty, { title: 'Nothing has run yet' })
        : h(Table<Run>, { label: 'Runs', rows, columns: runColumns(workspace) }),
    ),
  );

const isGoing = (schedules: readonly Schedule[] = [], runs: readonly Run[] = []): boolean =>
  schedules.some(({ running }) => running) ||
  runs.some(
    ({ jobId, status }) => jobId !== null && !/^(INGESTED|ERROR|CANCEL)/.test(status ?? ''),
  );

async function done(workspace: string, schedule: Schedule, what: Act): Promise<void> {
  const path = ['ingestion-schedules', workspace, schedule.ingestionScheduleId];
  if (what === 'run') await ask(pathOf([...path, 'run']), { method: 'POST' });
  if (what === 'end') await ask(pathOf(path), { method: 'DELETE' });
  if (what === 'turn') {
    const said = Object.entries(schedule).filter(
      ([name, value]) => KEPT.includes(name) && value !== null,
    );
    const state = schedule.state === 'PAUSED' ? 'ENABLED' : 'PAUSED';
    await ask(pathOf(path), { method: 'PUT', json: { ...Object.fromEntries(said), state } });
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
      h('a', { href: hrefOf(['datasets', workspace, datasetId]) }, datasetId),
  },
  { title: 'Last run', class: 'nowrap', show: ({ lastRun }: Schedule) => moment(lastRun) },
  { title: 'Next runs', class: 'nowrap', show: nextRunsOf },
  {
    title: 'Do',
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

const nextRunsOf = ({ nextRuns, timeZone }: Schedule): string | JSX.Element =>
  nextRuns.length === 0
    ? '–'
    : h(
        'div',
        null,
        nextRuns.map((ms) => h('div', { title: time(ms) }, timeIn(ms, timeZone))),
      );

/** As the clocks of the schedule show it. */
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
    title: 'Taken',
    isNumber: true,
    show: ({ recordsIngested }: Run) => number(recordsIngested ?? 0),
  },
  {
    title: 'Rejected',
    isNumber: true,
    show: ({ recordsInvalid }: Run) => number(recordsInvalid ?? 0),
  },
  { title: 'Why', show: ({ error }: Run) => error ?? '' },
  {
    title: 'Job',
    show: ({ jobId }: Run) =>
      jobId === null ? '' : h('a', { href: hrefOf(['jobs', workspace, jobId]) }, jobId.slice(0, 8)),
  },
];
