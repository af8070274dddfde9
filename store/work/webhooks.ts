// Webhooks: who is told when a job of a workspace ends, and the outbox of what is still to be told. A
// delivery is written in the transaction that ends the job, so that none is lost.
import type { Selectable } from 'kysely';
import { insertHeld } from './heldMost.ts';
import type { Database } from '../catalog/database.ts';
import { randomHex } from '../base/random.ts';
import type { Secrets } from '../catalog/secrets/secrets.ts';
import type { WebhookTable, DeliveryTable } from '../catalog/tables/webhooks.ts';

/** Which ends a webhook is told. */
export interface WebhookFilter {
  readonly events: readonly string[];
  /** Undefined: of every dataset. */
  readonly datasetId?: string;
  /** Undefined: also of jobs of no schedule. */
  readonly ingestionScheduleId?: string;
}

export type Webhook = Selectable<WebhookTable>;
export type Delivery = Selectable<DeliveryTable>;

/** Webhooks of one workspace; one more is refused. */
const HELD_MAX = 100;
/** Deliveries that wait for one webhook; past them the newest is not kept, and the log says so. */
const WAITING_MAX = 10_000;

export const newWebhookId = (): string => `WEBHOOK_${randomHex(16)}`;

/** @throws Failure LimitReached when the workspace holds its most. */
export const insertWebhook = (database: Database, row: WebhookTable): Promise<void> =>
  insertHeld(database, 'webhook', { most: HELD_MAX, workspace: row.workspace }, (transaction) =>
    transaction.insertInto('webhook').values(row).execute(),
  );

/** Oldest first. */
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

export async function changeWebhook(
  database: Database,
  { webhook_id, ...values }: Pick<Webhook, 'webhook_id'> & Partial<Webhook>,
): Promise<void> {
  const update = database.updateTable('webhook').set(values);
  await update.where('webhook_id', '=', webhook_id).execute();
}

/** What waits for it is not told any more. */
export async function removeWebhook(database: Database, webhookId: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('delivery').where('webhook_id', '=', webhookId).execute();
    await transaction.deleteFrom('webhook').where('webhook_id', '=', webhookId).execute();
  });
}

/** False when so many wait for the webhook already that this one is not kept. */
export async function insertDelivery(
  transaction: Database,
  webhookId: string,
  body: string,
  nowMs: number,
): Promise<boolean> {
  if ((await waitingOf(transaction, webhookId)) >= WAITING_MAX) return false;
  const times = { next_ms: nowMs, made_ms: nowMs };
  const row = { delivery_id: randomHex(16), webhook_id: webhookId, body, attempts: 0, ...times };
  await transaction.insertInto('delivery').values(row).execute();
  return true;
}

export async function waitingOf(database: Database, webhookId: string): Promise<number> {
  const row = await database
    .selectFrom('delivery')
    .select((select) => select.fn.countAll<number>().as('waiting'))
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst();
  return Number(row?.waiting ?? 0);
}

/** Those whose time has come, and the next one after; the longest waiting first. */
export const nextDeliveries = (
  database: Database,
  most: number,
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
    .limit(most)
    .execute();

export async function delayDelivery(
  database: Database,
  { attempts, delivery_id, next_ms }: Delivery,
): Promise<void> {
  const update = database.updateTable('delivery').set({ attempts, next_ms });
  await update.where('delivery_id', '=', delivery_id).execute();
}

/** In one transaction with what its webhook tells of it. */
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

/** Every sealed text under another key: all of them or none. How many there were. */
export async function resealWebhooks(
  transaction: Database,
  old: Secrets,
  fresh: Secrets,
): Promise<number> {
  const rows = await transaction.selectFrom('webhook').select(['webhook_id', 'sealed']).execute();
  for (const { sealed, webhook_id } of rows) {
    await changeWebhook(transaction, { webhook_id, sealed: fresh.seal(old.unseal(sealed)) });
  }
  return rows.length;
}
