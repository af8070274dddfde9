// Stores webhooks, which are called when a job of a workspace ends, and the outbox of their deliveries. A
// delivery is written in the transaction that ends the job, so that none is lost.
import type { Selectable } from 'kysely';
import { insertLimited } from './workspaceLimits.ts';
import type { Database } from '../catalog/database.ts';
import { randomHex } from '../base/random.ts';
import type { Secrets } from '../catalog/secrets/secrets.ts';
import type { WebhookTable, DeliveryTable } from '../catalog/tables/webhooks.ts';

/** Filter of the job ends that a webhook receives. */
export interface WebhookFilter {
  readonly events: readonly string[];
  /** Undefined for every dataset. */
  readonly datasetId?: string;
  /** Undefined for all jobs, also without a schedule. */
  readonly ingestionScheduleId?: string;
}

export type Webhook = Selectable<WebhookTable>;
export type Delivery = Selectable<DeliveryTable>;

/** Limit of webhooks of one workspace. */
const WEBHOOKS_MAX = 100;
/** Limit of waiting deliveries of one webhook; further ones are dropped and logged. */
const WAITING_MAX = 10_000;

export const newWebhookId = (): string => `WEBHOOK_${randomHex(16)}`;

/** @throws Failure LimitReached at the limit of the workspace. */
export const insertWebhook = (database: Database, row: WebhookTable): Promise<void> =>
  insertLimited(
    database,
    'webhook',
    { most: WEBHOOKS_MAX, workspace: row.workspace },
    (transaction) => transaction.insertInto('webhook').values(row).execute(),
  );

/** Lists webhooks of a workspace, oldest first. */
export const listWebhooks = (database: Database, workspace: string): Promise<readonly Webhook[]> =>
  database
    .selectFrom('webhook')
    .selectAll()
    .where('workspace', '=', workspace)
    .orderBy('created_ms')
    .orderBy('webhook_id')
    .execute();

export const findWebhook = (database: Database, webhookId: string): Promise<Webhook | undefined> =>
  database.selectFrom('webhook').selectAll().where('webhook_id', '=', webhookId).executeTakeFirst();

export async function updateWebhook(
  database: Database,
  { webhook_id, ...values }: Pick<Webhook, 'webhook_id'> & Partial<Webhook>,
): Promise<void> {
  const update = database.updateTable('webhook').set(values);
  await update.where('webhook_id', '=', webhook_id).execute();
}

/** Removes a webhook and its waiting deliveries. */
export async function removeWebhook(database: Database, webhookId: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('delivery').where('webhook_id', '=', webhookId).execute();
    await transaction.deleteFrom('webhook').where('webhook_id', '=', webhookId).execute();
  });
}

/** Queues a delivery; false when the limit of the webhook is reached and it is dropped. */
export async function insertDelivery(
  transaction: Database,
  webhookId: string,
  body: string,
  nowMs: number,
): Promise<boolean> {
  if ((await countWaiting(transaction, webhookId)) >= WAITING_MAX) return false;
  const times = { next_ms: nowMs, made_ms: nowMs };
  const row = { delivery_id: randomHex(16), webhook_id: webhookId, body, attempts: 0, ...times };
  await transaction.insertInto('delivery').values(row).execute();
  return true;
}

export async function countWaiting(database: Database, webhookId: string): Promise<number> {
  const row = await database
    .selectFrom('delivery')
    .select((select) => select.fn.countAll<number>().as('waiting'))
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst();
  return Number(row?.waiting ?? 0);
}

/** Lists waiting deliveries by their next attempt, earliest first. */
export const nextDeliveries = (
  database: Database,
  limit: number,
  skipped: { readonly ids: readonly string[]; readonly groups: readonly string[] },
): Promise<readonly (Delivery & Pick<Webhook, 'url' | 'workspace'>)[]> =>
  database
    .selectFrom('delivery')
    .innerJoin('webhook', 'webhook.webhook_id', 'delivery.webhook_id')
    .selectAll('delivery')
    .select(['webhook.url', 'webhook.workspace'])
    .$if(skipped.ids.length > 0, (query) => query.where('delivery_id', 'not in', skipped.ids))
    .$if(skipped.groups.length > 0, (query) =>
      query.where('delivery.webhook_id', 'not in', skipped.groups),
    )
    .orderBy('next_ms')
    .orderBy('made_ms')
    .limit(limit)
    .execute();

export async function delayDelivery(
  database: Database,
  { attempts, delivery_id, next_ms }: Delivery,
): Promise<void> {
  const update = database.updateTable('delivery').set({ attempts, next_ms });
  await update.where('delivery_id', '=', delivery_id).execute();
}

/** Removes a delivery and stores its outcome in its webhook, in one transaction. */
export async function endDelivery(
  database: Database,
  { delivery_id, webhook_id }: Delivery,
  outcome: string,
  delivered: boolean,
  nowMs: number,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('delivery').where('delivery_id', '=', delivery_id).execute();
    await transaction
      .updateTable('webhook')
      .set((webhook) => ({
        delivered: webhook('delivered', '+', delivered ? 1 : 0),
        failed: webhook('failed', '+', delivered ? 0 : 1),
        called_ms: nowMs,
        outcome,
      }))
      .where('webhook_id', '=', webhook_id)
      .execute();
  });
}

/** Seals all webhooks under another key, or none; returns their number. */
export async function resealWebhooks(
  transaction: Database,
  old: Secrets,
  fresh: Secrets,
): Promise<number> {
  const rows = await transaction.selectFrom('webhook').select(['webhook_id', 'sealed']).execute();
  for (const { sealed, webhook_id } of rows) {
    await updateWebhook(transaction, { webhook_id, sealed: fresh.seal(old.unseal(sealed)) });
  }
  return rows.length;
}
