// Views and endpoints of workspaces.
import type { Kysely } from 'kysely';
import { createTable } from './createTable.ts';

export interface QueryTable {
  readonly query_id: string;
  /** `view` or `endpoint`. */
  readonly kind: string;
  readonly workspace: string;
  readonly name: string;
  /** JSON: a `NamedQuery` without the members that have their own columns. */
  readonly body_json: string;
  readonly created_ms: number;
  readonly updated_ms: number;
}

export async function addNamedQueries(database: Kysely<unknown>): Promise<void> {
  const columns =
    'query_id text, kind text, workspace text, name text, body_json text, ' +
    'created_ms bigint, updated_ms bigint';
  await createTable(database, 'named_query', columns);
  await database.schema
    .createIndex('named_query_by_id')
    .on('named_query')
    .column('query_id')
    .unique()
    .execute();
}
