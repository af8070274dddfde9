// Stores data sources and their credentials, by workspace. A definition is opaque JSON here; the pipeline
// interprets it.
import type { Insertable, Selectable } from 'kysely';
import { insertLimited } from './workspaceLimits.ts';
import type { Database } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';
import { randomHex } from '../base/random.ts';
import type { Secrets } from '../catalog/secrets/secrets.ts';
import type { CredentialTable, DataSourceTable } from '../catalog/tables/sources.ts';

export type CredentialRow = Selectable<CredentialTable>;
export type DataSourceRow = Selectable<DataSourceTable>;

/** Limit of credentials, and of data sources, of one workspace. */
const ENTRIES_MAX = 10_000;

export const newSourceId = (): string => `DATA_SOURCE_${randomHex(16)}`;
export const newCredentialId = (): string => `CREDENTIAL_${randomHex(16)}`;

export const sealCredential = (credential: object, secrets: Secrets): string =>
  secrets.seal(JSON.stringify(credential));

export const unsealCredential = ({ sealed }: CredentialRow, secrets: Secrets): unknown =>
  JSON.parse(secrets.unseal(sealed));

/** @throws Failure LimitReached at the limit of the workspace. */
export const insertCredential = (database: Database, row: CredentialTable): Promise<void> =>
  insertLimited(
    database,
    'credential',
    { most: ENTRIES_MAX, workspace: row.workspace },
    (transaction) => transaction.insertInto('credential').values(row).execute(),
  );

/** @throws Failure LimitReached at the limit of the workspace. */
export const insertSource = (database: Database, row: Insertable<DataSourceTable>): Promise<void> =>
  insertLimited(
    database,
    'data_source',
    { most: ENTRIES_MAX, workspace: row.workspace },
    (transaction) => transaction.insertInto('data_source').values(row).execute(),
  );

export const findCredential = (
  database: Database,
  workspace: string,
  credentialId: string,
): Promise<CredentialRow | undefined> =>
  database
    .selectFrom('credential')
    .selectAll()
    .where('credential_id', '=', credentialId)
    .where('workspace', '=', workspace)
    .executeTakeFirst();

export const findSource = (
  database: Database,
  workspace: string,
  sourceId: string,
): Promise<DataSourceRow | undefined> =>
  database
    .selectFrom('data_source')
    .selectAll()
    .where('source_id', '=', sourceId)
    .where('workspace', '=', workspace)
    .executeTakeFirst();

/** Lists data sources of all workspaces, oldest first. */
export const listSourcesOfTypes = (
  database: Database,
  types: readonly string[],
): Promise<readonly DataSourceRow[]> =>
  database
    .selectFrom('data_source')
    .selectAll()
    .where('type', 'in', types)
    .orderBy('created_ms')
    .execute();

/** Lists the entries of a workspace, oldest first. */
export const listCredentials = (
  database: Database,
  workspace: string,
): Promise<readonly CredentialRow[]> =>
  database
    .selectFrom('credential')
    .selectAll()
    .where('workspace', '=', workspace)
    .orderBy('created_ms')
    .orderBy('credential_id')
    .execute();

/** Lists the entries of a workspace, oldest first. */
export const listSources = (
  database: Database,
  workspace: string,
): Promise<readonly DataSourceRow[]> =>
  database
    .selectFrom('data_source')
    .selectAll()
    .where('workspace', '=', workspace)
    .orderBy('created_ms')
    .orderBy('source_id')
    .execute();

export async function updateCredential(
  database: Database,
  { credential_id, ...values }: CredentialRow,
): Promise<void> {
  const update = database.updateTable('credential').set(values);
  await update.where('credential_id', '=', credential_id).execute();
}

export async function updateSource(
  database: Database,
  { source_id, generated: _, ...values }: DataSourceRow,
): Promise<void> {
  const update = database.updateTable('data_source').set(values);
  await update.where('source_id', '=', source_id).execute();
}

/** @throws Failure Conflict when a data source uses it. */
export async function removeCredential(
  database: Database,
  { credential_id, workspace }: CredentialRow,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const user = await transaction
      .selectFrom('data_source')
      .select('source_id')
      .where('workspace', '=', workspace)
      .where('credential_id', '=', credential_id)
      .executeTakeFirst();
    if (user !== undefined) {
      throw new Failure('Conflict', `the credential opens data source ${user.source_id}`);
    }
    await transaction.deleteFrom('credential').where('credential_id', '=', credential_id).execute();
  });
}

/** @throws Failure Conflict when a schedule reads from it. */
export async function removeSource(
  database: Database,
  { source_id, workspace }: DataSourceRow,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const user = await transaction
      .selectFrom('schedule')
      .select('schedule_id')
      .where('workspace', '=', workspace)
      .where('source_id', '=', source_id)
      .executeTakeFirst();
    if (user !== undefined) {
      throw new Failure('Conflict', `schedule ${user.schedule_id} takes from the data source`);
    }
    for (const table of ['data_source', 'feed_position'] as const) {
      await transaction.deleteFrom(table).where('source_id', '=', source_id).execute();
    }
  });
}

/** Seals all credentials under another key, or none; returns their number. */
export async function resealCredentials(
  transaction: Database,
  old: Secrets,
  fresh: Secrets,
): Promise<number> {
  const rows = await transaction
    .selectFrom('credential')
    .select(['credential_id', 'sealed'])
    .execute();
  for (const { credential_id, sealed } of rows) {
    const update = transaction
      .updateTable('credential')
      .set({ sealed: fresh.seal(old.unseal(sealed)) });
    await update.where('credential_id', '=', credential_id).execute();
  }
  return rows.length;
}
