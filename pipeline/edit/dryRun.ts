// What a load would do, without doing it: the same way up to the commit, in a work folder that goes.
import { stat } from 'node:fs/promises';
import type { PropertyType } from '../../store/lake/versions/columns.ts';
import type { ColumnMapping, Dataset, RecordSchema } from '../../store/lake/datasets/datasets.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { Reject } from '../../store/work/jobs.ts';
import type { Aside } from '../../store/lake/datasets/quarantine.ts';
import { checkPlace } from '../conform/placeCheck.ts';
import { conform, tableOf } from '../conform/conform.ts';
import { openLoad, refuseBatch, tellBreaches } from '../merge/ingest.ts';
import { describeLoad } from '../conform/loadNotes.ts';
import { mergeLoad, type Meeting } from '../merge/merge.ts';
import { uniqueIndexOf } from '../batch/uniqueIndex.ts';
import { withUnreadLines } from '../batch/unread.ts';
import type { Batch } from '../batch/batchRequest.ts';
import type { Conformed, IngestServices, Load } from '../conform/load.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import { nameInFile } from '../values/namedColumns.ts';
import type { Relation } from '../values/relation.ts';
import { besideFolder, inWorkspace, type Workbench } from '../bytes/workbench.ts';

/** Records that are shown of what would be rejected, and of what would be kept aside. */
const TOLD_MAX = 100;
/** Records that are shown of what would be ingested. */
const SAMPLE_MAX = 10;
/** Lines of the log that are kept. */
const LOG_MAX = 100;

