// Deletes or purges records by key and date.
import { Type } from '../../../reads/request/schema.ts';
import { flushDataset } from '../../../jobs/run/flush.ts';
import { planSeries, type SeriesPlan } from '../../../query/plan/seriesPlan.ts';
import { dayIn, parseDay } from '../../../query/time/dates.ts';
import { eraseRecords } from '../../../pipeline/edit/erase.ts';
import { purgeRecords } from '../../../pipeline/edit/purge.ts';
import type { Caller } from '../../../store/accounts/callers.ts';
import type { Dataset } from '../../../store/lake/datasets/datasets.ts';
import { Failure } from '../../../store/base/failure.ts';
import { purgeTexts } from '../../../store/work/jobs.ts';
import { markPartial } from '../../../store/lake/datasets/loadedFiles.ts';
import { purgeQuarantined } from '../../../store/lake/datasets/quarantine.ts';
import { scrubOrLater } from '../../../store/catalog/scrub.ts';
import { checkKind, findDataset } from '../../../reads/rights/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import { dayOf, truthOf } from '../../../reads/request/parameters.ts';

type DeletionServices = Pick<
  Services,
  'clock' | 'database' | 'ingestion' | 'lake' | 'pending' | 'runner' | 'scrub' | 'settings'
>;

export const deleteRecords: Endpoint = {
  id: 'deleteRecords',
  method: 'DELETE',
  path: '/data/:workspace/:id/:key/:subkey?/:date?',
  token: 'granted',
  summary: 'Deletes the records of a key, of a subkey, of a date or of a range of dates.',
  weight: 'free',
  parameters: [
    { kind: 'day', name: 'from', help: 'Records on or after this date.' },
    { kind: 'day', name: 'to', help: 'Records on or before this date.' },
    {
      kind: 'boolean',
      name: 'purge',
      help:
        'true: removes them permanently from every version; the earlier history of the dataset ends. ' +
        'Needs a secret token.',
    },
  ],
  answer: Type.Object({ success: Type.Literal(true), message: Type.String() }),
  failures: 'workspace',
  handle: async (call, services) => {
    const { caller } = call;
    const isPurge = truthOf(call.query, 'purge');
    if (isPurge) checkKind(caller, 'secret');
    const { lake, runner } = services;
    const { workspace: place = '', id = '' } = call.path;
    const { workspace, dataset } = findDataset(caller, place, id, lake, 'delete');
    const work = isPurge ? purgeMatching : deleteMatching;
    const records = await runner.inTurn(workspace, dataset, () => work(call, caller, services));
    if (isPurge) await scrubOrLater(services.scrub);
    const message = `${isPurge ? 'purged' : 'deleted'} ${records} records`;
    return { kind: 'json', value: { success: true, message }, metering: 'free' };
  },
};

type Work = (call: Call, caller: Caller, services: DeletionServices) => Promise<number>;

const deleteMatching: Work = async (call, caller, services) => {
  const dataset = findDeletable(call, caller, services);
  const plan = await planDeletion(call, dataset, services);
  return eraseRecords(plan, dataset, caller.accountId, services.ingestion, (transaction) =>
    markPartial(transaction, dataset.tableId),
  );
};

const purgeMatching: Work = async (call, caller, services) => {
  const dataset = findDeletable(call, caller, services);
  // The queue continues after a failed flush; this one throws, so that nothing is reported as purged.
  await flushDataset(dataset, services);
  const plan = await planDeletion(call, dataset, services);
  const { ingestion, pending } = services;
  const { key = '', subkey } = call.path;
  await purgeQuarantined(services.database, dataset, key, subkey);
  const records = await purgeRecords(
    plan,
    dataset,
    caller.accountId,
    ingestion,
    async (transaction) => {
      await purgeTexts(transaction, dataset);
      await markPartial(transaction, dataset.tableId);
    },
  );
  pending.clearFlushed(dataset.tableId);
  return records;
};

const findDeletable = ({ path }: Call, caller: Caller, { lake }: Pick<Services, 'lake'>): Dataset =>
  findDataset(caller, path['workspace'] ?? '', path['id'] ?? '', lake, 'delete');

async function planDeletion(
  { path, query }: Call,
  dataset: Dataset,
  { clock, lake, settings }: Pick<Services, 'clock' | 'lake' | 'settings'>,
): Promise<SeriesPlan> {
  const { key = '', subkey, date } = path;
  const on = date === undefined ? undefined : parseDay('date', date);
  const table = await lake.table(dataset.tableId);
  if (table === undefined) throw new Failure('NotFound');
  const selection = { key, subkey, from: dayOf(query, 'from'), to: dayOf(query, 'to'), on };
  return planSeries(selection, {
    dataset,
    table,
    visibility: { kind: 'all' },
    rowsMax: Number.MAX_SAFE_INTEGER,
    today: dayIn(clock(), settings.zone),
    zone: settings.zone,
    shape: 'data',
  });
}
