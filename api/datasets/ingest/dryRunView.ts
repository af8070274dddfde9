// Renders a dry run with the member names of jobs and datasets.
import { Type } from '../../../reads/request/schema.ts';
import type { DryRun } from '../../../pipeline/edit/dryRun.ts';
import { redactData } from '../../../store/base/redact.ts';
import { ANY } from '../../request/rows.ts';

const CHANGES = Type.Object({
  added: ANY,
  widened: ANY,
  leftOut: Type.Array(Type.String()),
});

/** Schema of the answer. */
export const DRY_RUN = Type.Object({
  dryRun: Type.Literal(true),
  workspace: Type.String(),
  datasetId: Type.String(),
  exists: Type.Boolean(),
  error: Type.Union([Type.String(), Type.Null()]),
  schema: ANY,
  columnMapping: ANY,
  uniqueIndex: Type.Boolean(),
  schemaChanges: CHANGES,
  columns: ANY,
  constants: ANY,
  recordsValidated: Type.Integer(),
  recordsIngested: Type.Integer(),
  recordsInvalid: Type.Integer(),
  recordsQuarantined: Type.Integer(),
  recordsDuplicate: Type.Integer(),
  invalidRecords: Type.Array(Type.Object({ line: Type.Integer(), error: Type.String() })),
  quarantinedRecords: Type.Array(
    Type.Object({ line: Type.Integer(), rule: Type.String(), record: ANY }),
  ),
  notes: Type.Array(Type.String()),
  log: Type.Array(Type.String()),
  sample: Type.Array(ANY),
  bytes: Type.Integer(),
  storageBytes: Type.Integer(),
  messages: Type.Integer(),
});

export const dryRunView = (run: DryRun): object => ({
  dryRun: true,
  workspace: run.workspace,
  datasetId: run.dataset,
  exists: run.exists,
  error: run.error ?? null,
  schema: run.schema,
  columnMapping: run.mapping,
  uniqueIndex: run.isUnique,
  schemaChanges: { added: run.added, widened: run.widened, leftOut: run.leftOut },
  columns: run.columns,
  constants: run.constants,
  recordsValidated: run.records.validated,
  recordsIngested: run.records.ingested,
  recordsInvalid: run.records.invalid,
  recordsQuarantined: run.records.quarantined,
  recordsDuplicate: run.records.duplicates,
  invalidRecords: redactData(run.rejects),
  quarantinedRecords: run.quarantined.map(({ document, line, rule }) => ({
    line,
    rule,
    record: JSON.parse(document) as object,
  })),
  notes: redactData(run.notes),
  log: redactData(run.log),
  sample: run.sample,
  bytes: run.bytesRead,
  storageBytes: run.bytesWritten,
  // Loads are free.
  messages: 0,
});
