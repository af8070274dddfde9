// One ingestion: file -> decode -> infer or check -> conform -> duplicates -> sorted Parquet ->
// one commit (DESIGN.md "Flows"). Until then nothing is visible; the next start removes files of a crash.
import { dirname } from 'node:path';
import type { Lake } from '../../store/lake/lake.ts';
import { ROW_COLUMN } from '../../store/lake/versions/columns.ts';
import { LOAD_ROWS } from '../../store/lake/pushes/rowNumbers.ts';
import type { ChangedKeys } from '../../store/lake/commit.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import { type Reject, REJECTS_MAX } from '../../store/work/jobs.ts';
import { buildColumns, dropDataset } from '../../store/lake/datasetEdits.ts';
import { isPlaceholder } from '../../store/lake/datasets/placeholders.ts';
import {
  type DataFile,
  fileName,
  createFileName,
  type Table,
} from '../../store/lake/versions/lakeRead.ts';
import { shortName, stampFile } from '../../store/lake/versions/stamp.ts';
import { type MergeTarget, type Reconciled, toWrittenDeletes } from './reconcile.ts';
import { findRejectedRepeats } from './rejectedRepeats.ts';
import { checkPlace, needsOtherDataset } from '../conform/placeCheck.ts';
import { conform, tableOf } from '../conform/conform.ts';
import { openRelation } from '../decode/decode.ts';
import { quoteExcerpt } from '../bytes/excerpt.ts';
import { describeLoad } from '../conform/loadNotes.ts';
import { mergeLoad, replacingEdits, schemaEdits } from './merge.ts';
import { checkRecordCount } from '../batch/batch.ts';
import { withUnreadLines } from '../batch/unread.ts';
import { zoneNotes } from '../batch/zoneNotes.ts';
import { type FileStats, writtenFile } from '../batch/parquetFile.ts';
import type { Relation } from '../values/relation.ts';
import { nextRow, type UniqueIndex, buildUniqueIndex } from '../batch/uniqueIndex.ts';
import type { Edit } from '../../store/lake/edit.ts';
import type { Batch } from '../batch/batchRequest.ts';
import { type Finish, makeLoadStore } from './loadStore.ts';
import type {
  Conformed,
  Ingested,
  IngestEvents,
  IngestServices,
  Load,
  LoadLake,
  LoadWork,
} from '../conform/load.ts';
import { withBodyLink, withWorkFolder, type Workbench } from '../bytes/workbench.ts';

/** The state of one load. */
interface Run extends LoadWork {
  readonly bench: Workbench;
}

/** A load with its opened file. */
interface OpenRun extends Run {
  readonly relation: Relation;
}

/**
 * Opens the file of a load as a relation, and logs every reading that was ambiguous.
 * @throws Failure InvalidBody for a file that cannot be read, or that has no types for a new dataset.
 */
export async function openLoad(
  load: Load,
  {
    bench,
    events,
    services,
  }: Pick<Run, 'bench' | 'services'> & { events: Pick<IngestEvents, 'log'> },
): Promise<Relation> {
  const dataset = services.lake.directory.dataset(load.workspace, load.dataset);
  const names =
    dataset === undefined ? {} : { propertyNames: Object.keys(dataset.schema.properties) };
  const { factReader, rewrite, guessColumns } = services.defaultsOf(load) ?? {};
  const opening = { ...load, ...names, usual: guessColumns, rewrite, facts: factReader };
  const relation = load.relation ?? (await openRelation(opening, bench));
  for (const note of relation.notes ?? []) await events.log(note);
  const isKnown = dataset !== undefined && (load.standIn !== undefined || !isPlaceholder(dataset));
  if (relation.empty !== true) return relation;
  if (load.needsRecord === true && relation.unread === undefined) throw noRecord();
  if (isKnown) return relation;
  const header = quoteExcerpt(relation.columns.map(({ name }) => name).join(','));
  const { unread } = relation;
  if (unread !== undefined) {
    const batch = { rejects: unread.rejects, invalid: unread.count };
    const reasons = unread.rejects.slice(0, 3).map(({ line, error }) => `line ${line}: ${error}`);
    throw new RejectedFailure(
      `no record fits the header (${header}): ${reasons.join('; ')}`,
      batch,
    );
  }
  const problem = `the body has a header (${header}) and no record`;
  const rule = 'a new dataset needs a record for its types: add one, or create the dataset first';
  throw new Failure('InvalidBody', `${problem}; ${rule}`);
}

