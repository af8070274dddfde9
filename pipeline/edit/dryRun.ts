// Previews a load without storing it: the same path up to the commit, in a temporary work folder.
import { stat } from 'node:fs/promises';
import type { PropertyType } from '../../store/lake/versions/columns.ts';
import type { ColumnMapping, Dataset, RecordSchema } from '../../store/lake/datasets/datasets.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { Reject } from '../../store/work/jobs.ts';
import type { QuarantineEntry } from '../../store/lake/datasets/quarantine.ts';
import { checkPlace } from '../conform/placeCheck.ts';
import { conform, tableOf } from '../conform/conform.ts';
import { openLoad, refuseBatch, logBreaches } from '../merge/ingest.ts';
import { describeLoad } from '../conform/loadNotes.ts';
import { mergeLoad, type MergeResult } from '../merge/merge.ts';
import { buildUniqueIndex } from '../batch/uniqueIndex.ts';
import { withUnreadLines } from '../batch/unread.ts';
import type { Batch } from '../batch/batchRequest.ts';
import type { Conformed, IngestServices, Load } from '../conform/load.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import { nameInFile } from '../values/namedColumns.ts';
import type { Relation } from '../values/relation.ts';
import { withBodyLink, withWorkFolder, type Workbench } from '../bytes/workbench.ts';

/** Maximum rejected, and maximum quarantined, records in the preview. */
const LISTED_MAX = 100;
/** Maximum records of the sample. */
const SAMPLE_MAX = 10;
/** Maximum lines of the log. */
const LOG_MAX = 100;

export interface DryRun {
  readonly workspace: string;
  readonly dataset: string;
  /** False: the load would create the dataset. */
  readonly exists: boolean;
  /** Why the load would end in ERROR; undefined if it would not. */
  readonly error: string | undefined;
  /** The schema after the load. */
  readonly schema: RecordSchema;
  readonly mapping: ColumnMapping;
  readonly added: Readonly<Record<string, PropertyType>>;
  readonly widened: Readonly<Record<string, PropertyType>>;
  /** Columns of the file that are left out. */
  readonly leftOut: readonly string[];
  /** Column of the file -> its property, or null for one that the load leaves out. */
  readonly columns: Readonly<Record<string, string | null>>;
  /** Properties that the file does not have, with their value for all records. */
  readonly constants: Readonly<Record<string, string>>;
  readonly records: Counts;
  /** The first ones. */
  readonly rejects: readonly Reject[];
  readonly quarantined: readonly QuarantineEntry[];
  readonly log: readonly string[];
  /** Notes as in the report of the job. */
  readonly notes: readonly string[];
  readonly isUnique: boolean;
  /** Records that would be ingested, in the form of answers. */
  readonly sample: readonly object[];
  /** Size of the received file. */
  readonly bytesRead: number;
  /** Size of the files that the load would add; files of old versions are kept in addition. */
  readonly bytesWritten: number;
}

interface Counts {
  readonly validated: number;
  readonly ingested: number;
  readonly invalid: number;
  readonly quarantined: number;
  readonly duplicates: number;
}

const NO_RECORDS: Counts = {
  validated: 0,
  ingested: 0,
  invalid: 0,
  quarantined: 0,
  duplicates: 0,
};

/**
 * Writes only to a temporary work folder: no dataset, no job, no version. Does not wait for the dataset's
 * turn: it reports what the load would do now.
 * @throws Failure InvalidBody for a file that cannot be read.
 */
export async function dryRun(load: Load, services: IngestServices): Promise<DryRun> {
  const { deadlineMs, signal } = services;
  const abort = signal === undefined ? {} : { signal };
  return withWorkFolder(load.workspace, services, async (place) => {
    const bench = { ...place, deadlineMs, onProgress: () => undefined, ...abort };
    const work = (path: string): Promise<DryRun> => runOn({ ...load, path }, services, bench);
    return withBodyLink(load, bench.folder, work);
  });
}

async function runOn(load: Load, services: IngestServices, bench: Workbench): Promise<DryRun> {
  const { size } = await stat(load.path);
  const lines: string[] = [];
  const log = async (line: string): Promise<void> => {
    if (lines.length < LOG_MAX) lines.push(line);
  };
  const run = { load, services, bench, events: { log } };
  const relation = await openLoad(load, run);
  const dataset = services.lake.directory.dataset(load.workspace, load.dataset);
  try {
    const result = await conform(run, relation);
    const conformed = { ...result, batch: withUnreadLines(result.batch, relation) };
    await logBreaches(conformed.batch, { log });
    const outcome = await previewLoad(load, conformed, services, bench);
    const checked =
      outcome.error === undefined ? await checkPlace({ run, relation, conformed }) : [];
    for (const note of checked) await log(note);
    const notes = [...(relation.notes ?? []), ...(outcome.notes ?? []), ...checked];
    const report = { ...outcome, notes, log: lines };
    return {
      ...emptyReport(load, dataset),
      ...describeMapping(relation),
      ...report,
      bytesRead: size,
    };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const report = { error: reasonOf(error), log: lines, bytesRead: size };
    return { ...emptyReport(load, dataset), ...describeMapping(relation), ...report };
  }
}

