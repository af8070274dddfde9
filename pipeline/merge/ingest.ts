// One ingestion: file -> decode -> infer or check -> conform -> duplicates -> sorted Parquet ->
// one commit (DESIGN.md "Flows"). Until the commit nothing is visible; the files it leaves when it
// dies are swept at the next start.
import { dirname } from 'node:path';
import type { Lake } from '../../store/lake/lake.ts';
import { ROW_COLUMN } from '../../store/lake/versions/columns.ts';
import { LOAD_ROWS } from '../../store/lake/pushes/rowNumbers.ts';
import type { ChangedKeys } from '../../store/lake/commit.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { type Reject, REJECTS_KEPT_MAX } from '../../store/work/jobs.ts';
import { columnsOf } from '../../store/lake/datasetEdits.ts';
import { isStandIn } from '../../store/lake/datasets/standIns.ts';
import {
  type DataFile,
  fileName,
  newFileOf,
  type Table,
} from '../../store/lake/versions/lakeRead.ts';
import { shortName, stampFile } from '../../store/lake/versions/stamp.ts';
import { type MergeBench, type Reconciled, writtenDeletes } from './reconcile.ts';
import { findRejectedRepeats } from './rejectedRepeats.ts';
import { checkPlace, isCheckedBeside } from '../conform/placeCheck.ts';
import { conform, tableOf } from '../conform/conform.ts';
import { openRelation } from '../decode/decode.ts';
import { quoted } from '../bytes/excerpt.ts';
import { describeLoad } from '../conform/loadNotes.ts';
import { mergeLoad, replacingEdits, schemaEdits } from './merge.ts';
import { refuseMany } from '../batch/batch.ts';
import { withUnreadLines } from '../batch/unread.ts';
import { zoneNotes } from '../batch/zoneNotes.ts';
import { type FileStats, writtenFile } from '../batch/parquetFile.ts';
import type { Relation } from '../values/relation.ts';
import { nextRow, type UniqueIndex, uniqueIndexOf } from '../batch/uniqueIndex.ts';
import type { Edit } from '../../store/lake/edit.ts';
import type { Batch } from '../batch/batchRequest.ts';
import { type Finish, storeIn } from './storing.ts';
import type {
  Conformed,
  Ingested,
  IngestEvents,
  IngestServices,
  Load,
  LoadLake,
  LoadWork,
} from '../conform/load.ts';
import { besideFolder, inWorkspace, type Workbench } from '../bytes/workbench.ts';

/** One load while it runs. */
interface Run extends LoadWork {
  readonly bench: Workbench;
}

/** A load whose file was opened. */
interface OpenRun extends Run {
  readonly relation: Relation;
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
  const { facts, rewrite, usual } = services.defaultsOf(load) ?? {};
  const opening = { ...load, ...names, usual, rewrite, facts };
  const relation = load.relation ?? (await openRelation(opening, bench));
  for (const note of relation.notes ?? []) await events.log(note);
  const isKnown = known !== undefined && (load.standIn !== undefined || !isStandIn(known));
  if (relation.empty !== true || isKnown) return relation;
  const header = quoted(relation.columns.map(({ name }) => name).join(','));
  const told = `the body has a header (${header}) and no record`;
  const rule = 'nothing tells the types of a new dataset: add a record, or make the dataset first';
  throw new Failure('InvalidBody', `${told}; ${rule}`);
}

/**
 * Here, or at a node that is free.
 * @throws Failure with the reason; then nothing of the load is visible.
 */
export async function ingest(
  load: Load,
  author: string,
  services: IngestServices,
  events: IngestEvents,
  finish: Finish,
): Promise<Ingested> {
  const numbered = await reserveRows(load, services.lake);
  const store = storeIn(services.lake, { load: numbered, author, finish });
  const others = isCheckedBeside(load, services) ? undefined : services.others;
  const elsewhere = await others?.work({ load: numbered, services, events, store });
  if (elsewhere !== undefined) return elsewhere;
  // The file is looked at first, and that takes as long as a process takes to start.
  services.pool.expect();
  return workOn({ load: numbered, services, events, store });
}

const isRow = ({ name }: { readonly name: string }): boolean => name === ROW_COLUMN;

/** The load with numbers for its records, of a dataset without unique index. */
async function reserveRows(load: Load, lake: Lake): Promise<Load> {
  const known = lake.directory.dataset(load.workspace, load.dataset);
  if (known?.numbered !== true || load.relation?.columns.some(isRow) === true) return load;
  const table = await tableOf(lake, known);
  const firstRow = lake.rowNumbers.reserve(known.tableId, nextRow(table), LOAD_ROWS);
  return { ...load, firstRow };
}

/** All of a load but its commit, which its store sees to. @throws as `ingest` */
export async function workOn({ load, services, events, store }: LoadWork): Promise<Ingested> {
  const { deadlineMs, signal } = services;
  const abort = signal === undefined ? {} : { signal };
  return inWorkspace(load.workspace, services, async (place) => {
    const beside = services.defaultsOf(load)?.check?.beside;
    const below = await foldersOf(load, services.lake, beside);
    const bench = { ...place, below, deadlineMs, onProgress: events.progress, ...abort };
    const work = (path: string): Promise<Ingested> =>
      runOn({ load: { ...load, path }, services, bench, events, store });
    return besideFolder(load, bench.folder, work);
  });
}

