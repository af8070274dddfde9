// What a write answers: what became of its records, and what of it the caller should look at. The counts add up:
// received = stored + replaced + duplicates + rejected + quarantined.
import type { Reject, Job } from '../../../store/work/jobs.ts';
import { redacted, redactedData } from '../../../store/base/redact.ts';
import { Type } from '../../request/body/schema.ts';

const COUNT = Type.Integer();

/** Members of every answer to a write. */
export const LOAD_COUNTS = {
  received: COUNT,
  stored: COUNT,
  replaced: COUNT,
  duplicates: COUNT,
  unchanged: COUNT,
  rejected: COUNT,
  quarantined: COUNT,
  columnsLeftOut: Type.Array(Type.String()),
  inferred: Type.Array(Type.String()),
  warnings: Type.Array(Type.String()),
};

/** The same where not every caller gets all of them. */
export const SOME_LOAD_COUNTS = {
  received: Type.Optional(COUNT),
  stored: Type.Optional(COUNT),
  replaced: Type.Optional(COUNT),
  duplicates: Type.Optional(COUNT),
  unchanged: Type.Optional(COUNT),
  rejected: Type.Optional(COUNT),
  quarantined: Type.Optional(COUNT),
  columnsLeftOut: Type.Optional(Type.Array(Type.String())),
  inferred: Type.Optional(Type.Array(Type.String())),
  warnings: Type.Optional(Type.Array(Type.String())),
};

/** The first rejected records, with lines and reasons. */
export const REJECTS = Type.Array(Type.Object({ line: Type.Integer(), error: Type.String() }));

/** Rejected records in one answer; the invalid-records log of the job has more. */
export const REJECTS_SHOWN = 20;

/** The counts of a load, as its job or its outcome has them. */
interface Counted {
  readonly validated: number;
  readonly ingested: number;
  readonly invalid: number;
  readonly quarantined: number;
  /** With those that replaced stored records, and the unchanged ones. */
  readonly duplicates: number;
  readonly replaced: number;
  readonly unchanged: number;
  readonly columnsLeftOut: readonly string[];
  readonly notes: readonly string[];
}

export interface LoadCounts {
  readonly received: number;
  readonly stored: number;
  readonly replaced: number;
  readonly duplicates: number;
  /** Equal in full to stored records; among the duplicates. */
  readonly unchanged: number;
  readonly rejected: number;
  readonly quarantined: number;
  readonly columnsLeftOut: readonly string[];
  readonly inferred: readonly string[];
  readonly warnings: readonly string[];
}

const INFERRED = /^(?:inferred index|properties): /;
const WARNING = 'warning: ';

export function toLoadCounts(counted: Counted): LoadCounts {
  const { columnsLeftOut, duplicates, ingested, invalid, quarantined, replaced } = counted;
  const { unchanged, validated } = counted;
  const notes = counted.notes.map(redacted);
  return {
    received: validated + invalid + quarantined,
    stored: ingested - replaced,
    replaced,
    duplicates: duplicates - replaced,
    unchanged,
    rejected: invalid,
    quarantined,
    columnsLeftOut,
    inferred: notes.filter((note) => INFERRED.test(note)),
    warnings: notes
      .filter((note) => note.startsWith(WARNING))
      .map((note) => note.slice(WARNING.length)),
  };
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

export const showRejects = (rejects: readonly Reject[]): readonly object[] =>
  redactedData(rejects.slice(0, REJECTS_SHOWN)) as readonly object[];