export interface DryRun {
  readonly workspace: string;
  readonly dataset: string;
  /** False: the load would make the dataset. */
  readonly exists: boolean;
  /** Why the load would end in ERROR; undefined when it would not. */
  readonly error: string | undefined;
  /** As it would be afterwards. */
  readonly schema: RecordSchema;
  readonly mapping: ColumnMapping;
  readonly added: Readonly<Record<string, PropertyType>>;
  readonly widened: Readonly<Record<string, PropertyType>>;
  /** Columns of the file that stay out. */
  readonly leftOut: readonly string[];
  /** What each column of the file is: a property, or null for one that was said to stay out. */
  readonly columns: Readonly<Record<string, string | null>>;
  /** Properties that the file does not have, with the value of each record. */
  readonly constants: Readonly<Record<string, string>>;
  readonly records: Counts;
  /** The first ones. */
  readonly rejects: readonly Reject[];
  readonly quarantined: readonly Aside[];
  readonly log: readonly string[];
  /** As the job would tell them. */
  readonly notes: readonly string[];
  readonly isUnique: boolean;
  /** Of what would be ingested, as answers have records. */
  readonly sample: readonly object[];
  /** Of the file as it came. */
  readonly bytesRead: number;
  /** Of the files that the load would add; what old versions keep stays besides. */
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
 * Writes nothing but into a work folder that goes: no dataset, no job, no version. Not in the
 * dataset's turn: it tells what the load would do now.
 * @throws Failure InvalidBody for a file that can not be read.
 */
export async function dryRun(load: Load, services: IngestServices): Promise<DryRun> {
  const { deadlineMs, signal } = services;
  const abort = signal === undefined ? {} : { signal };
  return inWorkspace(load.workspace, services, async (place) => {
    const bench = { ...place, deadlineMs, onProgress: () => undefined, ...abort };
    const work = (path: string): Promise<DryRun> => runOn({ ...load, path }, services, bench);
    return besideFolder(load, bench.folder, work);
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
  const known = services.lake.directory.dataset(load.workspace, load.dataset);
  try {
    const found = await conform(run, relation);
    const conformed = { ...found, batch: withUnreadLines(found.batch, relation) };
    await tellBreaches(conformed.batch, { log });
    const outcome = await outcomeOf(load, conformed, services, bench);
    const checked =
      outcome.error === undefined ? await checkPlace({ run, relation, conformed }) : [];
    for (const note of checked) await log(note);
    const notes = [...(relation.notes ?? []), ...(outcome.notes ?? []), ...checked];
    const told = { ...outcome, notes, log: lines };
    return { ...toldOf(load, known), ...readAs(relation), ...told, bytesRead: size };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const told = { error: reasonOf(error), log: lines, bytesRead: size };
    return { ...toldOf(load, known), ...readAs(relation), ...told };
  }
}

function readAs({
  columns,
  leftOut = [],
  rewritten = {},
}: Relation): Pick<DryRun, 'columns' | 'constants'> {
  const made = Object.values(rewritten).flatMap((properties) => properties.split('+'));
  const told = columns.flatMap((column) =>
    column.constant === undefined && !made.includes(column.name)
      ? [[nameInFile(column), column.name] as const]
      : [],
  );
  const out = leftOut.map((name) => [name, null] as const);
  const constants = columns.flatMap(({ constant, name }) =>
    constant === undefined ? [] : [[name, constant] as const],
  );
  return {
    columns: Object.fromEntries([...Object.entries(rewritten), ...told, ...out]),
    constants: Object.fromEntries(constants),
  };
}

/** What the contract or an expectation says, not what the machine does. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Failure && (error.type === 'InvalidBody' || error.type === 'Conflict');

/** What is told when nothing else is known. */
const toldOf = (
  { dataset, workspace }: Load,
  known: Dataset | undefined,
): Omit<DryRun, 'log' | 'bytesRead' | 'columns' | 'constants'> => ({
  workspace,
  dataset: known?.dataset ?? dataset,
  exists: known !== undefined,
  error: undefined,
  schema: known?.schema ?? { type: 'object', properties: {}, required: [] },
  mapping: known?.mapping ?? {},
  added: {},
  widened: {},
  leftOut: [],
  records: NO_RECORDS,
  rejects: [],
  quarantined: [],
  notes: [],
  isUnique: known?.numbered !== true,
  sample: [],
  bytesWritten: 0,
});

async function outcomeOf(
  load: Load,
  conformed: Conformed,
  services: IngestServices,
  bench: Workbench,
): Promise<Partial<DryRun>> {
  const { batch, leftOut } = conformed;
  const change = conformed.kind === 'known' ? conformed.change : undefined;
  const made = conformed.kind === 'known' ? conformed.dataset : conformed.draft;
  const { mapping, numbered, schema } = made;
  const told = {
    schema: change?.schema ?? schema,
    mapping,
    isUnique: !numbered,
    added: change?.added ?? {},
    widened: change?.widened ?? {},
    leftOut,
    rejects: batch.rejects.slice(0, TOLD_MAX),
    quarantined: batch.quarantined.slice(0, TOLD_MAX),
  };
  const validated = batch.stats.records + batch.duplicates;
  const quarantined = batch.quarantined.length;
  const counts = { ...NO_RECORDS, validated, invalid: batch.invalid, quarantined };
  try {
    refuseBatch(batch, load);
  } catch (error) {
    return { ...told, records: counts, error: reasonOf(error) };
  }
  const met = await meeting(load, conformed, services, bench);
  const duplicates = batch.duplicates + met.ignored + met.replaced + met.unchanged;
  const records = { ...counts, ingested: met.stats.records, duplicates };
  return {
    ...told,
    records,
    notes: [...describeLoad(conformed, { ...met, ...records }, load), ...conformed.inferred],
    sample: await sampleOf(met, told.schema, bench),
    bytesWritten: bytesOf(met),
  };
}

type Met = Omit<Meeting, 'emptied'>;

async function meeting(
  load: Load,
  conformed: Conformed,
  { lake }: IngestServices,
  bench: Workbench,
): Promise<Met> {
  const { batch } = conformed;
  if (conformed.kind === 'new') return { ...alone(batch), rewritten: undefined };
  const table = await tableOf(lake, conformed.dataset);
  const index = uniqueIndexOf(conformed.dataset, table);
  return mergeLoad(batch, load, conformed.change, { bench, files: lake.files, table, index });
}

const alone = ({ path, stats }: Batch): Omit<Met, 'rewritten'> => ({
  path,
  stats,
  ignored: 0,
  replaced: 0,
  unchanged: 0,
  identical: 0,
  conflicting: 0,
  deletes: [],
});

function bytesOf({ deletes, rewritten, stats }: Met): number {
  const own = stats.records === 0 ? 0 : stats.bytes;
  const gone = deletes.reduce((sum, one) => sum + one.stats.bytes, 0);
  return own + gone + (rewritten === undefined ? 0 : rewritten.stats.bytes);
}

async function sampleOf(
  { path, stats }: Met,
  schema: RecordSchema,
  { deadlineMs, folder, pool }: Workbench,
): Promise<readonly object[]> {
  if (stats.records === 0) return [];
  const own = Object.keys(schema.properties).map(identifier).join(', ');
  const statements = [`SELECT ${own} FROM read_parquet(${literal(path)}) LIMIT ${SAMPLE_MAX}`];
  const { bytes } = await pool.body({ files: [], folder, statements, deadlineMs }, 'json');
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly object[];
}
