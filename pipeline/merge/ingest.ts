// One ingestion: file -> decode -> infer or check -> conform -> duplicates -> sorted Parquet ->
// one commit (DESIGN.md "Flows"). Until the commit nothing is visible; the files it leaves when it
// dies are swept at the next start.
import { dirname } from 'node:path';
import { changeDatasetRow } from '../../store/datasets/datasetRows.ts';
import type { CommitNote, Committed, ChangedKeys } from '../../store/lake/commit.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { Dataset } from '../../store/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Reject } from '../../store/work/jobs.ts';
import { columnsOf, createDataset, storeInstead } from '../../store/lake/datasetEdits.ts';
import { isStandIn } from '../../store/datasets/standIns.ts';
import type { Lake } from '../../store/lake/lake.ts';
import { type DataFile, fileName, newFileOf, type Table } from '../../store/versions/lakeRead.ts';
import { quarantine } from '../../store/datasets/quarantine.ts';
import { shortName, stampFile } from '../../store/versions/stamp.ts';
import { inWorkFolder } from '../../store/base/workFolder.ts';
import { type Reconciled, writtenDeletes } from './reconcile.ts';
import { conform, tableOf } from '../conform/conform.ts';
import { openRelation } from '../decode/decode.ts';
import { quoted } from '../bytes/excerpt.ts';
import { notesOf } from '../conform/loadNotes.ts';
import { mergeLoad, replacingEdits, schemaEdits } from './merge.ts';
import { refuseMany } from '../batch/batch.ts';
import { type FileStats, writtenFile } from '../batch/parquetFile.ts';
import type { Relation } from '../values/relation.ts';
import { type UniqueIndex, uniqueIndexOf } from '../batch/uniqueIndex.ts';
import type { Edit } from '../../store/lake/edit.ts';
import type { Batch } from '../batch/batchRequest.ts';
import type {
  Conformed,
  SchemaChange,
  Load,
  IngestServices,
  IngestEvents,
} from '../conform/load.ts';
import type { Workbench } from '../bytes/workbench.ts';

interface Ingested {
  readonly validated: number;
  readonly ingested: number;
  readonly invalid: number;
  /** Records that are kept aside for an expectation that they did not keep. */
  readonly quarantined: number;
  /** Records left out, or stored records replaced, because the index value was taken. */
  readonly duplicates: number;
  readonly rejects: readonly Reject[];
  /** Which index and which properties it was read by, and what of it a person should look at. */
  readonly notes: readonly string[];
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

/**
 * The file of a load as a relation; how it was read where it could be read otherwise is logged.
 * @throws Failure InvalidBody for what can not be read, or would make a dataset without types.
 */
export async function openLoad(
  load: Load,
  {
    bench,
    events,
    services,
  }: Pick<Run, 'bench' | 'services'> & { events: Pick<IngestEvents, 'log'> },
): Promise<Relation> {
  const known = services.lake.directory.dataset(load.workspace, load.dataset);
  const names = known === undefined ? {} : { known: Object.keys(known.schema.properties) };
  const { facts, usual } = services.defaultsOf(load) ?? {};
  const opening = { ...load, ...names, usual, facts };
  const relation = load.relation ?? (await openRelation(opening, bench));
  for (const note of relation.notes ?? []) await events.log(note);
  const isKnown = known !== undefined && (load.standIn !== undefined || !isStandIn(known));
  if (relation.empty !== true || isKnown) return relation;
  const header = quoted(relation.columns.map(({ name }) => name).join(','));
  const told = `the body has a header (${header}) and no record`;
  const rule = 'nothing tells the types of a new dataset: add a record, or make the dataset first';
  throw new Failure('InvalidBody', `${told}; ${rule}`);
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
    const below = await foldersOf(load, services.lake);
    const bench = { pool, folder, below, deadlineMs, onProgress: events.progress, ...abort };
    const run = { load, author, services, bench, events };
    await events.validating();
    const relation = await openLoad(load, { services, bench, events });
    const conformed = await conform(run, relation);
    await tellBreaches(conformed.batch, events);
    refuseBatch(conformed.batch, load);
    // The dataset is made once the records are known to be good.
    const dataset =
      conformed.kind === 'known'
        ? conformed.dataset
        : (conformed.instead?.dataset ??
          (await createDataset(services.lake, conformed.draft, author)));
    services.at('parquet-written');
    const { batch } = conformed;
    await events.validated(batch.stats.records + batch.duplicates);
    await events.ingesting();
    return store(run, conformed, dataset, finish);
  });
}

