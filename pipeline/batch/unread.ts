// A batch with the lines of its file that were set aside before it was made.
import { REJECTS_KEPT_MAX } from '../../store/work/jobs.ts';
import { lineInFile } from '../bytes/unreadLines.ts';
import type { Relation } from '../values/relation.ts';
import type { Batch } from './batchRequest.ts';

/** Its lines are lines of the file from here on, and what was set aside is counted as invalid. */
export function withUnreadLines(batch: Batch, relation: Relation): Batch {
  const { lineSteps, unread } = relation;
  if (unread === undefined && lineSteps === undefined) return batch;
  const inFile = <T extends { readonly line: number }>(one: T): T => ({
    ...one,
    line: lineInFile(lineSteps, one.line),
  });
  const breach = <T extends { readonly line: number | undefined }>(one: T): T => ({
    ...one,
    line: one.line === undefined ? undefined : lineInFile(lineSteps, one.line),
  });
  return {
    ...batch,
    invalid: batch.invalid + (unread?.count ?? 0),
    rejects: [...batch.rejects.map(inFile), ...(unread?.rejects ?? [])]
      .sort((one, other) => one.line - other.line)
      .slice(0, REJECTS_KEPT_MAX),
    quarantined: batch.quarantined.map(inFile),
    warnings: batch.warnings.map(breach),
    failed: batch.failed === undefined ? undefined : breach(batch.failed),
  };
}
