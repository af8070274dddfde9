// Data sources and the credentials that open them.
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
  /** Made together with a schedule, by the server: it makes no dataset (SPEC.md). */
  readonly generated: SqlBoolean;
  readonly created_ms: number;
  readonly updated_ms: number;
}

/** How far a source is read that is followed. */
export interface FeedPositionTable {
  readonly source_id: string;
  /** Where it is from: of another one an id says nothing. */
  readonly origin: string;
  /** Of the last message whose records are stored. */
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
