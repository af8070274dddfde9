// The body of an ingestion schedule, and what is kept of it.
import type { Static } from 'typebox';
import { Type } from '../../request/body/schema.ts';
import { checkCron } from '../../../jobs/schedule/cron.ts';
import { checkTimeZone } from '../../../jobs/schedule/timeZone.ts';
import { DUPLICATES } from '../../../pipeline/conform/duplicates.ts';
import { checkName } from '../../../store/lake/versions/columns.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { ScheduleBody } from '../../../store/work/schedules.ts';
import { checkReading, READING } from './loading.ts';
import { COLUMN_MAPPING } from '../datasetBody.ts';
import { SOURCE_BODY } from './sourceBody.ts';

const ATTEMPTS_MAX = 20;
const WAIT_SECONDS_MAX = 86_400;

/** The words for the times that are asked for most. */
const EVERY = { minute: '* * * * *', hour: '0 * * * *', day: '0 0 * * *' } as const;

/** How a job takes what a source has. */
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
export function scheduleBodyOf(given: Static<typeof SCHEDULE_BODY>, nowMs: number): ScheduleBody {
  checkName('datasetId', given.datasetId);
  if ((given.dataSourceId === undefined) === (given.dataSource === undefined)) {
    throw new Failure('InvalidBody', 'exactly one of dataSourceId and dataSource must be given');
  }
  if ((given.cron === undefined) === (given.every === undefined)) {
    throw new Failure('InvalidBody', 'exactly one of cron and every must be given');
  }
  checkReading(given.reading);
  const timeZone = given.timeZone === undefined ? undefined : checkTimeZone(given.timeZone);
  const cron = given.every === undefined ? (given.cron ?? '') : EVERY[given.every];
  return {
    name: given.name ?? given.datasetId,
    description: given.description ?? '',
    cron: checkCron(cron, nowMs),
    ...(timeZone === undefined ? {} : { timeZone }),
    startMs: startOf(given.startTime),
    missedRuns: given.missedRuns ?? 'once',
    duplicates: given.duplicateKeyHandling ?? 'replace',
    ...(given.duplicates === undefined ? {} : { chosen: given.duplicates }),
    overwrite: given.overwrite ?? false,
    rejectsMax: given.maximumValidationErrors ?? null,
    attemptsMax: given.attempts ?? 3,
    retryMs: (given.retryWaitSeconds ?? 60) * 1_000,
    mapping: given.columnMapping ?? null,
    ...(given.uniqueIndex === false ? { numbered: true } : {}),
    ...(given.dateOrder === undefined ? {} : { dateOrder: given.dateOrder }),
    ...(given.reading === undefined ? {} : { reading: given.reading }),
  };
}

function startOf(given: string | number | undefined): number | null {
  if (given === undefined) return null;
  const time = typeof given === 'number' ? given : Date.parse(given);
  if (Number.isSafeInteger(time)) return time;
  throw new Failure('InvalidBody', 'startTime must be epoch milliseconds or an ISO 8601 time');
}
