// One ingestion: file -> decode -> infer or check -> conform -> duplicates -> sorted Parquet ->
// one commit (DESIGN.md "Flows"). Until the commit nothing is visible; the files it leaves when it
// dies are swept at the next start.
import type { Clock } from '../store/clock.ts';
import { columnTypeOf, type PropertyType, UPDATED_COLUMN } from '../store/columns.ts';
import type { Committed, Edit, Touches } from '../store/commit.ts';
import type { AtCrashPoint } from '../store/crashPoints.ts';
import type { Database } from '../store/database.ts';
import { type ColumnMapping, type Dataset, UNSAID } from '../store/datasets.ts';
import type { DuckDbPool } from '../store/duckdb/pool.ts';
import { Failure } from '../store/failure.ts';
import type { Reject } from '../store/jobs.ts';
import { columnsOf, createDataset, type DatasetDraft } from '../store/datasetEdits.ts';
import type { Lake } from '../store/lake.ts';
import { newFileOf, type Table } from '../store/lakeRead.ts';
import { inWorkFolder } from '../store/workFolder.ts';
import { type Reconciled, reconcile, writtenDeletes } from './against.ts';
import { type Batch, makeBatch, type Workbench } from './batch.ts';
import { guessMapping, schemaOf, wantedDates, widen } from './infer.ts';
import { type FileStats, writtenFile } from './parquetFile.ts';
import type { Relation } from './relation.ts';
import { openSource } from './source.ts';
import { type UniqueIndex, uniqueIndexOf } from './uniqueIndex.ts';

type DuplicateHandling = 'ignore' | 'replace';

/** What to load, and into what. */
export interface Load {
  readonly path: string;
  readonly workspace: string;
  readonly dataset: string;
  readonly duplicates: DuplicateHandling;
  /** The load takes the place of every record that is stored. */
  readonly overwrite?: boolean;
  /** Rejected records after which nothing is ingested. */
  readonly rejectsMax: number;
  /** Parts of the unique index when the dataset is made by this load; guessed when undefined. */
  readonly mapping?: ColumnMapping;
  /** Where the records of a JSON document are; `$[*]` or one a line when undefined. */
  readonly jsonPath?: string;
  readonly source?: string;
  /** The file's columns when its maker told them: nothing is guessed. */
  readonly relation?: Relation;
  /** What it changes for who has records in memory. */
  readonly touches?: Touches;
}

export interface IngestServices {
  readonly lake: Lake;
  readonly pool: DuckDbPool;
  readonly temporary: string;
  readonly clock: Clock;
  readonly at: AtCrashPoint;
  readonly deadlineMs: number;
  /** Aborted when the load is to end without a trace. */
  readonly signal?: AbortSignal;
}

/** Told while it runs. */
export interface IngestEvents {
  readonly validating: () => Promise<void>;
  readonly validated: () => Promise<void>;
  readonly ingesting: () => Promise<void>;
  readonly progress: (percent: number) => void;
  readonly log: (message: string) => Promise<void>;
}

const nothing = async (): Promise<void> => undefined;

/** A load that nobody follows: single records are not logged (INTERFACE.md 3.7). */
export const silentEvents: IngestEvents = {
  validating: nothing,
  validated: nothing,
  ingesting: nothing,
  progress: () => undefined,
  log: nothing,
};

interface Ingested {
  readonly validated: number;
  readonly ingested: number;
  readonly invalid: number;
  /** Records left out, or stored records replaced, because the index value was taken. */
  readonly duplicates: number;
  readonly rejects: readonly Reject[];
}

/** Runs in the commit's transaction: the job is finished exactly when its records are visible. */
type Finish = (transaction: Database, outcome: Ingested, committed: Committed) => Promise<void>;

/** One load while it runs. */
interface Run {
  readonly load: Load;
  readonly author: string;
  readonly services: IngestServices;
  readonly bench: Workbench;
  readonly events: IngestEvents;
}

/** @throws Failure with the reason; then nothing of the load is visible. */
export async function ingest(
  load: Load,
  author: string,
  services: IngestServices,
  events: IngestEvents,
  finish: Finish,
): Promise<Ingested> {
  const { pool, deadlineMs, signal } = services;
  const abort = signal === undefined ? {} : { signal };
  return inWorkFolder(services.temporary, async (folder) => {
    const bench = { pool, folder, deadlineMs, onProgress: events.progress, ...abort };
    const run = { load, author, services, bench, events };
    await events.validating();
    const relation = load.relation ?? (await openSource(load.path, load.jsonPath, bench));
    const validated = await validate(run, relation);
    services.at('parquet-written');
    await events.validated();
    await events.ingesting();
    return store(run, validated, finish);
  });
}

