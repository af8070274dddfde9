// A schema edit that reads everything again: the files of its sources are downloaded and checked against the
// new schema, outside of the dataset's turn; then one commit replaces all stored records, or nothing changes.
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { publishFile } from '../../pipeline/merge/ingest.ts';
import {
  type ChangedDataset,
  applyChanges,
  checkReingestable,
  mergeBatches,
  rereadSource,
  type ReadBatch,
  refuseLost,
} from '../../pipeline/edit/reingest.ts';
import { replacingEdits } from '../../pipeline/merge/merge.ts';
import type { Piece, Position } from '../../pipeline/sources/base/source.ts';
import { tableOf } from '../../pipeline/conform/conform.ts';
import { buildUniqueIndex } from '../../pipeline/batch/uniqueIndex.ts';
import type { CommitResult } from '../../store/lake/commit.ts';
import type { Database } from '../../store/catalog/database.ts';
import { updateDataset, type DatasetChanges } from '../../store/lake/datasetEdits.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure, NO_LONGER_THERE } from '../../store/base/failure.ts';
import { insertRejects, type Reject, REJECTS_MAX, updateJob } from '../../store/work/jobs.ts';
import { removeQuarantined, insertQuarantined } from '../../store/lake/datasets/quarantine.ts';
import { findSource } from '../../store/work/dataSources.ts';
import { savePositions } from '../../store/work/schedules.ts';
import { withOwnerFolder } from '../../store/base/workFolder.ts';
import {
  createWorkbench,
  downloadPieces,
  fetchingText,
  type FetchParts,
  openOrder,
  prefixFailure,
  prefixRejects,
  runFetch,
} from './fetch.ts';
import { retryWhileAway } from './retryWhileAway.ts';
import { flushDataset } from './flush.ts';
import { endIngested, createJobEvents } from './jobLife.ts';
import { type Reingest, type FetchOrder, type RepeatedPull, fetchOrder } from './order.ts';
import { findOrigins } from './origins.ts';
import type { FetchRun } from './runner.ts';
import type { IngestEvents } from '../../pipeline/conform/load.ts';
import type { Edit } from '../../store/lake/edit.ts';

type Parts = Pick<FetchParts, 'database' | 'services'>;

/**
 * Plans the pulls of an edit of a dataset, in its turn and with nothing pending.
 * @throws Failure InvalidBody, Conflict with the obstacle.
 */
export async function planReingest(
  dataset: Dataset,
  changes: DatasetChanges,
  accountId: string,
  parts: Parts,
): Promise<FetchOrder> {
  const { database, services } = parts;
  const table = await tableOf(services.lake, dataset);
  checkReingestable(table.records, 'the dataset has');
  const { pulls, unfinished } = await findRepeatablePulls(dataset, parts);
  if (unfinished.length > 0) throw UNFINISHED_JOBS;
  const { workspace } = dataset;
  for (const { sourceId } of pulls) {
    if ((await findSource(database, workspace, sourceId)) !== undefined) continue;
    const rule = `${NO_LONGER_THERE}: its records can not be read again`;
    throw new Failure('InvalidBody', `data source ${sourceId} ${rule}`);
  }
  const [{ sourceId } = { sourceId: '' }] = pulls;
  return fetchOrder({
    accountId,
    workspace,
    dataset: dataset.dataset,
    fetch: {
      sourceId: pulls.length === 1 ? sourceId : '',
      sourceType: 'RE-INGEST',
      again: { pulls, changes, basis: digestDataset(dataset) },
    },
  });
}

const UNFINISHED_JOBS = new Failure(
  'Conflict',
  'another job of the dataset has not ended yet: try again',
);

/** @throws Failure InvalidBody when some stored records came from no source. */
async function findRepeatablePulls(
  dataset: Dataset,
  { database, services }: Parts,
  except?: string,
): Promise<
  Pick<Reingest, 'pulls'> & { readonly unfinished: readonly { started_ms: number | null }[] }
