// The body of an ingestion schedule, and its stored form.
import type { Static } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
import { checkCron } from '../../../jobs/schedule/cron.ts';
import { checkTimeZone } from '../../../jobs/schedule/timeZone.ts';
import { DUPLICATES } from '../../../pipeline/conform/duplicates.ts';
import { checkName } from '../../../store/lake/versions/columns.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { ScheduleBody } from '../../../store/work/schedules.ts';
import { checkReading, READING } from './loadParameters.ts';
import { COLUMN_MAPPING } from '../../../reads/sql/queryBody.ts';
import { SOURCE_BODY } from './sourceBody.ts';

const ATTEMPTS_MAX = 20;
const WAIT_SECONDS_MAX = 86_400;

/** Cron expressions of the common intervals. */
const CRON_BY_INTERVAL = { minute: '* * * * *', hour: '0 * * * *', day: '0 0 * * *' } as const;

/** Options with which a job loads from a source. */
export const LOADING = {
  duplicates: Type.Optional(Type.Enum([...DUPLICATES])),
  duplicateKeyHandling: Type.Optional(Type.Enum(['ignore', 'replace'])),
  overwrite: Type.Optional(Type.Boolean()),
  maximumValidationErrors: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
  columnMapping: Type.Optional(COLUMN_MAPPING),
  uniqueIndex: Type.Optional(Type.Boolean()),
  dateOrder: Type.Optional(Type.Enum(['MDY', 'DMY'])),
  reading: Type.Optional(READING),
};

export const SCHEDULE_BODY = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    description: Type.Optional(Type.String({ maxLength: 10_000 })),
    dataSourceId: Type.Optional(Type.String({ maxLength: 100 })),
    dataSource: Type.Optional(SOURCE_BODY),
    datasetId: Type.String({ minLength: 1, maxLength: 128 }),
    cron: Type.Optional(Type.String({ maxLength: 200 })),
    every: Type.Optional(Type.Enum(['minute', 'hour', 'day'])),
    timeZone: Type.Optional(Type.String({ maxLength: 100 })),
    state: Type.Optional(Type.Enum(['ENABLED', 'PAUSED'])),
    startTime: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0 }), Type.String({ maxLength: 40 })]),
    ),
    missedRuns: Type.Optional(Type.Enum(['once', 'skip', 'all'])),
    ...LOADING,
    attempts: Type.Optional(Type.Integer({ minimum: 1, maximum: ATTEMPTS_MAX })),
    retryWaitSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: WAIT_SECONDS_MAX })),
  },
  { additionalProperties: false },
);

/** @throws Failure InvalidBody naming the member and its rule. */
export function parseSchedule(request: Static<typeof SCHEDULE_BODY>, nowMs: number): ScheduleBody {
  checkName('datasetId', request.datasetId);
  if ((request.dataSourceId === undefined) === (request.dataSource === undefined)) {
    throw new Failure('InvalidBody', 'exactly one of dataSourceId and dataSource must be given');
  }
  if ((request.cron === undefined) === (request.every === undefined)) {
    throw new Failure('InvalidBody', 'exactly one of cron and every must be given');
  }
  checkReading(request.reading);
  const timeZone = request.timeZone === undefined ? undefined : checkTimeZone(request.timeZone);
  const cron = request.every === undefined ? (request.cron ?? '') : CRON_BY_INTERVAL[request.every];
  return {
    name: request.name ?? request.datasetId,
    description: request.description ?? '',
    cron: checkCron(cron, nowMs),
    ...(timeZone === undefined ? {} : { timeZone }),
    startMs: parseStartTime(request.startTime),
    missedRuns: request.missedRuns ?? 'once',
    duplicates: request.duplicateKeyHandling ?? 'replace',
    ...(request.duplicates === undefined ? {} : { chosen: request.duplicates }),
    overwrite: request.overwrite ?? false,
    rejectsMax: request.maximumValidationErrors ?? null,
    attemptsMax: request.attempts ?? 3,
    retryMs: (request.retryWaitSeconds ?? 60) * 1_000,
    mapping: request.columnMapping ?? null,
    ...(request.uniqueIndex === false ? { numbered: true } : {}),
    ...(request.dateOrder === undefined ? {} : { dateOrder: request.dateOrder }),
    ...(request.reading === undefined ? {} : { reading: request.reading }),
  };
}

function parseStartTime(startTime: string | number | undefined): number | null {
  if (startTime === undefined) return null;
  const time = typeof startTime === 'number' ? startTime : Date.parse(startTime);
  if (Number.isSafeInteger(time)) return time;
  throw new Failure('InvalidBody', 'startTime must be epoch milliseconds or an ISO 8601 time');
}