/** Of the stored files that a load meets. */
async function foldersOf({ dataset, workspace }: Load, lake: Lake): Promise<readonly string[]> {
  const known = lake.directory.dataset(workspace, dataset);
  if (known === undefined) return [];
  const { folder } = await tableOf(lake, known);
  return [dirname(lake.files.placeOf(`${folder}file`))];
}

/** Warnings of a batch, and how much of it is kept aside, as lines of the job's log. */
export async function tellBreaches(
  { quarantined, warnings }: Batch,
  { log }: Pick<IngestEvents, 'log'>,
): Promise<void> {
  for (const { line, records, rule } of warnings) {
    const first = line === undefined ? '' : `, the first in line ${line}`;
    await log(`expectation failed for ${records} records${first}: ${rule}`);
  }
  if (quarantined.length === 0) return;
  const [{ line, rule } = { line: 0, rule: '' }] = quarantined;
  await log(`${quarantined.length} records go to quarantine: line ${line}: ${rule}`);
}

/**
 * What ends a load although its file could be read.
 * @throws Failure for too many records, too many rejected ones, or an expectation that ends it.
 */
export function refuseBatch(batch: Batch, load: Load): void {
  refuseMany(batch.stats.records + batch.duplicates + batch.quarantined.length);
  const reasons = batch.rejects.slice(0, 3).map(({ line, error }) => `line ${line}: ${error}`);
  if (batch.failed !== undefined) {
    const { line, records, rule } = batch.failed;
    const told = `expectation failed: ${rule}: line ${line}, ${records} records in all`;
    throw new RejectedFailure(told, batch);
  }
  if (batch.invalid > load.rejectsMax) {
    const counted = `${batch.invalid} invalid records, ${load.rejectsMax} allowed`;
    throw new RejectedFailure(`${counted}: ${reasons.join('; ')}`, batch);
  }
  const left = batch.stats.records + batch.quarantined.length;
  if (batch.invalid > 0 && left === 0) {
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

async function store(
  run: Run,
  conformed: Conformed,
  dataset: Dataset,
  finish: Finish,
): Promise<Ingested> {
  const { load, author, services, bench } = run;
  const { lake } = services;
  const { batch } = conformed;
  const change = conformed.kind === 'known' ? conformed.change : undefined;
  const { becoming, edits, table } = await targetOf(conformed, dataset, lake);
  const index = uniqueIndexOf(becoming, table);
  const place = { bench, files: lake.files, table, index };
  const met = await mergeLoad(batch, load, change, place);
  const counts = {
    validated: batch.stats.records + batch.duplicates,
    ingested: met.stats.records,
    invalid: batch.invalid,
    quarantined: batch.quarantined.length,
    duplicates: batch.duplicates + met.ignored + met.replaced,
  };
  const notes = notesOf(conformed, { ...counts, replaced: met.replaced }, load);
  const outcome = { ...counts, rejects: batch.rejects, notes };
  for (const note of notes) await run.events.log(note);
  services.signal?.throwIfAborted();
  const wider = change === undefined ? table : { ...table, columns: change.columns };
  edits.push(...schemaEdits(table, change));
  if (met.emptied) edits.push(met.emptied);
  edits.push(...(await publishDeletes(met.deletes, table, lake)));
  if (met.rewritten) {
    const { path, stats } = met.rewritten;
    edits.push(...(await publishFile(path, stats, wider, lake, 'all')));
  }
  const gone = conformed.kind === 'new' && conformed.instead !== undefined;
  const replaces = gone || (met.emptied && !met.rewritten) ? 'all' : undefined;
  edits.push(...(await publishFile(met.path, met.stats, wider, lake, replaces)));
  const message = `${outcome.ingested} records into ${dataset.workspace}.${dataset.dataset}`;
  const touches =
    load.touches ?? (load.overwrite || change || gone ? undefined : touchedKeys(met.stats, index));
  const note = { author, message, ...(touches ? { touches } : {}) };
  const alongside: Alongside = async (transaction, committed) => {
    await finish(transaction, outcome, committed);
    await keepAside(transaction, dataset, run, batch, committed);
    if (gone) await storeInstead(transaction, dataset, conformed.draft, committed.timeMs);
    else await updateRow(transaction, dataset, change, committed);
  };
  await commitOrTidy(edits, note, alongside, wider, lake);
  return outcome;
}

/** What a load is stored into: its dataset, or what takes the place of a stand-in with the same commit. */
async function targetOf(
  conformed: Conformed,
  dataset: Dataset,
  lake: Lake,
): Promise<{
  readonly becoming: Dataset;
  readonly table: Table;
  /** What becomes of all that is there. */
  readonly edits: Edit[];
}> {
  const table = await tableOf(lake, dataset);
  const instead = conformed.kind === 'new' ? conformed.instead : undefined;
  if (conformed.kind === 'known' || instead === undefined) {
    return { becoming: dataset, table, edits: [] };
  }
  const columns = columnsOf(conformed.draft, instead.firstId);
  return {
    becoming: { ...dataset, ...conformed.draft },
    table: { ...table, columns, files: [], records: 0, bytes: 0 },
    edits: [...replacingEdits(table, columns)],
  };
}

/** Runs in the commit's transaction. */
type Alongside = (transaction: Database, committed: Committed) => Promise<void>;

async function keepAside(
  transaction: Database,
  { tableId }: Dataset,
  { load }: Run,
  { quarantined }: Batch,
  { timeMs }: Committed,
): Promise<void> {
  if (quarantined.length === 0) return;
  await quarantine(transaction, tableId, quarantined, load.jobId ?? null, timeMs);
}

async function updateRow(
  transaction: Database,
  { tableId }: Dataset,
  change: SchemaChange | undefined,
  { timeMs }: Committed,
): Promise<void> {
  const schema = change === undefined ? {} : { schema_json: JSON.stringify(change.schema) };
  await changeDatasetRow(transaction, tableId, { updated_ms: timeMs, ...schema });
}

/** What is refused in the transaction itself leaves no published file behind. */
async function commitOrTidy(
  edits: readonly Edit[],
  note: CommitNote,
  alongside: Alongside,
  { folder }: Table,
  lake: Lake,
): Promise<void> {
  let refused = false;
  try {
    await lake.commit(edits, note, async (transaction, committed) => {
      try {
        await alongside(transaction, committed);
      } catch (error) {
        refused = true;
        throw error;
      }
    });
  } catch (error) {
    const paths = namesIn(edits).map((name) => `${folder}${name}`);
    if (refused) await lake.files.remove(paths).catch(() => undefined);
    throw error;
  }
}

const namesIn = (edits: readonly Edit[]): readonly string[] =>
  edits.flatMap((edit) => {
    if (edit.kind === 'insert') return [edit.file.name];
    return edit.kind === 'delete' ? edit.deletes.map(({ file }) => file.name) : [];
  });

/**
 * Records that a load adds or replaces are those of its file. Statistics of long texts are cut so
 * that they still hold all of them between them.
 */
function touchedKeys({ columns }: FileStats, index: UniqueIndex): ChangedKeys | undefined {
  const [key] = index.columns;
  const told = key?.type === 'varchar' ? columns.get(key.name) : undefined;
  const [least, greatest] = [told?.get('min'), told?.get('max')];
  if (least === undefined || greatest === undefined) return undefined;
  return { kind: 'keys', least, greatest };
}

/**
 * Publishes a sorted file of the table; the edit that names it, unless it holds no record.
 * @param replaces files whose records it holds, or that all that was there goes
 */
export async function publishFile(
  made: string,
  stats: FileStats,
  table: Table,
  lake: Lake,
  replaces?: 'all' | readonly DataFile[],
): Promise<readonly Edit[]> {
  if (stats.records === 0) return [];
  const { name, path } = newFileOf(table);
  const gone = typeof replaces === 'object' ? replaces.map((one) => shortName(one.path)) : replaces;
  const stamp = lake.stamp(table.tableId, gone === undefined ? {} : { replaces: gone });
  await stampFile(made, stats.footerBytes, stamp);
  const proof = await lake.files.publish(made, path);
  const file = writtenFile(name, stats, table.columns, proof);
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
    const deletesOf = fileName(pending.dataFile.path);
    const stamp = lake.stamp(table.tableId, { deletesOf });
    await stampFile(pending.path, pending.stats.footerBytes, stamp);
    const proof = await lake.files.publish(pending.path, path);
    deletes.push(writtenDeletes(name, pending, proof));
  }
  return [{ kind: 'delete', tableId: table.tableId, deletes }];
}
