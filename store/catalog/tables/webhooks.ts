// Webhooks, and the outbox of their deliveries.
import type { Kysely } from 'kysely';
import { createTable } from './createTable.ts';

export interface WebhookTable {
  readonly webhook_id: string;
  readonly workspace: string;
  readonly name: string;
  readonly url: string;
  /** JSON: a `WebhookFilter`. */
  readonly filter_json: string;
  /** JSON: headers and secret, sealed under the data key. */
  readonly sealed: string;
  readonly created_ms: number;
  readonly updated_ms: number;
  readonly delivered: number;
  readonly failed: number;
  /** Time and result of the last call; null: never called. */
  readonly called_ms: number | null;
  readonly outcome: string | null;
}

export interface DeliveryTable {
  readonly delivery_id: string;
  readonly webhook_id: string;
  readonly body: string;
  /** Number of calls so far. */
  readonly attempts: number;
  readonly next_ms: number;
  readonly made_ms: number;
}

export async function addWebhooks(database: Kysely<unknown>): Promise<void> {
  const webhook =
    'webhook_id! text, workspace text, name text, url text, filter_json text, sealed text, ' +
    'created_ms bigint, updated_ms bigint, delivered bigint, failed bigint, called_ms bigint, ' +
    'outcome text';
  const delivery =
    'delivery_id! text, webhook_id text, body text, attempts bigint, next_ms bigint, made_ms bigint';
  await createTable(database, 'webhook', webhook);
  await createTable(database, 'delivery', delivery);
  const indexes = [
    ['webhook_by_workspace', 'webhook', 'workspace'],
    ['delivery_by_time', 'delivery', 'next_ms'],
    ['delivery_by_webhook', 'delivery', 'webhook_id'],
  ] as const;
  for (const [name, table, column] of indexes) {
    await database.schema.createIndex(name).on(table).column(column).execute();
  }
}
