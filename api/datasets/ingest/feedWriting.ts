// Writes records of an upstream feed: pushes them if possible, otherwise loads all valid ones.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Load, silentEvents } from '../../../pipeline/conform/load.ts';
import type { FollowedDefinition } from '../../../pipeline/sources/base/source.ts';
import { ingest, RejectedFailure } from '../../../pipeline/merge/ingest.ts';
import { CORE } from '../../../store/lake/datasets/datasets.ts';
import { Failure } from '../../../store/base/failure.ts';
import { newUuid } from '../../../store/base/random.ts';
import { checkStorage } from '../../../store/lake/storage.ts';
import type { DataSourceRow } from '../../../store/work/dataSources.ts';
import type { Upstreams } from '../../../jobs/feeds/upstreams.ts';
import { pushRecords, type RecordServices } from './recordWriting.ts';
import type { Services } from '../../request/endpoint.ts';

type WriteArguments = Parameters<ConstructorParameters<typeof Upstreams>[0]['write']>;
type WriteResult = Awaited<ReturnType<ConstructorParameters<typeof Upstreams>[0]['write']>>;

/** @throws Failure if none can be stored: no dataset, no storage left, or an inactive account. */
export async function writeFeed(
  { workspace }: DataSourceRow,
  { dataset: id, duplicateKeyHandling: duplicates = 'replace', type }: FollowedDefinition,
  records: WriteArguments[2],
  services: RecordServices & Pick<Services, 'accounts'>,
): Promise<WriteResult> {
  const { accounts, lake, storage } = services;
  const account = accounts.account(lake.directory.workspace(workspace)?.accountId ?? '');
  if (account === undefined || account.suspended) throw new Failure('Inactive');
  const existing = lake.directory.dataset(workspace, id);
  // The first records of a market input create its dataset.
  const canCreate = type === 'CAPTURE' && workspace === CORE;
  if (existing === undefined && !canCreate) {
    throw new Failure('InvalidBody', `there is no dataset ${workspace}.${id} to feed`);
  }
  await checkStorage(storage, account, workspace);
  const place = { workspace, dataset: id, duplicates, accountId: account.accountId };
  return writeValid(place, records, services);
}

interface FeedPlace {
  readonly workspace: string;
  readonly dataset: string;
  readonly duplicates: Load['duplicates'];
  readonly accountId: string;
}

/**
 * Writes all records that can be stored: what a load refuses as a whole is written in halves, since it would
 * be received again, and refused again, without an end.
 */
async function writeValid(
  place: FeedPlace,
  records: WriteArguments[2],
  services: RecordServices,
): Promise<WriteResult> {
  try {
    return await writeTogether(place, records, services);
  } catch (error) {
    if (!(error instanceof Failure) || error.type !== 'InvalidBody') throw error;
    if (error instanceof RejectedFailure && error.invalid === records.length) {
      return { stored: 0, rejected: records.length, reason: error.rejects[0]?.error };
    }
    if (records.length === 1) return { stored: 0, rejected: 1, reason: error.detail };
    const half = Math.ceil(records.length / 2);
    const first = await writeValid(place, records.slice(0, half), services);
    const second = await writeValid(place, records.slice(half), services);
    return {
      stored: first.stored + second.stored,
      rejected: first.rejected + second.rejected,
      reason: first.reason ?? second.reason,
    };
  }
}

/** @throws Failure InvalidBody if none of them is valid, or they do not fit together. */
async function writeTogether(
  { accountId, dataset: id, duplicates, workspace }: FeedPlace,
  records: WriteArguments[2],
  services: RecordServices,
): Promise<WriteResult> {
  const { folder, ingestion, lake, runner } = services;
  const existing = lake.directory.dataset(workspace, id);
  const bytes = Buffer.from(JSON.stringify(records));
  const body = { bytes, value: records };
  const pushResult =
    existing && (await pushRecords(existing, body, duplicates === 'replace', services));
  if (pushResult !== undefined)
    return { stored: pushResult.received, rejected: 0, reason: undefined };
  const path = join(folder.temporary, newUuid());
  const dataset = existing?.dataset ?? id;
  try {
    await writeFile(path, bytes);
    const load = { workspace, dataset, duplicates, rejectsMax: records.length, path };
    const { invalid, quarantined, rejects, validated } = await runner.inTurn(
      workspace,
      dataset,
      () => ingest(load, accountId, ingestion, silentEvents, async () => undefined),
    );
    return { stored: validated - quarantined, rejected: invalid, reason: rejects[0]?.error };
  } finally {
    await rm(path, { force: true });
  }
}