> {
  const { others, pulls, records, unfinished } = await findOrigins(
    dataset,
    database,
    services,
    except,
  );
  if (records === 0) throw new Failure('InvalidBody', 'the dataset has no record to read again');
  if (others > 0) {
    const rule = 'came as bodies, which are not kept: they can not be read again';
    throw new Failure('InvalidBody', `${others} of ${records} records ${rule}`);
  }
  return { pulls, unfinished };
}

/**
 * Digest of the dataset that the edit was requested for: it fails when the dataset is another one by then.
 */
function digestDataset(dataset: Dataset): string {
  const { createdMs: _, updatedMs: __, ...declared } = dataset;
  return createHash('sha256').update(JSON.stringify(declared)).digest('hex');
}

/** One re-ingestion while it runs. */
interface Reingestion {
  readonly run: FetchRun;
  readonly again: Reingest;
  readonly parts: FetchParts;
  readonly folder: string;
  readonly events: IngestEvents;
}

/** Everything that was read. */
interface Gathered {
  readonly becoming: ChangedDataset;
  readonly batches: readonly ReadBatch[];
  readonly rejects: readonly Reject[];
  readonly bytes: number;
  /** Position of each source at the end of its pull. */
  readonly positions: ReadonlyMap<string, Position>;
}

/** @throws Failure with the reason. */
export const runPulling = (run: FetchRun, parts: FetchParts): Promise<void> => {
  const { again } = run.order.fetch;
  return again === undefined ? runFetch(run, parts) : runReingest(run, again, parts);
};

/** @throws Failure with the reason; then nothing has changed. */
async function runReingest(run: FetchRun, again: Reingest, parts: FetchParts): Promise<void> {
  const { jobId, onProgress, order } = run;
  const { pending, services } = parts;
  await withOwnerFolder(run.order.workspace, services.temporary, async (folder) => {
    const events = createJobEvents(jobId, order, parts, onProgress);
    const reingestion = { run, again, parts, folder, events };
    await events.validating();
    const gathered = await gather(reingestion);
    await run.inTurn(async () => {
      const dataset = requireDataset(reingestion);
      // Concurrent pushes wait: they were checked against the old schema.
      const replace = async (): Promise<void> => {
        await flushDataset(dataset, { pending, ingestion: services });
        await replaceAll(reingestion, gathered);
      };
      await pending.withoutPushes(dataset.tableId, () => retryWhileAway(replace, run.signal));
    });
  });
}

function requireDataset({
  again,
  parts,
  run,
}: Pick<Reingestion, 'again' | 'parts' | 'run'>): Dataset {
  const { dataset, workspace } = run.order;
  const current = parts.services.lake.directory.dataset(workspace, dataset);
  if (current !== undefined && digestDataset(current) === again.basis) return current;
  throw new Failure('Conflict', 'the dataset has changed since the edit was requested');
}

async function gather(reingestion: Reingestion): Promise<Gathered> {
  const { again, parts } = reingestion;
  const { lake } = parts.services;
  const dataset = requireDataset(reingestion);
  const table = await tableOf(lake, dataset);
  let gathered: Gathered = {
    becoming: await applyChanges(dataset, table, again.changes, lake),
    batches: [],
    rejects: [],
    bytes: 0,
    positions: new Map(),
  };
  for (const pull of again.pulls) gathered = await pullAgain(pull, gathered, reingestion);
  return gathered;
}

async function pullAgain(
  pull: RepeatedPull,
  before: Gathered,
  { events, folder, parts, run }: Reingestion,
): Promise<Gathered> {
  const { services } = parts;
  const opened = await openOrder(run.order.workspace, pull, parts);
  await events.log(fetchingText(opened.row.type, opened.row.name));
  const bench = createWorkbench(folder, run, parts);
  let gathered = before;
  for await (const piece of downloadPieces(opened, undefined, folder, run, parts)) {
    const load = toLoad(pull, piece, run);
    try {
      const { batches, becoming } = gathered;
      const one = await rereadSource(load, becoming, batches, services, bench, events);
      gathered = addPiece(gathered, one, piece, pull);
    } catch (error) {
      throw prefixFailure(error, piece.name);
    }
    await rm(piece.path, { force: true });
  }
  return gathered;
}

