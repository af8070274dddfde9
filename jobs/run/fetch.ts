// A job that fetches: files of its source are downloaded outside the dataset's turn, each is stored in it,
// and the source's position is saved with the records, so that none is stored twice or lost.
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { ingest } from '../../pipeline/merge/ingest.ts';
import { joinPages } from '../../pipeline/merge/joinedPages.ts';
import { NoDataFailure } from '../../pipeline/bytes/noData.ts';
import {
  type Credential,
  type ListBucket,
  type Piece,
  type Position,
  type Pull,
  type SourceDefinition,
  SourceFailure,
} from '../../pipeline/sources/base/source.ts';
import {
  type DataSourceRow,
  findCredential,
  findSource,
  unsealCredential,
} from '../../store/work/dataSources.ts';
import type { Database } from '../../store/catalog/database.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import { findJob, insertRejects, type Reject, updateJob } from '../../store/work/jobs.ts';
import type { Pending } from '../../store/lake/pushes/pending.ts';
import { findPosition, savePosition } from '../../store/work/schedules.ts';
import type { Secrets } from '../../store/catalog/secrets/secrets.ts';
import { withOwnerFolder } from '../../store/base/workFolder.ts';
import { retryWhileAway } from './retryWhileAway.ts';
import { endIngested, createJobEvents, type JobParts, writeJobLog } from './jobLife.ts';
import { jobCounts } from './jobCounts.ts';
import type { FetchOrder } from './order.ts';
import type { FetchRun } from './runner.ts';
import type { Load } from '../../pipeline/conform/load.ts';
import { workspacePool, type Workbench } from '../../pipeline/bytes/workbench.ts';

export interface FetchParts extends JobParts {
  readonly secrets: Secrets;
  readonly pull: Pull;
  readonly listBucket: ListBucket;
  readonly bytesMax: number;
  readonly pending: Pending;
}

export const fetchingText = (type: string, name: string): string =>
  `fetching from data source ${type} ${name}`;

/** @throws Failure with the reason; files that were stored before it stay. */
export async function runFetch(run: FetchRun, parts: FetchParts): Promise<void> {
  const { jobId, order } = run;
  const { database, services } = parts;
  const opened = await openOrder(order.workspace, order.fetch, parts);
  const scheduleId = order.fetch.run?.scheduleId;
  const savedPosition =
    scheduleId === undefined ? undefined : await findPosition(database, scheduleId);
  const text = fetchingText(order.fetch.sourceType, opened.row.name);
  await writeJobLog(jobId, order, text, parts);
  const pieces = await withOwnerFolder(order.workspace, services.temporary, async (folder) => {
    const since = savedPosition as Position | undefined;
    let stored = 0;
    const pages: Piece[] = [];
    const storeNext = async (piece: Piece): Promise<void> => {
      const keep = (): Promise<void> => store(piece, stored === 0, run, parts);
      await run.inTurn(() => retryWhileAway(keep, run.signal));
      await rm(piece.path, { force: true });
      stored += 1;
    };
    for await (const piece of downloadPieces(opened, since, folder, run, parts)) {
      if (piece.page === true) pages.push(piece);
      else await storeNext(piece);
    }
    const list = await joinList(pages, createWorkbench(folder, run, parts));
    if (list !== undefined) await storeNext(list);
    return stored;
  });
  if (pieces === 0) await writeJobLog(jobId, order, 'the source has nothing new', parts);
  const end = (): Promise<unknown> =>
    database.transaction().execute((tx) => endIngested(tx, jobId, order, parts));
  await retryWhileAway(end, run.signal);
}

/** Yields files of a source as they are downloaded, and logs each. */
export async function* downloadPieces(
  { credential, definition }: Opened,
  since: Position | undefined,
  folder: string,
  { jobId, onBytes, order, signal }: FetchRun,
  parts: FetchParts,
): AsyncGenerator<Piece, void> {
  const { bytesMax, clock } = parts;
  const notes: string[] = [];
  const onNote = (note: string): void => void notes.push(note);
  const landing = { folder, bytesMax, signal, nowMs: clock(), onBytes, onNote };
  const logNotes = async (): Promise<void> => {
    for (const note of notes.splice(0)) await writeJobLog(jobId, order, note, parts, 'warn');
  };
  const owner = { accountId: order.accountId, workspace: order.workspace };
  for await (const piece of parts.pull({ owner, definition, credential, since, landing })) {
    await logNotes();
    await writeJobLog(jobId, order, `${piece.name} has landed: ${piece.bytes} bytes`, parts);
    yield piece;
  }
  await logNotes();
}

/** Workbench for the files of a fetching job. */
export const createWorkbench = (
  folder: string,
  { onProgress, order, signal }: FetchRun,
  { services }: FetchParts,
): Workbench => ({
  pool: workspacePool(order.workspace, services).forAccount(order.accountId),
  folder,
  deadlineMs: services.deadlineMs,
  onProgress,
  signal,
});

