// Webhooks for the ends of jobs: each delivery at least once, retried with growing waits until it is accepted
// or no retry is left.
import { jobLoadCounts } from '../run/jobCounts.ts';
import { createHmac } from 'node:crypto';
import { openOutgoing, type OutgoingRules } from '../../pipeline/sources/http/outgoing.ts';
import { SourceFailure } from '../../pipeline/sources/base/source.ts';
import type { Clock } from '../../store/base/clock.ts';
import type { Database } from '../../store/catalog/database.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { appendLog, findJob } from '../../store/work/jobs.ts';
import type { Secrets } from '../../store/catalog/secrets/secrets.ts';
import {
  delayDelivery,
  type Delivery,
  endDelivery,
  findWebhook,
  insertDelivery,
  listWebhooks,
  nextDeliveries,
  type Webhook,
  type WebhookFilter,
} from '../../store/work/webhooks.ts';
import type { JobEnd } from '../run/jobLife.ts';
import { Lanes, ADDRESS_CONCURRENCY } from './lanes.ts';
import { Rounds } from './rounds.ts';

interface DeliveryParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly rules: OutgoingRules;
  /** Prefix of this program's headers. */
  readonly brand: string;
  readonly onFault: (reason: unknown) => void;
}

/** Sealed members of a webhook. */
export interface WebhookSecrets {
  readonly headers: Readonly<Record<string, string>>;
  /** Signs each body; null for no signature. */
  readonly secret: string | null;
}

/** Waits before each retry: 13 hours in all. */
const WAITS_MS = [10, 60, 300, 1_800, 3_600, 3_600 * 4, 3_600 * 8].map((s) => s * 1_000);
/** Bytes of an answer, which is not used. */
const ANSWER_BYTES_MAX = 65_536;

export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #rounds: Rounds;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    const { clock, database } = parts;
    const lanes = new Lanes<Awaited<ReturnType<typeof nextDeliveries>>[number]>({
      clock,
      next: (most, skipped) => nextDeliveries(database, most, skipped),
      toWaiting: (delivery) => ({
        id: delivery.delivery_id,
        account: delivery.workspace,
        address: delivery.url,
        group: delivery.webhook_id,
        dueMs: delivery.next_ms,
      }),
      slotsFor: () => ADDRESS_CONCURRENCY,
      postpone: () => Promise.resolve(),
      deliver: (delivery, signal) => this.#deliver(delivery, signal),
    });
    this.#rounds = new Rounds({ ...parts, round: (signal, woken) => lanes.round(signal, woken) });
  }

  /** Starts the automatic rounds. */
  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  /** Queues deliveries for matching webhooks, in the transaction that ends a job. */
  async atEnd(transaction: Database, end: JobEnd): Promise<void> {
    const { workspace } = end.order;
    const webhooks = (await listWebhooks(transaction, workspace)).filter((item) =>
      matchesFilter(item, end),
    );
    if (webhooks.length === 0) return;
    const body = await buildBody(transaction, end);
    for (const { name, webhook_id } of webhooks) {
      if (await insertDelivery(transaction, webhook_id, body, end.timeMs)) continue;
      const message = `webhook ${name} is not called: too many deliveries are waiting for it`;
      const line = { workspace, time_ms: end.timeMs, severity: 'error', message };
      await appendLog(transaction, { ...line, job_id: end.jobId });
    }
  }

  /** Schedules a round soon: a delivery may wait. */
  poke(): void {
    this.#rounds.poke();
  }

  /** Delivers what is due; returns when the next delivery is due, infinity for never. */
  deliverDue(): Promise<number> {
    return this.#rounds.runRound();
  }

  async #deliver(delivery: Delivery, signal: AbortSignal): Promise<void> {
    const { clock, database } = this.#parts;
    const webhook = await findWebhook(database, delivery.webhook_id);
    if (webhook === undefined) return;
    try {
      const status = await this.#call(webhook, delivery, signal);
      await endDelivery(database, delivery, `answered ${status}`, true, clock());
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof SourceFailure)) throw error;
      await this.#retryOrFail(webhook, delivery, error);
    }
  }

  async #retryOrFail(webhook: Webhook, delivery: Delivery, error: SourceFailure): Promise<void> {
    const { clock, database } = this.#parts;
    const attempts = delivery.attempts + 1;
    const wait = error.transient ? WAITS_MS[delivery.attempts] : undefined;
    const outcome = reasonOf(error);
    if (wait !== undefined) {
      await delayDelivery(database, { ...delivery, attempts, next_ms: clock() + wait });
      return;
    }
    await endDelivery(database, delivery, outcome, false, clock());
    const message = `webhook ${webhook.name} could not be delivered to after ${attempts} calls: ${outcome}`;
    const line = { workspace: webhook.workspace, time_ms: clock(), severity: 'error', message };
    await appendLog(database, { ...line, job_id: null });
  }

  /** Returns the status of the answer. @throws SourceFailure for any but a 2xx. */
  async #call(
    webhook: Webhook,
    { body, delivery_id }: Delivery,
    signal: AbortSignal,
  ): Promise<number> {
    const { brand, clock, rules, secrets } = this.#parts;
    const { headers, secret } = JSON.parse(secrets.unseal(webhook.sealed)) as WebhookSecrets;
    const time = String(clock());
    await using outgoing = openOutgoing(rules);
    const answer = await outgoing.send({
      method: 'POST',
      url: webhook.url,
      headers: {
        ...headers,
        'content-type': 'application/json',
        [`${brand}-delivery`]: delivery_id,
        [`${brand}-timestamp`]: time,
        ...(secret === null ? {} : { [`${brand}-signature`]: sign(secret, time, body) }),
      },
      body,
      bytesMax: ANSWER_BYTES_MAX,
      signal,
    });
    const { status } = answer;
    if (status >= 200 && status < 300) return status;
    throw new SourceFailure(
      `answered ${status}`,
      status >= 500 || status === 408 || status === 429,
    );
  }
}

/** HMAC-SHA-256 of `timestamp.body`, hex: proves sender and time to the owner of the secret. */
const sign = (secret: string, time: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;

function matchesFilter({ filter_json }: Webhook, { order, status }: JobEnd): boolean {
  const filter = JSON.parse(filter_json) as WebhookFilter;
  const { datasetId: dataset, ingestionScheduleId: schedule } = filter;
  if (!filter.events.includes(status)) return false;
  if (schedule !== undefined && order.fetch?.run?.scheduleId !== schedule) return false;
  return dataset === undefined || dataset.toUpperCase() === order.dataset.toUpperCase();
}

async function buildBody(transaction: Database, end: JobEnd): Promise<string> {
  const { jobId, order, reason, status, timeMs } = end;
  const job = await findJob(transaction, jobId);
  return JSON.stringify({
    event: 'job',
    workspace: order.workspace,
    datasetId: order.dataset,
    jobId,
    status,
    error: reason ?? null,
    ...(job === undefined ? {} : jobLoadCounts(job)),
    recordsIngested: job?.records_ingested ?? 0,
    recordsInvalid: job?.records_invalid ?? 0,
    recordsDuplicate: job?.records_duplicate ?? 0,
    recordsQuarantined: job?.records_quarantined ?? 0,
    dataSourceId: order.fetch?.sourceId || null,
    ingestionScheduleId: order.fetch?.run?.scheduleId ?? null,
    attempt: order.fetch?.run?.attempt ?? 1,
    finished: timeMs,
  });
}