interface Validated {
  readonly batch: Batch;
  readonly dataset: Dataset;
}

async function validate(run: Run, relation: Relation): Promise<Validated> {
  const { load, services, bench, events } = run;
  const known = services.lake.catalogue.dataset(load.workspace, load.dataset);
  if (known === undefined) return inferAndCreate(run, relation);
  const table = await tableOf(services.lake, known);
  checkColumns(known, relation);
  const extra = relation.columns.filter(
    ({ name }) => !Object.hasOwn(known.schema.properties, name) && name !== UPDATED_COLUMN,
  );
  if (extra.length > 0) {
    const list = extra
      .map(({ name }) => name)
      .slice(0, 20)
      .join(', ');
    await events.log(`columns that the schema does not have are left out: ${list}`);
  }
  const attempt = await makeBatch(request(load, relation, known, table, services), bench, false);
  if (attempt.kind === 'misfit') throw new Failure('SystemError', 'a fixed schema was widened');
  refuseBatch(attempt.batch, load);
  return { batch: attempt.batch, dataset: known };
}

/**
 * Types guessed from the head are widened until the whole file fits: as if all of it was read. The
 * dataset is made once the records are known to be good.
 */
async function inferAndCreate(run: Run, relation: Relation): Promise<Validated> {
  const { load, author, services, bench, events } = run;
  const properties: Record<string, PropertyType> = {
    ...wantedDates(relation.columns, load.mapping),
  };
  for (;;) {
    const draft = draftOf(load, properties);
    checkColumns(draft, relation);
    const table = {
      tableId: 0,
      snapshot: 0,
      folder: '',
      columns: columnsOf(draft),
      files: [],
      records: 0,
      bytes: 0,
    };
    const dataset = { ...draft, tableId: 0, createdMs: 0, updatedMs: 0 };
    const attempt = await makeBatch(request(load, relation, dataset, table, services), bench, true);
    if (attempt.kind === 'batch') {
      refuseBatch(attempt.batch, load);
      const created = await createDataset(services.lake, draft, author);
      return { batch: attempt.batch, dataset: created };
    }
    for (const { column, line, value } of attempt.misfits) {
      const guessed = properties[column] ?? { type: 'string' };
      const wider = widen(guessed);
      const was = guessed.format ?? guessed.type;
      const shown = JSON.stringify(value.slice(0, 100));
      await events.log(`${column} becomes ${wider.type}: line ${line} has ${shown}, no ${was}`);
      properties[column] = wider;
    }
  }
}

function draftOf(load: Load, properties: Readonly<Record<string, PropertyType>>): DatasetDraft {
  const mapping = load.mapping ?? guessMapping(properties);
  return {
    workspace: load.workspace,
    dataset: load.dataset,
    ...UNSAID,
    source: load.source ?? '',
    schema: schemaOf(properties, mapping),
    mapping,
  };
}

/** @throws Failure InvalidBody when an indexed property is not in the file or can't be one. */
function checkColumns(dataset: DatasetDraft, relation: Relation): void {
  const names = new Set(relation.columns.map(({ name }) => name));
  for (const [part, name] of Object.entries(dataset.mapping)) {
    const property = dataset.schema.properties[name];
    if (!names.has(name) || property === undefined) {
      throw new Failure(
        'InvalidBody',
        `validation failed: should have required property '${name}'`,
      );
    }
    const date = property.format !== undefined;
    if (part === 'date' && !date) {
      throw new Failure('InvalidBody', `property '${name}' can not be the date: it holds no dates`);
    }
    if (columnTypeOf(property) === 'json') {
      throw new Failure('InvalidBody', `property '${name}' can not be indexed: it is no scalar`);
    }
  }
}

const request = (
  load: Load,
  relation: Relation,
  dataset: Dataset,
  table: Table,
  { clock }: IngestServices,
): Parameters<typeof makeBatch>[0] => ({
  relation,
  columns: table.columns,
  index: uniqueIndexOf(dataset, table),
  duplicates: load.duplicates,
  nowMs: clock(),
});

/** Records of one ingestion (INTERFACE.md 3.8): past it nothing is ingested. */
const RECORDS_MAX = 20_000_000;