/** The failure of a write whose body has no record. */
export const noRecord = (): Failure =>
  new Failure(
    'InvalidBody',
    'the body has no record: a record is a JSON object such as {"symbol":"A","close":1.5}; ' +
      'send one, a list of them, or one on each line',
  );

/** Runs a load on this node or a free one. @throws Failure with the reason; then nothing is visible. */
export async function ingest(
  load: Load,
  author: string,
  services: IngestServices,
  events: IngestEvents,
  finish: Finish,
): Promise<Ingested> {
  const numbered = await reserveRows(load, services.lake);
  const store = makeLoadStore(services.lake, { load: numbered, author, finish });
  const work = { load: numbered, services, events, store };
  const others = needsOtherDataset(load, services) ? undefined : services.others;
  try {
    const remote = await others?.work(work);
    if (remote !== undefined) return remote;
    // A process starts while the file is opened, which takes about as long.
    services.pool.startOne();
    return await runLoad(work);
  } catch (error) {
    const { created } = store;
    if (created !== undefined) {
      await dropCreated(created, author, services).catch((reason: unknown) =>
        events.log(`warning: the new dataset stays without records: ${reasonOf(reason)}`),
      );
    }
    throw error;
  }
}

/** Drops the dataset that a failed load created, unless others wrote into it meanwhile. */
async function dropCreated(
  { tableId }: Dataset,
  author: string,
  { lake, pushes }: Pick<IngestServices, 'lake' | 'pushes'>,
): Promise<void> {
  await pushes.withoutPushes(tableId, async () => {
    const dataset = lake.directory.datasetById(tableId);
    const table = await lake.table(tableId);
    const isEmpty = table?.files.length === 0 && pushes.pendingRows(tableId).length === 0;
    if (dataset !== undefined && isEmpty) {
      await dropDataset(lake, dataset, author, false, async () => undefined);
    }
  });
}

const isRow = ({ name }: { readonly name: string }): boolean => name === ROW_COLUMN;

/** Reserves numbers for the records of a load, in a dataset without unique index. */
async function reserveRows(load: Load, lake: Lake): Promise<Load> {
  const dataset = lake.directory.dataset(load.workspace, load.dataset);
  if (dataset?.numbered !== true || load.relation?.columns.some(isRow) === true) return load;
  const table = await tableOf(lake, dataset);
  const firstRow = lake.rowNumbers.reserve(dataset.tableId, nextRow(table), LOAD_ROWS);
  return { ...load, firstRow };
}

/** Runs a load except for its commit, which its store does. @throws as `ingest` */
export async function runLoad({ load, services, events, store }: LoadWork): Promise<Ingested> {
  const { deadlineMs, signal } = services;
  const abort = signal === undefined ? {} : { signal };
  return withWorkFolder(load.workspace, services, async (place) => {
    const beside = services.defaultsOf(load)?.check?.otherDataset;
    const below = await storedFolders(load, services.lake, beside);
    const bench = { ...place, below, deadlineMs, onProgress: events.progress, ...abort };
    const work = (path: string): Promise<Ingested> =>
      runOn({ load: { ...load, path }, services, bench, events, store });
    return withBodyLink(load, bench.folder, work);
  });
}

async function runOn(run: Run): Promise<Ingested> {
  const { bench, events, load, services, store } = run;
  await events.validating();
  const relation = await openLoad(load, { services, bench, events });
  const result = await conform(run, relation);
  const conformed = { ...result, batch: withUnreadLines(result.batch, relation) };
  await logBreaches(conformed.batch, events);
  refuseBatch(conformed.batch, load);
  const placeLines = await checkPlace({ run, relation, conformed });
  for (const note of placeLines) await events.log(note);
  const placeNotes = [...(relation.notes ?? []), ...placeLines];
  // The dataset is created only after the records are validated.
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
  return mergeAndCommit({ ...run, relation }, conformed, dataset, [...placeNotes, ...zoned]);
}

async function notesOnZone(
  { bench, services }: Run,
  relation: Relation,
  conformed: Conformed,
): Promise<readonly string[]> {
  const columns =
    conformed.kind === 'new'
      ? buildColumns(conformed.draft)
      : (conformed.change?.columns ?? (await tableOf(services.lake, conformed.dataset)).columns);
  return zoneNotes(relation, columns, bench);
}

