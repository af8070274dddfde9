// Adds to a batch the lines of its file that were set aside before the batch was created.
import { REJECTS_MAX } from '../../store/work/jobs.ts';
import { lineInFile } from '../bytes/unreadLines.ts';
import type { Relation } from '../values/relation.ts';
import type { Batch } from './batchRequest.ts';

/** Converts its lines to lines of the file, and counts the lines set aside as invalid. */
export function withUnreadLines(batch: Batch, relation: Relation): Batch {
  const { lineSteps, unread } = relation;
  if (unread === undefined && lineSteps === undefined) return batch;
  const toFileLine = <T extends { readonly line: number }>(one: T): T => ({
    ...one,
    line: lineInFile(lineSteps, one.line),
  });
  const toFileBreach = <T extends { readonly line: number | undefined }>(one: T): T => ({
    ...one,
    line: one.line === undefined ? undefined : lineInFile(lineSteps, one.line),
  });
  return {
    ...batch,
    invalid: batch.invalid + (unread?.count ?? 0),
    rejects: [...batch.rejects.map(toFileLine), ...(unread?.rejects ?? [])]
      .sort((one, other) => one.line - other.line)
      .slice(0, REJECTS_MAX),
    quarantined: batch.quarantined.map(toFileLine),
    warnings: batch.warnings.map(toFileBreach),
    failed: batch.failed === undefined ? undefined : toFileBreach(batch.failed),
  };
}