/** @throws Failure for too many records, or too many rejected ones. */
function refuseBatch(batch: Batch, load: Load): void {
  const read = batch.stats.records + batch.duplicates;
  if (read > RECORDS_MAX) {
    throw new Failure('InvalidBody', `the body has ${read} records, at most ${RECORDS_MAX} a job`);
  }
  const reasons = batch.rejects.slice(0, 3).map(({ line, error }) => `line ${line}: ${error}`);
  if (batch.invalid > load.rejectsMax) {
    const counted = `${batch.invalid} invalid records, ${load.rejectsMax} allowed`;
    throw new RejectedFailure(`${counted}: ${reasons.join('; ')}`, batch);
  }
  if (batch.invalid > 0 && batch.stats.records === 0) {
    throw new RejectedFailure(`no record is valid: ${reasons.join('; ')}`, batch);
  }
}

/** A load that its rejected records ended; they are told beside the reason. */
export class RejectedFailure extends Failure {
  readonly rejects: readonly Reject[];
  readonly invalid: number;

  constructor(detail: string, batch: Batch) {
    super('InvalidBody', detail);
    this.rejects = batch.rejects;
    this.invalid = batch.invalid;
  }
}

async function tableOf(lake: Lake, dataset: Dataset): Promise<Table> {
  const table = await lake.table(dataset.tableId);
  if (table === undefined) throw new Failure('NotFound');
  return table;
}

async function store(
  { load, author, services, bench }: Run,
  { batch, dataset }: Validated,
  finish: Finish,
): Promise<Ingested> {
  const { lake } = services;
  const table = await tableOf(lake, dataset);
  const index = uniqueIndexOf(dataset, table);
  const place = { bench, files: lake.files, table, index };
  const reconciled = load.overwrite
    ? { path: batch.path, stats: batch.stats, ignored: 0, replaced: 0, deletes: [] }
    : await reconcile(batch, load.duplicates, place);
  const outcome = {
    validated: batch.stats.records + batch.duplicates,
    ingested: reconciled.stats.records,
    invalid: batch.invalid,
    duplicates: batch.duplicates + reconciled.ignored + reconciled.replaced,
    rejects: batch.rejects,
  };
  const { tableId } = dataset;
  const emptied: readonly Edit[] =
    load.overwrite === true && table.files.length > 0 ? [{ kind: 'truncate', tableId }] : [];
  services.signal?.throwIfAborted();
  const deletes = await publishDeletes(reconciled.deletes, table, lake);
  const inserts = await publishFile(reconciled.path, reconciled.stats, table, lake);
  const edits = [...emptied, ...deletes, ...inserts];
  const message = `${outcome.ingested} records into ${dataset.workspace}.${dataset.dataset}`;
  const touches =
    load.touches ?? (load.overwrite ? undefined : touchedKeys(reconciled.stats, index));
  const note = { author, message, ...(touches ? { touches } : {}) };
  await lake.commit(edits, note, async (transaction, committed) => {
    await finish(transaction, outcome, committed);
    await transaction
      .updateTable('dataset')
      .set({ updated_ms: committed.timeMs })
      .where('table_id', '=', dataset.tableId)
      .execute();
  });
  return outcome;
}

/**
 * Records that a load adds or replaces are those of its file. Statistics of long texts are cut so
 * that they still hold all of them between them.
 */
function touchedKeys({ columns }: FileStats, index: UniqueIndex): Touches | undefined {
  const [key] = index.columns;
  const told = key?.type === 'varchar' ? columns.get(key.name) : undefined;
  const [least, greatest] = [told?.get('min'), told?.get('max')];
  if (least === undefined || greatest === undefined) return undefined;
  return { kind: 'keys', least, greatest };
}

/** Publishes a sorted file of the table; the edit that names it, unless it holds no record. */
export async function publishFile(
  made: string,
  stats: FileStats,
  table: Table,
  lake: Lake,
): Promise<readonly Edit[]> {
  if (stats.records === 0) return [];
  const { name, path } = newFileOf(table);
  await lake.files.publish(made, path);
  const file = writtenFile(name, stats, table.columns);
  return [{ kind: 'insert', tableId: table.tableId, file }];
}

/** Publishes delete files; the edit that names them, if there are any. */
export async function publishDeletes(
  pendings: Reconciled['deletes'],
  table: Table,
  lake: Lake,
): Promise<readonly Edit[]> {
  if (pendings.length === 0) return [];
  const deletes = [];
  for (const pending of pendings) {
    const { name, path } = newFileOf(table, '-delete');
    await lake.files.publish(pending.path, path);
    deletes.push(writtenDeletes(name, pending));
  }
  return [{ kind: 'delete', tableId: table.tableId, deletes }];
}
