// The counts of a job: in its row, and in the answer of a write.
import type { Ingested } from '../../pipeline/conform/load.ts';
import { type LoadCounts, toLoadCounts } from '../../pipeline/conform/loadCounts.ts';
import type { Job } from '../../store/work/jobs.ts';

type JobCounts = Pick<
  Job,
  | 'records_validated'
  | 'records_ingested'
  | 'records_invalid'
  | 'records_duplicate'
  | 'records_quarantined'
  | 'records_replaced'
  | 'records_unchanged'
  | 'columns_left_out_json'
  | 'notes_json'
>;

/** Notes stored of one job, without duplicates: the first ones of all its files. */
const NOTES_MAX = 50;

/** Counts of a job, added to those of its earlier files. */
export function jobCounts(outcome: Ingested, before?: JobCounts): JobCounts {
  return {
    records_validated: (before?.records_validated ?? 0) + outcome.validated,
    records_ingested: (before?.records_ingested ?? 0) + outcome.ingested,
    records_invalid: (before?.records_invalid ?? 0) + outcome.invalid,
    records_duplicate: (before?.records_duplicate ?? 0) + outcome.duplicates,
    records_quarantined: (before?.records_quarantined ?? 0) + outcome.quarantined,
    records_replaced: (before?.records_replaced ?? 0) + outcome.replaced,
    records_unchanged: (before?.records_unchanged ?? 0) + outcome.unchanged,
    columns_left_out_json: mergeLists(before?.columns_left_out_json, outcome.columnsLeftOut),
    notes_json: mergeLists(before?.notes_json, outcome.notes, NOTES_MAX),
  };
}

function mergeLists(
  before: string | null | undefined,
  more: readonly string[],
  most = Number.MAX_SAFE_INTEGER,
): string {
  const earlier = JSON.parse(before ?? '[]') as readonly string[];
  return JSON.stringify([...new Set([...earlier, ...more])].slice(0, most));
}

export const jobLoadCounts = (job: Job): LoadCounts =>
  toLoadCounts({
    validated: job.records_validated,
    ingested: job.records_ingested,
    invalid: job.records_invalid,
    quarantined: job.records_quarantined,
    duplicates: job.records_duplicate,
    replaced: job.records_replaced,
    unchanged: job.records_unchanged,
    columnsLeftOut: JSON.parse(job.columns_left_out_json ?? '[]') as readonly string[],
    notes: JSON.parse(job.notes_json ?? '[]') as readonly string[],
  });
