// Webhooks: URLs that are notified when jobs end.
import type { Static } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
import type { WebhookSecrets } from '../../../jobs/deliveries/deliveries.ts';
import { checkUrl } from '../../../pipeline/sources/base/guard.ts';
import { checkHeaders } from '../../../pipeline/sources/http/headers.ts';
import { Failure } from '../../../store/base/failure.ts';
import {
  updateWebhook as saveWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  newWebhookId,
  removeWebhook,
  countWaiting,
  type Webhook,
  type WebhookFilter,
} from '../../../store/work/webhooks.ts';
import { findPathWorkspace } from '../../../reads/rights/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import { inRange, LIST_PARAMETERS, listRange } from '../../request/listRange.ts';
import { ANY, toFreeAnswer, OWNERS_ROW } from '../../request/rows.ts';
import { HEADERS } from '../../datasets/ingest/sourceBody.ts';

type WebhooksServices = Pick<Services, 'clock' | 'database' | 'lake' | 'settings'>;

const EVENTS = ['INGESTED', 'ERROR', 'CANCELLED'] as const;

const BODY = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    url: Type.String({ minLength: 1, maxLength: 8_000 }),
    headers: Type.Optional(HEADERS),
    secret: Type.Optional(Type.String({ minLength: 16, maxLength: 500 })),
    events: Type.Optional(Type.Array(Type.Enum([...EVENTS]), { minItems: 1, maxItems: 3 })),
    datasetId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    ingestionScheduleId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  },
  { additionalProperties: false },
);

const CHANGED = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  webhookId: Type.String(),
});

export const createWebhook: Endpoint = {
  ...OWNERS_ROW,
  id: 'createWebhook',
  method: 'POST',
  path: '/webhooks/:workspace',
  summary: 'Notifies a URL, by POST, when jobs of the workspace end; at least once each.',
  body: { kind: 'json', schema: BODY },
  answer: CHANGED,
  handle: async (call, services) => {
    const { workspace } = findPathWorkspace(call, services);
    const now = services.clock();
    const id = newWebhookId();
    await insertWebhook(services.database, {
      webhook_id: id,
      workspace,
      ...toRow(call.json as Static<typeof BODY>, services),
      created_ms: now,
      updated_ms: now,
      delivered: 0,
      failed: 0,
      called_ms: null,
      outcome: null,
    });
    return changedAnswer('created', id);
  },
};

export const listWebhooksOf: Endpoint = {
  ...OWNERS_ROW,
  id: 'listWebhooks',
  method: 'GET',
  path: '/webhooks/:workspace',
  summary: 'The webhooks of a workspace, and how their deliveries went.',
  parameters: LIST_PARAMETERS,
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const rows = await listWebhooks(services.database, findPathWorkspace(call, services).workspace);
    const range = listRange(call.query, services.settings.zone);
    const page = inRange(rows, range, ({ created_ms }) => created_ms);
    return toFreeAnswer(await Promise.all(page.map((row) => toView(row, services))));
  },
};

export const getWebhook: Endpoint = {
  ...OWNERS_ROW,
  id: 'getWebhook',
  method: 'GET',
  path: '/webhooks/:workspace/:id',
  summary: 'A webhook, and how its deliveries went.',
  answer: ANY,
  handle: async (call, services) =>
    toFreeAnswer(await toView(await findOwn(call, services), services)),
};

export const changeWebhook: Endpoint = {
  ...OWNERS_ROW,
  id: 'changeWebhook',
  method: 'PUT',
  path: '/webhooks/:workspace/:id',
  summary: 'Replaces a webhook; waiting notifications go to the new one.',
  body: { kind: 'json', schema: BODY },
  answer: CHANGED,
  handle: async (call, services) => {
    const { webhook_id } = await findOwn(call, services);
    const values = toRow(call.json as Static<typeof BODY>, services);
    await saveWebhook(services.database, { webhook_id, ...values, updated_ms: services.clock() });
    return changedAnswer('updated', webhook_id);
  },
};

export const deleteWebhook: Endpoint = {
  ...OWNERS_ROW,
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/webhooks/:workspace/:id',
  summary: 'Deletes a webhook and its waiting notifications.',
  answer: CHANGED,
  handle: async (call, services) => {
    const { webhook_id } = await findOwn(call, services);
    await removeWebhook(services.database, webhook_id);
    return changedAnswer('deleted', webhook_id);
  },
};

const changedAnswer = (action: string, webhookId: string): Answer =>
  toFreeAnswer({ success: true, message: `Webhook has been ${action}`, webhookId });

async function findOwn(call: Call, services: WebhooksServices): Promise<Webhook> {
  const { workspace } = findPathWorkspace(call, services);
  const row = await findWebhook(services.database, call.path['id'] ?? '');
  if (row?.workspace !== workspace) throw new Failure('NotFound');
  return row;
}

/** The stored form of a body. @throws Failure InvalidBody for a URL or header that is not allowed. */
function toRow(
  body: Static<typeof BODY>,
  { secrets, settings }: Pick<Services, 'secrets' | 'settings'>,
): Pick<Webhook, 'name' | 'url' | 'filter_json' | 'sealed'> {
  const { datasetId, headers = {}, ingestionScheduleId, secret = null, url } = body;
  const { host } = checkUrl(url, settings.allowPrivateAddresses);
  checkHeaders(headers);
  const filter: WebhookFilter = {
    events: body.events ?? EVENTS,
    ...(datasetId === undefined ? {} : { datasetId }),
    ...(ingestionScheduleId === undefined ? {} : { ingestionScheduleId }),
  };
  const sealed: WebhookSecrets = { headers, secret };
  return {
    name: body.name ?? host,
    url,
    filter_json: JSON.stringify(filter),
    sealed: secrets.seal(JSON.stringify(sealed)),
  };
}

async function toView(
  row: Webhook,
  { database, secrets }: Pick<Services, 'database' | 'secrets'>,
): Promise<object> {
  const { headers, secret } = JSON.parse(secrets.unseal(row.sealed)) as WebhookSecrets;
  return {
    webhookId: row.webhook_id,
    name: row.name,
    url: row.url,
    ...(JSON.parse(row.filter_json) as object),
    headers: Object.keys(headers),
    signed: secret !== null,
    delivered: row.delivered,
    failed: row.failed,
    waiting: await countWaiting(database, row.webhook_id),
    lastCall: row.called_ms,
    lastOutcome: row.outcome,
    created: row.created_ms,
    updated: row.updated_ms,
  };
}
