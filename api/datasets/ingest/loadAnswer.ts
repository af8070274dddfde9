// Answer schemas of writes (pipeline/conform/loadCounts.ts).
import type { Reject } from '../../../store/work/jobs.ts';
import { redactData } from '../../../store/base/redact.ts';
import { Type } from '../../../reads/request/schema.ts';

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

/** The same, optional, for answers that do not show all of them to every caller. */
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
const REJECTS_SHOWN = 20;

export const toRejectViews = (rejects: readonly Reject[]): readonly object[] =>
  redactData(rejects.slice(0, REJECTS_SHOWN)) as readonly object[];