function describeMapping({
  columns,
  leftOut = [],
  rewritten = {},
}: Relation): Pick<DryRun, 'columns' | 'constants'> {
  const rewrittenTo = Object.values(rewritten).flatMap((properties) => properties.split('+'));
  const mapped = columns.flatMap((column) =>
    column.constant === undefined && !rewrittenTo.includes(column.name)
      ? [[nameInFile(column), column.name] as const]
      : [],
  );
  const out = leftOut.map((name) => [name, null] as const);
  const constants = columns.flatMap(({ constant, name }) =>
    constant === undefined ? [] : [[name, constant] as const],
  );
  return {
    columns: Object.fromEntries([...Object.entries(rewritten), ...mapped, ...out]),
    constants: Object.fromEntries(constants),
  };
}

/** Whether the contract or an expectation refuses the load, rather than a technical fault. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Failure && (error.type === 'InvalidBody' || error.type === 'Conflict');

/** The report of a load without any outcome. */
const emptyReport = (
  { dataset, workspace }: Load,
  stored: Dataset | undefined,
): Omit<DryRun, 'log' | 'bytesRead' | 'columns' | 'constants'> => ({
  workspace,
  dataset: stored?.dataset ?? dataset,
  exists: stored !== undefined,
  error: undefined,
  schema: stored?.schema ?? { type: 'object', properties: {}, required: [] },
  mapping: stored?.mapping ?? {},
  added: {},
  widened: {},
  leftOut: [],
  records: NO_RECORDS,
  rejects: [],
  quarantined: [],
  notes: [],
  isUnique: stored?.numbered !== true,
  sample: [],
  bytesWritten: 0,
});

async function previewLoad(
  load: Load,
  conformed: Conformed,
  services: IngestServices,
  bench: Workbench,
): Promise<Partial<DryRun>> {
  const { batch, leftOut } = conformed;
  const change = conformed.kind === 'known' ? conformed.change : undefined;
  const target = conformed.kind === 'known' ? conformed.dataset : conformed.draft;
  const { mapping, numbered, schema } = target;
  const report = {
    schema: change?.schema ?? schema,
    mapping,
    isUnique: !numbered,
    added: change?.added ?? {},
    widened: change?.widened ?? {},
    leftOut,
    rejects: batch.rejects.slice(0, LISTED_MAX),
    quarantined: batch.quarantined.slice(0, LISTED_MAX),
  };
  const validated = batch.stats.records + batch.duplicates;
  const quarantined = batch.quarantined.length;
  const counts = { ...NO_RECORDS, validated, invalid: batch.invalid, quarantined };
  try {
    refuseBatch(batch, load);
  } catch (error) {
    return { ...report, records: counts, error: reasonOf(error) };
  }
  const merged = await mergePreview(load, conformed, services, bench);
  const duplicates = batch.duplicates + merged.ignored + merged.replaced + merged.unchanged;
  const records = { ...counts, ingested: merged.stats.records, duplicates };
  return {
    ...report,
    records,
    notes: [...describeLoad(conformed, { ...merged, ...records }, load), ...conformed.inferred],
    sample: await sampleMerged(merged, report.schema, bench),
    bytesWritten: countBytes(merged),
  };
}

type Merged = Omit<MergeResult, 'emptied'>;

async function mergePreview(
  load: Load,
  conformed: Conformed,
  { lake }: IngestServices,
  bench: Workbench,
): Promise<Merged> {
  const { batch } = conformed;
  if (conformed.kind === 'new') return { ...newFile(batch), rewritten: undefined };
  const table = await tableOf(lake, conformed.dataset);
  const index = buildUniqueIndex(conformed.dataset, table);
  return mergeLoad(batch, load, conformed.change, { bench, files: lake.files, table, index });
}

const newFile = ({ path, stats }: Batch): Omit<Merged, 'rewritten'> => ({
  path,
  stats,
  ignored: 0,
  replaced: 0,
  unchanged: 0,
  identical: 0,
  conflicting: 0,
  deletes: [],
});

function countBytes({ deletes, rewritten, stats }: Merged): number {
  const own = stats.records === 0 ? 0 : stats.bytes;
  const deleted = deletes.reduce((sum, one) => sum + one.stats.bytes, 0);
  return own + deleted + (rewritten === undefined ? 0 : rewritten.stats.bytes);
}

async function sampleMerged(
  { path, stats }: Merged,
  schema: RecordSchema,
  { deadlineMs, folder, pool }: Workbench,
): Promise<readonly object[]> {
  if (stats.records === 0) return [];
  const own = Object.keys(schema.properties).map(identifier).join(', ');
  const statements = [`SELECT ${own} FROM read_parquet(${literal(path)}) LIMIT ${SAMPLE_MAX}`];
  const { bytes } = await pool.body({ files: [], folder, statements, deadlineMs }, 'json');
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly object[];
}
