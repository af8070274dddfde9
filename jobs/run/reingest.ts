// An edit of a schema that reads everything again: what its sources have lands and is held against the
// dataset as it becomes, outside of its turn; then all that is stored gives way to it in one commit,
// or nothing changes.
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { publishFile } from '../../pipeline/merge/ingest.ts';
import {
  type Becoming,
  becomingOf,
  checkReingestable,
  putTogether,
  readAgain,
  type ReadBatch,
  refuseLost,
} from '../../pipeline/edit/reingest.ts';
import { replacingEdits } from '../../pipeline/merge/merge.ts';
import type { Piece, Position } from '../../pipeline/sources/base/source.ts';
import { tableOf } from '../../pipeline/conform/conform.ts';
import { uniqueIndexOf } from '../../pipeline/batch/uniqueIndex.ts';
import type { Committed } from '../../store/lake/commit.ts';
import type { Database } from '../../store/catalog/database.ts';
import { changeDataset, type DatasetChanges } from '../../store/lake/datasetEdits.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { insertRejects, type Reject, REJECTS_KEPT_MAX, updateJob } from '../../store/work/jobs.ts';
import { forgetQuarantined, quarantine } from '../../store/lake/datasets/quarantine.ts';
import { findSource } from '../../store/work/dataSources.ts';
import { savePositions } from '../../store/work/schedules.ts';
import { inFolderOf } from '../../store/base/workFolder.ts';
import {
  benchOf,
  type FetchParts,
  landed,
  named,
  openOrder,
  rejectsOf,
  runFetch,
} from './fetch.ts';
import { awaited } from './awaited.ts';
import { flushDataset } from './flush.ts';
import { endIngested, eventsOf } from './jobLife.ts';
import { type Again, type FetchOrder, type Repeat, fetchOrder } from './order.ts';
import { originsOf } from './origins.ts';
import type { FetchRun } from './runner.ts';
import type { IngestEvents } from '../../pipeline/conform/load.ts';
import type { Edit } from '../../store/lake/edit.ts';

type Parts = Pick<FetchParts, 'database' | 'services'>;

/**
 * What is to be read again for an edit of a dataset, in its turn and with nothing pending.
 * @throws Failure InvalidBody, Conflict with what stands in the way.
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
  const { pulls, unfinished } = await repeatable(dataset, parts);
  if (unfinished.length > 0) throw OTHERS;
  const { workspace } = dataset;
  for (const { sourceId } of pulls) {
    if ((await findSource(database, workspace, sourceId)) !== undefined) continue;
    const rule = 'is not there any more: its records can not be read again';
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
      again: { pulls, changes, basis: basisOf(dataset) },
    },
  });
}

const OTHERS = new Failure('Conflict', 'another job of the dataset has not ended yet: try again');

/** @throws Failure InvalidBody when some records are stored that no source has. */
async function repeatable(
  dataset: Dataset,
  { database, services }: Parts,
  except?: string,
): Promise<
  Pick<Again, 'pulls'> & { readonly unfinished: readonly { started_ms: number | null }[] }