async function runOn(run: Run): Promise<Ingested> {
  const { bench, events, load, services, store } = run;
  await events.validating();
  const relation = await openLoad(load, { services, bench, events });
  const found = await conform(run, relation);
  const conformed = { ...found, batch: withUnreadLines(found.batch, relation) };
  await tellBreaches(conformed.batch, events);
  refuseBatch(conformed.batch, load);
  const checked = await checkPlace({ run, relation, conformed });
  for (const note of checked) await events.log(note);
  const placeNotes = [...(relation.notes ?? []), ...checked];
  // The dataset is made once the records are known to be good.
  const dataset =
    conformed.kind === 'known'
      ? conformed.dataset
      : (conformed.instead?.dataset ?? (await store.create(conformed.draft)));
  services.at('parquet-written');
  const { batch } = conformed;
  await events.validated(batch.stats.records + batch.duplicates);
  await events.ingesting();
  const zoned = relation.zone === undefined ? [] : await notesOnZone(run, relation, conformed);
  for (const note of zoned) await events.log(note);
  return meet({ ...run, relation }, conformed, dataset, [...placeNotes, ...zoned]);
}

async function notesOnZone(
  { bench, services }: Run,
  relation: Relation,
  conformed: Conformed,
): Promise<readonly string[]> {
  const columns =
    conformed.kind === 'new'
      ? columnsOf(conformed.draft)
      : (conformed.change?.columns ?? (await tableOf(services.lake, conformed.dataset)).columns);
  return zoneNotes(relation, columns, bench);
}

/** Of the stored files that a load meets. */
async function foldersOf(
  { dataset, workspace }: Load,
  lake: LoadLake,
  beside: string | undefined,
): Promise<readonly string[]> {
  const names = beside === undefined ? [dataset] : [dataset, beside];
  const folders: string[] = [];
  for (const name of names) {
    const known = lake.directory.dataset(workspace, name);
    if (known === undefined) continue;
    const { folder } = await tableOf(lake, known);
    folders.push(dirname(lake.files.placeOf(`${folder}file`)));
  }
  return folders;
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

  constructor(detail: string, batch: Pick<Batch, 'rejects' | 'invalid'>) {
    super('InvalidBody', detail);
    this.rejects = batch.rejects;
    this.invalid = batch.invalid;
  }
}

async function meet(
  run: OpenRun,
  conformed: Conformed,
  dataset: Dataset,
  placeNotes: readonly string[],
): Promise<Ingested> {
  const { load, services, bench, store } = run;
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
    duplicates: batch.duplicates + met.ignored + met.replaced + met.unchanged,
    replaced: met.replaced,
    unchanged: met.unchanged,
  };
  const rejected = await rejectRepeats(run, conformed, counts, place);
  const described = describeLoad(conformed, { ...counts, ...met, ...rejected }, load);
  const notes = [...described, ...placeNotes, ...conformed.inferred];
  const columnsLeftOut = [...new Set([...conformed.leftOut, ...(run.relation.leftOut ?? [])])];
  const outcome = { ...counts, rejects: batch.rejects, ...rejected, columnsLeftOut, notes };
  for (const note of described) await run.events.log(note);
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
  await store.keep({
    edits,
    message,
    touches,
    outcome,
    dataset,
    folder: table.folder,
    quarantined: batch.quarantined,
    schema: change?.schema,
    instead: gone ? conformed.draft : undefined,
  });
  return outcome;
}

interface RejectedRepeats {
  readonly validated?: number;
  readonly duplicates?: number;
  readonly invalid?: number;
  readonly rejects?: readonly Reject[];
}

/** What was left out for an index value that was taken, as rejects: where the caller chose so. */
async function rejectRepeats(
  { load }: OpenRun,
  { batch, request }: Conformed,
  {
    duplicates,
    invalid,
    unchanged,
    validated,
  }: Omit<Ingested, 'rejects' | 'columnsLeftOut' | 'notes'>,
  place: MergeBench,
): Promise<RejectedRepeats> {
  const repeats = duplicates - unchanged;
  if (load.duplicates !== 'reject' || repeats === 0) return {};
  const found = await findRejectedRepeats(batch, request, place);
  const rejects = [...batch.rejects, ...found].sort((one, other) => one.line - other.line);
  return {
    validated: validated - repeats,
    duplicates: unchanged,
    invalid: invalid + repeats,
    rejects: rejects.slice(0, REJECTS_KEPT_MAX),
  };
}

/** What a load is stored into: its dataset, or what takes the place of a stand-in with the same commit. */
async function targetOf(
  conformed: Conformed,
  dataset: Dataset,
  lake: LoadLake,
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
  lake: Pick<LoadLake, 'files' | 'stamp'>,
  replaces?: 'all' | readonly DataFile[],
): Promise<readonly Edit[]> {
  if (stats.records === 0) return [];
  const { name, path } = newFileOf(table);
  const gone = typeof replaces === 'object' ? replaces.map((one) => shortName(one.path)) : replaces;
  const stamp = await lake.stamp(table.tableId, gone === undefined ? {} : { replaces: gone });
  await stampFile(made, stats.footerBytes, stamp);
  const proof = await lake.files.publish(made, path);
  const file = writtenFile(name, stats, table.columns, proof);
  return [{ kind: 'insert', tableId: table.tableId, file }];
}

/** Publishes delete files; the edit that names them, if there are any. */
export async function publishDeletes(
  pendings: Reconciled['deletes'],
  table: Table,
  lake: Pick<LoadLake, 'files' | 'stamp'>,
): Promise<readonly Edit[]> {
  if (pendings.length === 0) return [];
  const deletes = [];
  for (const pending of pendings) {
    const { name, path } = newFileOf(table, '-delete');
    const deletesOf = fileName(pending.dataFile.path);
    const stamp = await lake.stamp(table.tableId, { deletesOf });
    await stampFile(pending.path, pending.stats.footerBytes, stamp);
    const proof = await lake.files.publish(pending.path, path);
    deletes.push(writtenDeletes(name, pending, proof));
  }
  return [{ kind: 'delete', tableId: table.tableId, deletes }];
}
