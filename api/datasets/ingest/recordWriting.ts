// Writes single records or small batches: pushes them if possible, otherwise loads them.
import { Readable } from 'node:stream';
import { ingest, noRecord } from '../../../pipeline/merge/ingest.ts';
import type { Finish } from '../../../pipeline/merge/loadStore.ts';
import { matchesSchema, toPushes } from '../../../pipeline/merge/pushed.ts';
import { type Ingested, silentEvents } from '../../../pipeline/conform/load.ts';
import { runBatch } from '../../../store/catalog/statementBatch.ts';
import { checkName } from '../../../store/lake/versions/columns.ts';
import { needsRecordChecks } from '../../../store/lake/datasets/contracts.ts';
import type { Dataset } from '../../../store/lake/datasets/datasets.ts';
import { isPlaceholder } from '../../../store/lake/datasets/placeholders.ts';
import { Failure } from '../../../store/base/failure.ts';
import { redactText } from '../../../store/base/redact.ts';
import { checkStorage } from '../../../store/lake/storage.ts';
import { findWritableWorkspace, checkDatasetRoom } from '../../../reads/rights/access.ts';
import { hashBody } from '../../../store/base/bodyHash.ts';
import { spoolBody } from '../../http/spool.ts';
import type { BodyRequest, Call, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import { type Once, UNKEYED, writeOnce } from '../../request/writeOnce.ts';
import { PUSH_BYTES_MAX, PUSH_VALUES_MAX } from '../../../reads/request/bodyLimits.ts';
import { type JsonBody, readJson } from '../../request/body/jsonBody.ts';
import { parseDateOrder, readDuplicates } from './loadParameters.ts';
import { toRejectViews } from './loadAnswer.ts';
import { type LoadCounts, toLoadCounts } from '../../../pipeline/conform/loadCounts.ts';
import { nextRow } from '../../../pipeline/batch/uniqueIndex.ts';
import { checkDuplicates } from '../../../pipeline/conform/duplicates.ts';
import type { Reject } from '../../../store/work/jobs.ts';

export type RecordServices = Pick<
  Services,
  | 'at'
  | 'disk'
  | 'folder'
  | 'ingestion'
  | 'lake'
  | 'pending'
  | 'queries'
  | 'runner'
  | 'settings'
  | 'storage'
  | 'writeKeys'
>;

/** The outcome of a write. */
interface WriteResult extends LoadCounts {
  /**
   * Counts that are not known before the flush of pushed records: how many of the `stored` replace others,
   * or how many are left out because their index is stored.
   */
  readonly unsettled: 'replaced' | 'duplicates' | undefined;
  readonly rejects: readonly Reject[];
  readonly notes: readonly string[];
}

export async function writeRecords(call: Call, services: RecordServices): Promise<Answer> {
  const { notes, rejects, unsettled, ...counts } = await writeOnce(call, services, (once) =>
    storeRecords(call, services, once),
  );
  const { columnsLeftOut, quarantined, received, rejected } = counts;
  const quarantineNote = quarantined === 0 ? '' : `, ${quarantined} in quarantine`;
  const message = `wrote ${received - rejected - quarantined} records${quarantineNote}`;
  const written = { success: true, message, received, rejected, quarantined, columnsLeftOut };
  const isOwner = call.caller.kind === 'secret';
  const details = isOwner ? { ...counts, rejects: toRejectViews(rejects), notes } : {};
  const value = { ...written, ...details, ...(isOwner ? nullCounts(unsettled) : {}) };
  return { kind: 'json', value, metering: 'free' };
}

function nullCounts(unsettled: WriteResult['unsettled']): object {
  if (unsettled === undefined) return {};
  return unsettled === 'replaced' ? { replaced: null } : { stored: null, duplicates: null };
}

/** Stores the body's records in the dataset of the path, after checking the caller's rights. */
export async function storeRecords(
  call: BodyRequest,
  services: RecordServices,
  once: Once = UNKEYED,
): Promise<WriteResult> {
  const { lake } = services;
  const { caller } = call;
  const { workspace: place = '', id = '' } = call.path;
  checkName('datasetId', id);
  const owned = findWritableWorkspace(caller, place, id, 'write', lake);
  const { workspace } = owned;
  const existing = lake.directory.dataset(workspace, id);
  if (existing === undefined && call.query['createDatasetOnDemand'] === false) {
    throw new Failure('NotFound');
  }
  if (existing === undefined) checkDatasetRoom(caller, owned, id, services);
  const body = await readSmallBody(call);
  const earlier = body && (await once.earlier<WriteResult>(hashBody(body.bytes)));
  if (earlier !== undefined) return earlier;
  if (body?.value !== undefined && !hasRecord(body.value)) throw noRecord();
  await checkStorage(services.storage, caller.account, workspace);
  const rules = readDuplicates(call.query);
  if (existing !== undefined)
    checkDuplicates(`${workspace}.${existing.dataset}`, existing, rules.chosen);
  const isPlain = rules.duplicates !== 'reject' && rules.skipsIdentical === undefined;
  const pushResult =
    existing === undefined || body === undefined || !isPlain
      ? undefined
      : await pushRecords(existing, body, rules.duplicates === 'replace', services, once);
  if (pushResult !== undefined) return pushResult;
  return loadRecords(call, { workspace, dataset: existing?.dataset ?? id, body }, services, once);
}

/** Whether a JSON value is a record, or a list with one; a list of lists may be records too. */
const hasRecord = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isObject) : isObject(value);

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