/** Joins all pages of a list into one piece, with the position of the last page. */
async function joinList(pages: readonly Piece[], bench: Workbench): Promise<Piece | undefined> {
  const [first] = pages;
  const last = pages.at(-1);
  if (first === undefined || last === undefined || first === last) return first;
  const name = `${first.name} and ${pages.length - 1} more`;
  try {
    return { ...(await joinPages(pages, bench)), name, page: true, position: last.position };
  } catch (error) {
    throw prefixFailure(error, name);
  }
}

async function store(
  piece: Piece,
  first: boolean,
  { jobId, order, onProgress, signal }: FetchRun,
  parts: FetchParts,
): Promise<void> {
  const { database, services } = parts;
  await parts.checkRoom(order.accountId, order.workspace);
  const jsonPath = piece.jsonPath ?? order.jsonPath;
  const load: Load = {
    ...order,
    path: piece.path,
    jobId,
    // Only the first file replaces earlier records.
    overwrite: order.overwrite === true && first,
    sourceNumber: sourceNumber(order.fetch.sourceId, piece),
    // A source that is read again returns the same records, unless its owner appends every time.
    ...(order.chosen === 'keep-all' ? {} : { skipsIdentical: order.skipsIdentical ?? 'of-source' }),
    ...(jsonPath === undefined ? {} : { jsonPath }),
  };
  const before = await findJob(database, jobId);
  const events = createJobEvents(jobId, order, parts, onProgress);
  const author = `${order.accountId} job ${jobId}`;
  try {
    const pool = services.pool.forAccount(order.accountId);
    await ingest(
      load,
      author,
      { ...services, pool, signal },
      events,
      async (tx, outcome, committed) => {
        await insertRejects(tx, jobId, prefixRejects(piece, outcome.rejects));
        await updateJob(tx, jobId, {
          ...jobCounts(outcome, before),
          bytes: (before?.bytes ?? 0) + piece.bytes,
          snapshot_id: committed.snapshot,
        });
        const { run } = order.fetch;
        if (run !== undefined) await savePosition(tx, run.scheduleId, piece.position);
      },
    );
  } catch (error) {
    throw prefixFailure(error, piece.name);
  }
}

/** Bits of a source's number: JSON and doubles represent it exactly. */
const SOURCE_BITS = 52n;

/** Identifies the file of a source that a record was read from; pages of a list are one file. Never 0. */
function sourceNumber(sourceId: string, { name, page }: Piece): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([sourceId, page ? '' : name]))
    .digest();
  return Number(BigInt.asUintN(Number(SOURCE_BITS), digest.readBigUInt64BE()) | 1n);
}

/** Prefixes each error with the name of the file. */
export const prefixRejects = ({ name }: Piece, rejects: readonly Reject[]): readonly Reject[] =>
  rejects.map(({ line, error }) => ({ line, error: `${name}: ${error}` }));

/** Prefixes the failure's reason with the name of the file. */
export function prefixFailure(error: unknown, name: string): unknown {
  if (error instanceof NoDataFailure) return prefixFailure(error.forSource(), name);
  if (!(error instanceof Failure) || error.constructor !== Failure) return error;
  return new Failure(error.type, `${name}: ${reasonOf(error)}`);
}

interface Opened {
  readonly row: DataSourceRow;
  readonly definition: SourceDefinition;
  readonly credential: Credential | undefined;
}

/** @throws SourceFailure when the source, or its credential, does not exist. */
export async function openOrder(
  workspace: string,
  { credentialId, sourceId }: Pick<FetchOrder['fetch'], 'credentialId' | 'sourceId'>,
  parts: FetchParts,
): Promise<Opened> {
  const row = await findSource(parts.database, workspace, sourceId);
  if (row === undefined) throw new SourceFailure(`data source ${sourceId} is not there`, false);
  return openSource(row, credentialId, parts);
}

/**
 * Opens a data source for a pull.
 * @param credentialId instead of its own
 * @throws SourceFailure when the credential does not exist.
 */
export async function openSource(
  row: DataSourceRow,
  credentialId: string | undefined,
  { database, secrets }: { readonly database: Database; readonly secrets: Secrets },
): Promise<Opened> {
  const definition = JSON.parse(row.definition_json) as SourceDefinition;
  const effectiveId = credentialId ?? row.credential_id;
  if (effectiveId === null) return { row, definition, credential: undefined };
  const stored = await findCredential(database, row.workspace, effectiveId);
  if (stored === undefined)
    throw new SourceFailure(`credential ${effectiveId} is not there`, false);
  return { row, definition, credential: unsealCredential(stored, secrets) as Credential };
}