> {
  const { others, pulls, records, unfinished } = await originsOf(
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

/** What the edit was made for: another dataset by then is not what its owner saw. */
function basisOf(dataset: Dataset): string {
  const { createdMs: _, updatedMs: __, ...said } = dataset;
  return createHash('sha256').update(JSON.stringify(said)).digest('hex');
}

/** One re-ingestion while it runs. */
interface Reading {
  readonly run: FetchRun;
  readonly again: Again;
  readonly parts: FetchParts;
  readonly folder: string;
  readonly events: IngestEvents;
}

/** All that was read. */
interface Gathered {
  readonly becoming: Becoming;
  readonly batches: readonly ReadBatch[];
  readonly rejects: readonly Reject[];
  readonly bytes: number;
  /** Where each source stood at the end of its pull. */
  readonly positions: ReadonlyMap<string, Position>;
}

/** @throws Failure with the reason. */
export const runPulling = (run: FetchRun, parts: FetchParts): Promise<void> => {
  const { again } = run.order.fetch;
  return again === undefined ? runFetch(run, parts) : runReingest(run, again, parts);
};

/** @throws Failure with the reason; then nothing has changed. */
async function runReingest(run: FetchRun, again: Again, parts: FetchParts): Promise<void> {
  const { jobId, onProgress, order } = run;
  const { pending, services } = parts;
  await inFolderOf(run.order.workspace, services.temporary, async (folder) => {
    const events = eventsOf(jobId, order, parts, onProgress);
    const reading = { run, again, parts, folder, events };
    await events.validating();
    const gathered = await gather(reading);
    await run.inTurn(async () => {
      const dataset = datasetOf(reading);
      // What is pushed meanwhile waits: it was checked by the schema as it was.
      const replace = async (): Promise<void> => {
        await flushDataset(dataset, { pending, ingestion: services });
        await replaceAll(reading, gathered);
      };
      await pending.holding(dataset.tableId, () => awaited(replace, run.signal));
    });
  });
}

function datasetOf({ again, parts, run }: Pick<Reading, 'again' | 'parts' | 'run'>): Dataset {
  const { dataset, workspace } = run.order;
  const found = parts.services.lake.directory.dataset(workspace, dataset);
  if (found !== undefined && basisOf(found) === again.basis) return found;
  throw new Failure('Conflict', 'the dataset was changed since the edit was asked for');
}

async function gather(reading: Reading): Promise<Gathered> {
  const { again, parts } = reading;
  const { lake } = parts.services;
  const dataset = datasetOf(reading);
  const table = await tableOf(lake, dataset);
  let gathered: Gathered = {
    becoming: await becomingOf(dataset, table, again.changes, lake),
    batches: [],
    rejects: [],
    bytes: 0,
    positions: new Map(),
  };
  for (const pull of again.pulls) gathered = await pullAgain(pull, gathered, reading);
  return gathered;
}

async function pullAgain(
  pull: Repeat,
  before: Gathered,
  { events, folder, parts, run }: Reading,
): Promise<Gathered> {
  const { services } = parts;
  const opened = await openOrder(run.order.workspace, pull, parts);
  await events.log(`fetching from data source ${opened.row.type} ${opened.row.name}`);
  const bench = benchOf(folder, run, parts);
  let gathered = before;
  for await (const piece of landed(opened, undefined, folder, run, parts)) {
    const load = loadOf(pull, piece, run);
    try {
      const { batches, becoming } = gathered;
      const one = await readAgain(load, becoming, batches, services, bench, events);
      gathered = withPiece(gathered, one, piece, pull);
    } catch (error) {
      throw named(error, piece.name);
    }
    await rm(piece.path, { force: true });
  }
  return gathered;
}

function loadOf({ sourceId: _, credentialId: __, ...pull }: Repeat, piece: Piece, run: FetchRun) {
  const { dataset, workspace } = run.order;
  const jsonPath = piece.jsonPath ?? pull.jsonPath;
  const { path } = piece;
  const own = jsonPath === undefined ? {} : { jsonPath };
  return { ...pull, ...own, path, workspace, dataset, jobId: run.jobId };
}

function withPiece(
  before: Gathered,
  { becoming, read }: Awaited<ReturnType<typeof readAgain>>,
  piece: Piece,
  { sourceId }: Repeat,
): Gathered {
  const rejects = rejectsOf(piece, read.batch.rejects);
  return {
    becoming,
    batches: [...before.batches, read],
    rejects: [...before.rejects, ...rejects].slice(0, REJECTS_KEPT_MAX),
    bytes: before.bytes + piece.bytes,
    positions: new Map([...before.positions, [sourceId, piece.position]]),
  };
}

/** In the dataset's turn, with nothing pending. */
async function replaceAll(reading: Reading, gathered: Gathered): Promise<void> {
  const { again, events, folder, parts, run } = reading;
  const { becoming, batches } = gathered;
  const { at, lake } = parts.services;
  const { jobId, order } = run;
  await parts.checkRoom(order.accountId, order.workspace);
  const dataset = datasetOf(reading);
  const { unfinished } = await repeatable(dataset, parts, jobId);
  // It knows where its source stood, and would go on from there.
  if (unfinished.some(({ started_ms }) => started_ms !== null)) throw OTHERS;
  const table = await tableOf(lake, dataset);
  const bench = benchOf(folder, run, parts);
  const whole = await putTogether(batches, becoming, bench);
  const index = uniqueIndexOf(dataset, table);
  await refuseLost(whole, { bench, files: lake.files, table, index });
  const validated = sumOf(batches, ({ batch }) => batch.stats.records + batch.duplicates);
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
  await changeDataset(lake, dataset, changes, edits, author, parts.clock(), (tx, made) =>
    finish(tx, made, { ...reading, gathered, validated, records }),
  );
}

const sumOf = (batches: readonly ReadBatch[], of: (read: ReadBatch) => number): number =>
  batches.reduce((sum, read) => sum + of(read), 0);

interface Finished extends Reading {
  readonly gathered: Gathered;
  readonly validated: number;
  readonly records: number;
}

/** In the commit's transaction: counts, what is kept aside, where the sources stood, the end. */
async function finish(
  transaction: Database,
  { snapshot, timeMs }: Committed,
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
    records_invalid: sumOf(batches, ({ batch }) => batch.invalid),
    records_duplicate: validated - records,
    records_quarantined: sumOf(batches, ({ batch }) => batch.quarantined.length),
    snapshot_id: snapshot,
  });
  await forgetQuarantined(transaction, tableId, {});
  for (const { batch } of batches) {
    if (batch.quarantined.length === 0) continue;
    await quarantine(transaction, tableId, batch.quarantined, jobId, timeMs);
  }
  for (const [sourceId, position] of positions) {
    await savePositions(transaction, { workspace, dataset, sourceId }, position);
  }
  await endIngested(transaction, jobId, order, parts);
}
