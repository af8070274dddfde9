// Records that come one by one or few at a time: pushed where that is possible, loaded where it is not.
import { Readable } from 'node:stream';
import { ingest } from '../../../pipeline/merge/ingest.ts';
import { isOf, pushesOf } from '../../../pipeline/merge/pushed.ts';
import { silentEvents } from '../../../pipeline/conform/load.ts';
import { checkName } from '../../../store/lake/versions/columns.ts';
import { isGoverned } from '../../../store/lake/datasets/contracts.ts';
import type { Dataset } from '../../../store/lake/datasets/datasets.ts';
import { isStandIn } from '../../../store/lake/datasets/standIns.ts';
import { Failure } from '../../../store/base/failure.ts';
import { checkStorage } from '../../../store/lake/storage.ts';
import { callerOf, changeableIn, checkDatasetRoom } from '../../auth/access.ts';
import { bodyHashOf } from '../../auth/signing.ts';
import { spoolBody } from '../../http/spool.ts';
import type { Answer, Call, Services } from '../../request/endpoint.ts';
import { type JsonBody, readJson } from '../../request/body/jsonBody.ts';
import { duplicatesOf } from './loading.ts';

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
>;

/** What became of records. */
interface Written {
  readonly records: number;
  readonly quarantined: number;
}

export async function writeRecords(call: Call, services: RecordServices): Promise<Answer> {
  const { quarantined, records } = await storeRecords(call, services);
  const aside = quarantined === 0 ? '' : `, ${quarantined} in quarantine`;
  const message = `wrote ${records} messages${aside}`;
  return { kind: 'json', value: { success: true, message }, metering: 'free' };
}

/** What the call's body holds, in the dataset that its path names; what the caller lacks is refused. */
export async function storeRecords(call: Call, services: RecordServices): Promise<Written> {
  const { lake, runner, disk, ingestion } = services;
  const caller = callerOf(call.caller);
  const { workspace: place = '', id = '' } = call.path;
  checkName('datasetId', id);
  const owned = changeableIn(caller, place, id, 'write', lake);
  const { workspace } = owned;
  const known = lake.directory.dataset(workspace, id);
  if (known === undefined && call.query['createDatasetOnDemand'] === false) {
    throw new Failure('NotFound');
  }
  if (known === undefined) checkDatasetRoom(caller, owned, id, services);
  await checkStorage(services.storage, caller.account, workspace);
  const body = await readSmall(call);
  const replace = duplicatesOf(call.query) === 'replace';
  const pushed =
    known === undefined || body === undefined
      ? undefined
      : await pushRecords(known, body, replace, services);
  if (pushed !== undefined) return { records: pushed, quarantined: 0 };
  const dataset = known?.dataset ?? id;
  const asked = { workspace, dataset, duplicates: duplicatesOf(call.query), rejectsMax: 0 };
  const { path } = await spoolBody(body === undefined ? call : again(call, body.bytes), services);
  const load = { ...asked, path };
  try {
    const outcome = await runner.inTurn(workspace, dataset, () =>
      ingest(load, caller.accountId, ingestion, silentEvents, async () => undefined),
    );
    return { records: outcome.validated, quarantined: outcome.quarantined };
  } finally {
    await disk.remove(path);
  }
}

/** Bodies up to this size may be pushed; larger ones are loads. */
const PUSH_BYTES_MAX = 1024 ** 2;

/** A body that is small by its header, read whole; undefined when it is not, or says no size. */
async function readSmall(call: Call): Promise<JsonBody | undefined> {
  if ((call.contentLength ?? PUSH_BYTES_MAX + 1) > PUSH_BYTES_MAX) return undefined;
  const body = await readJson(call.stream);
  call.checkBody?.(bodyHashOf(body.bytes));
  return body;
}

/** The call with a body that was read, and checked, once before. */
const again = (call: Call, bytes: Buffer): Call => ({
  ...call,
  stream: Readable.from([bytes]),
  checkBody: undefined,
});

/** How many records became pending; undefined when they need the exact way of a load. */
export async function pushRecords(
  dataset: Dataset,
  body: JsonBody,
  replace: boolean,
  { ingestion, lake, pending }: Pick<Services, 'ingestion' | 'lake' | 'pending'>,
): Promise<number | undefined> {
  const { tableId } = dataset;
  const table = await lake.table(tableId);
  // The schema may have changed since the dataset was looked up, or be about to.
  const current = lake.directory.datasetById(tableId);
  if (table === undefined || current === undefined || pending.isHeld(tableId)) return undefined;
  // A stand-in gives way to records, which only a load makes it do.
  if (isGoverned(current) || isStandIn(current) || !isOf(table, current)) return undefined;
  const symbols = ingestion.defaultsOf(current)?.symbols;
  const pushes = pushesOf(body, replace, current, table, symbols);
  if (pushes === undefined) return undefined;
  await pending.push(dataset.tableId, pushes);
  return pushes.length;
}