/** Folders of the stored files that a load reads. */
async function storedFolders(
  { dataset, workspace }: Load,
  lake: LoadLake,
  beside: string | undefined,
): Promise<readonly string[]> {
  const names = beside === undefined ? [dataset] : [dataset, beside];
  const folders: string[] = [];
  for (const name of names) {
    const stored = lake.directory.dataset(workspace, name);
    if (stored === undefined) continue;
    const { folder } = await tableOf(lake, stored);
    folders.push(dirname(lake.files.localPath(`${folder}file`)));
  }
  return folders;
}

/** Logs the warnings of a batch, and the number of its quarantined records. */
export async function logBreaches(
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
 * Refuses a load whose file could be read.
 * @throws Failure for too many records, too many rejected ones, or an expectation that fails the load.
 */
export function refuseBatch(batch: Batch, load: Load): void {
  checkRecordCount(batch.stats.records + batch.duplicates + batch.quarantined.length);
  const reasons = batch.rejects.slice(0, 3).map(({ line, error }) => `line ${line}: ${error}`);
  if (batch.failed !== undefined) {
    const { line, records, rule } = batch.failed;
    const reason = `expectation failed: ${rule}: line ${line}, ${records} records in all`;
    throw new RejectedFailure(reason, batch);
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

/** A load that failed because of its rejected records, which are reported with the reason. */
export class RejectedFailure extends Failure {
  readonly rejects: readonly Reject[];
  readonly invalid: number;

  constructor(detail: string, batch: Pick<Batch, 'rejects' | 'invalid'>) {
    super('InvalidBody', detail);
    this.rejects = batch.rejects;
    this.invalid = batch.invalid;
  }
}

async function mergeAndCommit(
  run: OpenRun,
  conformed: Conformed,
  dataset: Dataset,
  placeNotes: readonly string[],
): Promise<Ingested> {
  const { load, services, bench, store } = run;
  const { lake } = services;
  const { batch } = conformed;
  const change = conformed.kind === 'known' ? conformed.change : undefined;
  const { becoming, edits, table } = await loadTarget(conformed, dataset, lake);
  const index = buildUniqueIndex(becoming, table);
  const place = { bench, files: lake.files, table, index };
  const merged = await mergeLoad(batch, load, change, place);
  const counts = {
    validated: batch.stats.records + batch.duplicates,
    ingested: merged.stats.records,
    invalid: batch.invalid,
    quarantined: batch.quarantined.length,
    duplicates: batch.duplicates + merged.ignored + merged.replaced + merged.unchanged,
    replaced: merged.replaced,
    unchanged: merged.unchanged,
  };
  const rejected = await rejectRepeats(run, conformed, counts, place);
  const described = describeLoad(conformed, { ...counts, ...merged, ...rejected }, load);
  const notes = [...described, ...placeNotes, ...conformed.inferred];
  const columnsLeftOut = [...new Set([...conformed.leftOut, ...(run.relation.leftOut ?? [])])];
  const outcome = { ...counts, rejects: batch.rejects, ...rejected, columnsLeftOut, notes };
  for (const note of described) await run.events.log(note);
  services.signal?.throwIfAborted();
  const wider = change === undefined ? table : { ...table, columns: change.columns };
  edits.push(...schemaEdits(table, change));
  if (merged.emptied) edits.push(merged.emptied);
  edits.push(...(await publishDeletes(merged.deletes, table, lake)));
  if (merged.rewritten) {
    const { path, stats } = merged.rewritten;
    edits.push(...(await publishFile(path, stats, wider, lake, 'all')));
  }
  const isReplaced = conformed.kind === 'new' && conformed.instead !== undefined;
  const replaces = isReplaced || (merged.emptied && !merged.rewritten) ? 'all' : undefined;
  edits.push(...(await publishFile(merged.path, merged.stats, wider, lake, replaces)));
  const message = `${outcome.ingested} records into ${dataset.workspace}.${dataset.dataset}`;
  const touches =
    load.touches ??
    (load.overwrite || change || isReplaced ? undefined : touchedKeys(merged.stats, index));
  await store.commit({
    edits,
    message,
    touches,
    outcome,
    dataset,
    folder: table.folder,
    quarantined: batch.quarantined,
    schema: change?.schema,
    instead: isReplaced ? conformed.draft : undefined,
  });
  return outcome;
}

interface RejectedRepeats {
  readonly validated?: number;
  readonly duplicates?: number;
  readonly invalid?: number;
  readonly rejects?: readonly Reject[];
}

/** Turns records left out for an existing index value into rejects, if the caller chose that. */
async function rejectRepeats(
  { load }: OpenRun,
  { batch, request }: Conformed,
  {
    duplicates,
    invalid,
    unchanged,
    validated,
  }: Omit<Ingested, 'rejects' | 'columnsLeftOut' | 'notes'>,
  place: MergeTarget,
): Promise<RejectedRepeats> {
  const repeats = duplicates - unchanged;
  if (load.duplicates !== 'reject' || repeats === 0) return {};
  const repeated = await findRejectedRepeats(batch, request, place);
  const rejects = [...batch.rejects, ...repeated].sort((one, other) => one.line - other.line);
  return {
    validated: validated - repeats,
    duplicates: unchanged,
    invalid: invalid + repeats,
    rejects: rejects.slice(0, REJECTS_MAX),
  };
}

/** The target of a load: its dataset, or the one that replaces a placeholder in the same commit. */
async function loadTarget(
  conformed: Conformed,
  dataset: Dataset,
  lake: LoadLake,
): Promise<{
  readonly becoming: Dataset;
  readonly table: Table;
  /** Edits of everything that is stored. */
  readonly edits: Edit[];
}> {
  const table = await tableOf(lake, dataset);
  const instead = conformed.kind === 'new' ? conformed.instead : undefined;
  if (conformed.kind === 'known' || instead === undefined) {
    return { becoming: dataset, table, edits: [] };
  }
  const columns = buildColumns(conformed.draft, instead.firstId);
  return {
    becoming: { ...dataset, ...conformed.draft },
    table: { ...table, columns, files: [], records: 0, bytes: 0 },
    edits: [...replacingEdits(table, columns)],
  };
}

/**
 * The keys of the records that a load adds or replaces, which are those of its file. Statistics of long texts
 * are truncated so that the range still includes all of them.
 */
function touchedKeys({ columns }: FileStats, index: UniqueIndex): ChangedKeys | undefined {
  const [key] = index.columns;
  const statistics = key?.type === 'varchar' ? columns.get(key.name) : undefined;
  const [least, greatest] = [statistics?.get('min'), statistics?.get('max')];
  if (least === undefined || greatest === undefined) return undefined;
  return { kind: 'keys', least, greatest };
}

/**
 * Publishes a sorted file of the table; returns the edit that adds it, unless it has no record.
 * @param replaces files that it replaces, or `all` if it replaces all files
 */
export async function publishFile(
  source: string,
  stats: FileStats,
  table: Table,
  lake: Pick<LoadLake, 'files' | 'createStamp'>,
  replaces?: 'all' | readonly DataFile[],
): Promise<readonly Edit[]> {
  if (stats.records === 0) return [];
  const { name, path } = createFileName(table);
  const replaced =
    typeof replaces === 'object' ? replaces.map((one) => shortName(one.path)) : replaces;
  const stamp = await lake.createStamp(
    table.tableId,
    replaced === undefined ? {} : { replaces: replaced },
  );
  await stampFile(source, stats.footerBytes, stamp);
  const proof = await lake.files.publish(source, path);
  const file = writtenFile(name, stats, table.columns, proof);
  return [{ kind: 'insert', tableId: table.tableId, file }];
}

/** Publishes delete files; returns the edit that adds them, if there are any. */
export async function publishDeletes(
  pendings: Reconciled['deletes'],
  table: Table,
  lake: Pick<LoadLake, 'files' | 'createStamp'>,
): Promise<readonly Edit[]> {
  if (pendings.length === 0) return [];
  const deletes = [];
  for (const pending of pendings) {
    const { name, path } = createFileName(table, '-delete');
    const deletesOf = fileName(pending.dataFile.path);
    const stamp = await lake.createStamp(table.tableId, { deletesOf });
    await stampFile(pending.path, pending.stats.footerBytes, stamp);
    const proof = await lake.files.publish(pending.path, path);
    deletes.push(toWrittenDeletes(name, pending, proof));
  }
  return [{ kind: 'delete', tableId: table.tableId, deletes }];
}