interface RecordLoad {
  readonly workspace: string;
  readonly dataset: string;
  /** Undefined if it was not read yet. */
  readonly body: JsonBody | undefined;
}

/** Loads the records in the dataset's queue. */
async function loadRecords(
  call: BodyRequest,
  { body, dataset, workspace }: RecordLoad,
  services: RecordServices,
  once: Once,
): Promise<WriteResult> {
  const { disk, ingestion, runner } = services;
  runner.callers.check(workspace, dataset);
  const order = {
    workspace,
    dataset,
    ...readDuplicates(call.query),
    ...parseDateOrder(call.query),
    ...(call.query['confirmAdjustment'] === true ? { reading: CONFIRMED } : {}),
    rejectsMax: 0,
    needsRecord: true as const,
  };
  const spooled = await spoolBody(body === undefined ? call : withBody(call, body.bytes), services);
  const load = { ...order, path: spooled.path };
  try {
    const earlier = body ? undefined : await once.earlier<WriteResult>(spooled.hash);
    if (earlier !== undefined) return earlier;
    const finish: Finish = (transaction, outcome) =>
      runBatch(transaction, once.pieces(toWritten(outcome)));
    const { accountId } = call.caller;
    const write = (): ReturnType<typeof ingest> =>
      ingest(load, accountId, ingestion, silentEvents, finish);
    return toWritten(await runner.callers.run(workspace, dataset, write, call.departure()));
  } finally {
    await disk.remove(spooled.path);
  }
}

const toWritten = (outcome: Ingested): WriteResult => ({
  ...toLoadCounts(outcome),
  unsettled: undefined,
  rejects: outcome.rejects,
  notes: outcome.notes.map(redactText),
});

const CONFIRMED = { confirmAdjustment: true } as const;

/** Reads a body that is small by its header; undefined if it is larger, or has no length. */
async function readSmallBody(call: BodyRequest): Promise<JsonBody | undefined> {
  const { contentLength = PUSH_BYTES_MAX + 1 } = call;
  if (contentLength > PUSH_BYTES_MAX) return undefined;
  const limits = { bytesMax: PUSH_BYTES_MAX, valuesMax: PUSH_VALUES_MAX, contentLength };
  const body = await readJson(call.stream, limits);
  call.checkBody?.(hashBody(body.bytes));
  return body;
}

/** The call with a body that was already read and checked. */
const withBody = (call: BodyRequest, bytes: Buffer): BodyRequest => ({
  ...call,
  stream: Readable.from([bytes]),
  checkBody: undefined,
});

/** Pushes the records; undefined if they need a load. */
export async function pushRecords(
  dataset: Dataset,
  body: JsonBody,
  replace: boolean,
  { ingestion, lake, pending }: Pick<Services, 'ingestion' | 'lake' | 'pending'>,
  once: Once = UNKEYED,
): Promise<WriteResult | undefined> {
  const { tableId } = dataset;
  const table = await lake.table(tableId);
  // The schema may have changed since the dataset was found, or be about to.
  const current = lake.directory.datasetById(tableId);
  if (table === undefined || current === undefined || pending.isPaused(tableId)) return undefined;
  // Only a load replaces placeholder records by the owner's records.
  if (needsRecordChecks(current) || isPlaceholder(current) || !matchesSchema(table, current))
    return undefined;
  const symbols = ingestion.defaultsOf(current)?.symbols;
  const firstRow = (count: number): number =>
    lake.rowNumbers.reserve(tableId, nextRow(table), count);
  const pushes = toPushes(body, replace, current, table, symbols, firstRow);
  if (pushes === undefined) return undefined;
  const stored = new Set(pushes.map(({ index }) => index)).size;
  const written: WriteResult = {
    received: pushes.length,
    stored,
    replaced: 0,
    duplicates: pushes.length - stored,
    unchanged: 0,
    rejected: 0,
    quarantined: 0,
    columnsLeftOut: findUnknownMembers(body.value, current),
    inferred: [],
    warnings: [],
    unsettled: current.numbered ? undefined : replace ? 'replaced' : 'duplicates',
    rejects: [],
    notes: [],
  };
  await pending.push(tableId, pushes, once.pieces(written));
  return written;
}

/** Members that are no property of the dataset. */
function findUnknownMembers(value: unknown, { schema }: Dataset): readonly string[] {
  const records: readonly unknown[] = Array.isArray(value) ? value : [value];
  const names = records.flatMap((record) => Object.keys(record as object));
  return [...new Set(names)].filter((name) => !Object.hasOwn(schema.properties, name));
}
