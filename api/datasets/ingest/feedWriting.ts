// Records of a feed of others: pushed where that is possible, else loaded without those that are wrong.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentEvents } from '../../../pipeline/conform/load.ts';
import type { FollowedDefinition } from '../../../pipeline/sources/base/source.ts';
import { ingest } from '../../../pipeline/merge/ingest.ts';
import { CORE } from '../../../store/lake/datasets/datasets.ts';
import { Failure } from '../../../store/base/failure.ts';
import { newUuid } from '../../../store/base/random.ts';
import { checkStorage } from '../../../store/lake/storage.ts';
import type { DataSourceRow } from '../../../store/work/dataSources.ts';
import type { Upstreams } from '../../../jobs/feeds/upstreams.ts';
import { pushRecords, type RecordServices } from './recordWriting.ts';
import type { Services } from '../../request/endpoint.ts';

type Writing = Parameters<ConstructorParameters<typeof Upstreams>[0]['write']>;
type Stored = Awaited<ReturnType<ConstructorParameters<typeof Upstreams>[0]['write']>>;

/** @throws Failure where none of them can be stored: no dataset, no room, an account that may not. */
export async function writeFeed(
  { workspace }: DataSourceRow,
  { dataset: id, duplicateKeyHandling: duplicates = 'replace', type }: FollowedDefinition,
  records: Writing[2],
  services: RecordServices & Pick<Services, 'accounts'>,
): Promise<Stored> {
  const { accounts, folder, ingestion, lake, runner, storage } = services;
  const account = accounts.account(lake.directory.workspace(workspace)?.accountId ?? '');
  if (account === undefined || account.suspended) throw new Failure('Inactive');
  const found = lake.directory.dataset(workspace, id);
  // The inputs of the market are made by their first records.
  const isMade = type === 'CAPTURE' && workspace === CORE;
  if (found === undefined && !isMade) {
    throw new Failure('InvalidBody', `there is no dataset ${workspace}.${id} to feed`);
  }
  await checkStorage(storage, account, workspace);
  const bytes = Buffer.from(JSON.stringify(records));
  const body = { bytes, value: records };
  const pushed = found && (await pushRecords(found, body, duplicates === 'replace', services));
  if (pushed !== undefined) return { stored: pushed.received, rejected: 0, reason: undefined };
  const path = join(folder.temporary, newUuid());
  const dataset = found?.dataset ?? id;
  try {
    await writeFile(path, bytes);
    const load = { workspace, dataset, duplicates, rejectsMax: records.length, path };
    const { invalid, quarantined, rejects, validated } = await runner.inTurn(
      workspace,
      dataset,
      () => ingest(load, account.accountId, ingestion, silentEvents, async () => undefined),
    );
    return { stored: validated - quarantined, rejected: invalid, reason: rejects[0]?.error };
  } finally {
    await rm(path, { force: true });
  }
}
