// `tapedeck schedule`: adds, lists, runs and removes schedules, and shows their runs.
import { isoTime } from '../../store/base/clock.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { listAnswer, tableAnswer } from '../print/answerLists.ts';
import { followJob, type JobView } from '../print/followJob.ts';
import { duplicatesQuery, type ReadingOptions, buildReading } from '../data/readingOptions.ts';
import { findByName, type PlaceOptions, findSourceId } from './sources.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { indexCommand } from '../../pipeline/conform/loadNotes.ts';
import { escapeControls } from '../print/terminalText.ts';
import type { Terminal } from '../connect/terminal.ts';
import { type CallJson, withWorkspace } from '../connect/workspaceApi.ts';

export interface ScheduleOptions extends PlaceOptions, ReadingOptions {
  readonly dataset: string;
  readonly name?: string;
  readonly every?: string;
  readonly cron?: string;
  readonly timeZone?: string;
  readonly start?: string;
  readonly missed?: string;
  readonly overwrite?: boolean;
  readonly duplicates?: string;
  /** Every run adds all records of the source, also those of earlier runs. */
  readonly append?: boolean;
  readonly key?: string;
  readonly subkey?: string;
  readonly date?: string;
  /** False: a new dataset has no unique index. */
  readonly index: boolean;
  readonly dateOrder?: string;
}

interface Schedule {
  readonly ingestionScheduleId: string;
  readonly name: string;
  readonly datasetId: string;
  readonly dataSourceId: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly state: string;
  readonly lastRun: number | null;
  readonly nextRun: number | null;
  readonly nextRuns: readonly number[];
  readonly last30Days: string;
}

