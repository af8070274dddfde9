// Data sources and their credentials.
import type { Kysely } from 'kysely';
import { createTable, type SqlBoolean } from './createTable.ts';

export interface CredentialTable {
  readonly credential_id: string;
  readonly workspace: string;
  readonly name: string;
  readonly type: string;
  /** The credential as JSON, sealed under the data key. */
  readonly sealed: string;
  readonly created_ms: number;
  readonly updated_ms: number;
}

export interface DataSourceTable {
  readonly source_id: string;
  readonly workspace: string;
  readonly name: string;
  readonly description: string;
  readonly type: string;
  readonly definition_json: string;
  readonly credential_id: string | null;
  /** Created by the server together with a schedule: it creates no dataset (SPEC.md). */
  readonly generated: SqlBoolean;
  readonly created_ms: number;
  readonly updated_ms: number;
}

/** The read position of a source that is followed. */
export interface FeedPositionTable {
  readonly source_id: string;
  /** The origin of the id: ids of different origins are not comparable. */
  readonly origin: string;
  /** Id of the last message whose records are stored. */
  readonly last_id: string;
}

/** Folder version 17. */
export const addFeedPositions = (database: Kysely<unknown>): Promise<void> =>
  createTable(database, 'feed_position', 'source_id! text, origin text, last_id text');

export async function addDataSources(database: Kysely<unknown>): Promise<void> {
  const times = 'created_ms bigint, updated_ms bigint';
  const credential = 'credential_id! text, workspace text, name text, type text, sealed text';
  await createTable(database, 'credential', `${credential}, ${times}`);
  const source =
    'source_id! text, workspace text, name text, description text, type text, ' +
    'definition_json text, credential_id text, generated boolean';
  await createTable(database, 'data_source', `${source}, ${times}`);
  for (const table of ['credential', 'data_source']) {
    const index = database.schema.createIndex(`${table}_by_workspace`).on(table);
    await index.columns(['workspace', 'created_ms']).execute();
  }
}