function toLoad(
  { sourceId: _, credentialId: __, ...pull }: RepeatedPull,
  piece: Piece,
  run: FetchRun,
) {
  const { dataset, workspace } = run.order;
  const jsonPath = piece.jsonPath ?? pull.jsonPath;
  const { path } = piece;
  const own = jsonPath === undefined ? {} : { jsonPath };
  return { ...pull, ...own, path, workspace, dataset, jobId: run.jobId };
}

function addPiece(
  before: Gathered,
  { becoming, read }: Awaited<ReturnType<typeof rereadSource>>,
  piece: Piece,
  { sourceId }: RepeatedPull,
): Gathered {
  const rejects = prefixRejects(piece, read.batch.rejects);
  return {
    becoming,
    batches: [...before.batches, read],
    rejects: [...before.rejects, ...rejects].slice(0, REJECTS_MAX),
    bytes: before.bytes + piece.bytes,
    positions: new Map([...before.positions, [sourceId, piece.position]]),
  };
}

/** Runs in the dataset's turn, with nothing pending. */
async function replaceAll(reingestion: Reingestion, gathered: Gathered): Promise<void> {
  const { again, events, folder, parts, run } = reingestion;
  const { becoming, batches } = gathered;
  const { at, lake } = parts.services;
  const { jobId, order } = run;
  await parts.checkRoom(order.accountId, order.workspace);
  const dataset = requireDataset(reingestion);
  const { unfinished } = await findRepeatablePulls(dataset, parts, jobId);
  // It has its source's position, and would resume from there.
  if (unfinished.some(({ started_ms }) => started_ms !== null)) throw UNFINISHED_JOBS;
  const table = await tableOf(lake, dataset);
  const bench = createWorkbench(folder, run, parts);
  const whole = await mergeBatches(batches, becoming, bench);
  const index = buildUniqueIndex(dataset, table);
  await refuseLost(whole, { bench, files: lake.files, table, index });
  const validated = sumBatches(batches, ({ batch }) => batch.stats.records + batch.duplicates);
  await events.validated(validated);
  await events.ingesting();
  at('parquet-written');
  run.signal.throwIfAborted();
  const { columns } = becoming.table;
  const edits: Edit[] = [...replacingEdits(table, columns)];
  if (whole !== undefined) {
    const { path, stats } = whole;
    edits.push(...(await publishFile(path, stats, { ...table, columns }, lake, 'all')));
  }
  const changes = { ...again.changes, schema: becoming.dataset.schema };
  const author = `${order.accountId} job ${jobId}`;
  const records = whole?.stats.records ?? 0;
  await updateDataset(lake, dataset, changes, edits, author, parts.clock(), (tx, committed) =>
    finish(tx, committed, { ...reingestion, gathered, validated, records }),
  );
}

const sumBatches = (batches: readonly ReadBatch[], of: (read: ReadBatch) => number): number =>
  batches.reduce((sum, read) => sum + of(read), 0);

interface Finished extends Reingestion {
  readonly gathered: Gathered;
  readonly validated: number;
  readonly records: number;
}

/** Writes counts, quarantined records, source positions and the job's end in the commit's transaction. */
async function finish(
  transaction: Database,
  { snapshot, timeMs }: CommitResult,
  { gathered, parts, records, run, validated }: Finished,
): Promise<void> {
  const { batches, becoming, bytes, positions, rejects } = gathered;
  const { jobId, order } = run;
  const { tableId, workspace, dataset } = becoming.dataset;
  await insertRejects(transaction, jobId, rejects);
  await updateJob(transaction, jobId, {
    bytes,
    records_validated: validated,
    records_ingested: records,
    records_invalid: sumBatches(batches, ({ batch }) => batch.invalid),
    records_duplicate: validated - records,
    records_quarantined: sumBatches(batches, ({ batch }) => batch.quarantined.length),
    snapshot_id: snapshot,
  });
  await removeQuarantined(transaction, tableId, {});
  for (const { batch } of batches) {
    if (batch.quarantined.length === 0) continue;
    await insertQuarantined(transaction, tableId, batch.quarantined, jobId, timeMs);
  }
  for (const [sourceId, position] of positions) {
    await savePositions(transaction, { workspace, dataset, sourceId }, position);
  }
  await endIngested(transaction, jobId, order, parts);
}