export const addSchedule = (
  source: string,
  options: ScheduleOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withWorkspace(settings, options.workspace, terminal, async (call, workspace) => {
    const { append, cron, dataset, duplicates, every, missed, name, overwrite, start, timeZone } =
      options;
    const parts = Object.entries({
      key: options.key,
      subkey: options.subkey,
      date: options.date,
    }).filter(([, property]) => property !== undefined);
    const body = {
      dataSourceId: await findSourceId(call, source),
      datasetId: dataset,
      ...(cron === undefined && every === undefined ? { every: 'day' } : {}),
      ...definedOnly({
        cron,
        every,
        timeZone,
        name,
        overwrite,
        startTime: start,
        missedRuns: missed,
      }),
      ...duplicatesQuery(append === true ? 'keep-all' : duplicates),
      ...definedOnly({ dateOrder: options.dateOrder }),
      ...definedOnly({
        reading: buildReading(options),
        uniqueIndex: options.index ? undefined : false,
      }),
      ...(parts.length === 0 ? {} : { columnMapping: Object.fromEntries(parts) }),
    };
    const created = await call('POST', '/ingestion-schedules', body);
    listAnswer([created], 'ingestionScheduleId', options, terminal);
    if (options.json !== true) await showRuns(created as ScheduleMade, call, terminal);
    const isChosen = parts.length > 0 || append === true || overwrite === true || !options.index;
    if (isChosen) return;
    const place = { workspace, dataset };
    await proposeIndex(call, body.dataSourceId, place, options.dateOrder, terminal);
  });

/** Proposes the index that the owner may declare, from stored or sampled records. */
async function proposeIndex(
  call: CallJson,
  sourceId: string,
  { dataset, workspace }: Pick<Dataset, 'dataset' | 'workspace'>,
  dateOrder: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const all = (await call('GET', '/datasets?limit=5000')) as readonly IndexedDataset[];
  const stored = all.find(({ datasetId }) => datasetId.toUpperCase() === dataset.toUpperCase());
  if (stored !== undefined && stored.inferredIndex !== true) return;
  const order = dateOrder === undefined ? '' : `?dateOrder=${dateOrder}`;
  const rule =
    'no index is declared: repeated rows of the source are stored once, changed rows are added';
  let proposal = stored;
  try {
    proposal ??= (await call('GET', `/generate-schema/${sourceId}${order}`)) as IndexedDataset;
  } catch (error) {
    // The schedule exists: its first run reports the same error.
    const why = `the source could not be read for a proposal: ${reasonOf(error)}`;
    terminal.stderr.write(`${escapeControls(`${rule}; ${why}`)}\n`);
    return;
  }
  const { columnMapping, uniqueIndex } = proposal;
  const isNamed = Object.keys(columnMapping).length > 0;
  const isUsable = isNamed && (stored !== undefined || uniqueIndex === true);
  const when = stored === undefined ? 'after its first run, ' : '';
  const command = indexCommand(workspace, dataset, columnMapping);
  const replace = isUsable ? `; to replace changed rows, ${when}run: ${command}` : '';
  terminal.stderr.write(
    `${escapeControls(`${rule}${replace}; --append adds all rows every time`)}\n`,
  );
}

interface IndexedDataset {
  readonly datasetId: string;
  readonly columnMapping: Readonly<Record<string, string>>;
  readonly uniqueIndex?: boolean;
  readonly inferredIndex?: boolean;
}

type ScheduleMade = Pick<Schedule, 'ingestionScheduleId'>;

/** Prints the next five runs on standard error: a program reads only the id. */
export async function showRuns(
  { ingestionScheduleId: id }: ScheduleMade,
  call: CallJson,
  { stderr }: Terminal,
): Promise<void> {
  const { nextRuns, timeZone } = (await call('GET', `/ingestion-schedules/${id}`)) as Schedule;
  const runs = nextRuns.map((ms) => timeIn(ms, timeZone)).join(', ');
  stderr.write(`next runs (${timeZone}): ${runs}\n`);
}

const definedOnly = (members: object): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

const LIST_MEMBERS = [
  'name',
  'dataset',
  'cron',
  'zone',
  'state',
  'last',
  'next five',
  'last 30 days',
];

export const listSchedules = (
  options: PlaceOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withWorkspace(settings, options.workspace, terminal, async (call) => {
    const schedules = await fetchSchedules(call);
    if (options.json === true) {
      tableAnswer(schedules, [], options, terminal);
      return;
    }
    const rows = schedules.map(({ lastRun, nextRuns, timeZone, ...schedule }) => ({
      ...schedule,
      dataset: schedule.datasetId,
      zone: timeZone,
      last: lastRun === null ? null : timeIn(lastRun, timeZone),
      'next five': nextRuns.map((ms) => timeIn(ms, timeZone)).join(', '),
      'last 30 days': schedule.last30Days,
    }));
    tableAnswer(rows, LIST_MEMBERS, options, terminal);
  });

/** Runs a schedule now and shows its progress; follows a running job instead, if there is one. */
export const runSchedule = (
  schedule: string,
  options: PlaceOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withWorkspace(settings, options.workspace, terminal, async (call) => {
    const { ingestionScheduleId: id, name } = await findSchedule(call, schedule);
    const begun = await runUnderWay(call, id);
    const { jobId } =
      begun ??
      ((await call('POST', `/ingestion-schedules/${id}/run`)) as { readonly jobId: string });
    await followJob(call, jobId, name, options, terminal);
  });

const ENDED: ReadonlySet<string> = new Set(['INGESTED', 'ERROR', 'CANCELLED']);

/** Returns the job of the latest run if it has not ended. */
async function runUnderWay(call: CallJson, id: string): Promise<JobView | undefined> {
  const [run] = (await call('GET', `/ingestion-history/${id}?last=1`)) as readonly {
    readonly jobId: string | null;
    readonly status: string | null;
  }[];
  if (run === undefined || run.jobId === null || ENDED.has(run.status ?? '')) return undefined;
  const job = (await call('GET', `/jobs/ingest/${run.jobId}`)) as JobView;
  return job.finished === null ? job : undefined;
}

export const setState = (
  schedule: string,
  state: 'ENABLED' | 'PAUSED',
  options: PlaceOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withWorkspace(settings, options.workspace, terminal, async (call) => {
    const existing = await findSchedule(call, schedule);
    const created = await call('PUT', `/ingestion-schedules/${existing.ingestionScheduleId}`, {
      ...definedOnly(toBody(existing)),
      state,
    });
    listAnswer([created], 'ingestionScheduleId', options, terminal);
  });

/** Returns the members of a schedule's view that its body accepts. */
function toBody(schedule: Schedule): object {
  const view = schedule as unknown as Readonly<Record<string, unknown>>;
  const members = [
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
  return Object.fromEntries(
    members.flatMap((name) => (view[name] === null ? [] : [[name, view[name]]])),
  );
}

export const removeSchedule = (
  schedule: string,
  options: PlaceOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withWorkspace(settings, options.workspace, terminal, async (call) => {
    const { ingestionScheduleId: id } = await findSchedule(call, schedule);
    const created = await call('DELETE', `/ingestion-schedules/${id}`);
    listAnswer([created], 'ingestionScheduleId', options, terminal);
  });

/** Shows the outcome at each due time, newest last. */
export const showHistory = (
  schedule: string | undefined,
  options: PlaceOptions & { readonly last?: string },
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withWorkspace(settings, options.workspace, terminal, async (call) => {
    const id =
      schedule === undefined ? '' : `/${(await findSchedule(call, schedule)).ingestionScheduleId}`;
    const last = options.last ?? '20';
    const path = `/ingestion-history${id}?sort=asc&last=${encodeURIComponent(last)}`;
    const runs = (await call('GET', path)) as readonly Readonly<Record<string, unknown>>[];
    const rows = runs.map((run) => ({
      ...run,
      due: timeOf(run['due'] as number),
      dataset: run['datasetId'],
      outcome: run['status'] ?? run['outcome'],
      records: run['recordsIngested'],
      invalid: run['recordsInvalid'],
      reason: run['error'] ?? run['note'],
    }));
    const members = ['due', 'dataset', 'attempt', 'outcome', 'records', 'invalid', 'reason'];
    tableAnswer(options.json === true ? runs : rows, members, options, terminal);
  });

/** Formats an instant in a time zone. */
const timeIn = (ms: number, timeZone: string): string =>
  new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  }).format(ms);

const timeOf = (ms: number | null): string | null =>
  ms === null ? null : isoTime(ms).slice(0, 16).replace('T', ' ');

const fetchSchedules = async (call: CallJson): Promise<readonly Schedule[]> =>
  (await call('GET', '/ingestion-schedules?sort=asc')) as readonly Schedule[];

/** Finds a schedule by id or name. @throws Failure NotFound, or InvalidParameter for several */
async function findSchedule(call: CallJson, nameOrId: string): Promise<Schedule> {
  const schedules = await fetchSchedules(call);
  const byId = schedules.find(({ ingestionScheduleId: id }) => id === nameOrId);
  if (byId !== undefined) return byId;
  if (nameOrId.startsWith('INGESTION_SCHEDULE_'))
    throw new Failure('NotFound', `there is no ${nameOrId}`);
  return findByName(schedules, nameOrId, 'schedule');
}
