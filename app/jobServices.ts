// Composes jobs, schedules, and the receivers of their ends.
import type { Logger } from 'pino';
import type { Services } from '../api/request/endpoint.ts';
import type { Database } from '../store/catalog/database.ts';
import type { Bodies } from '../store/files/bodies.ts';
import type { IngestServices } from '../pipeline/conform/load.ts';
import type { FaultLog } from './automaticWork.ts';
import type { FetchParts } from '../jobs/run/fetch.ts';
import { checkStorage } from '../store/lake/storage.ts';
import { systemResolve } from '../pipeline/sources/base/guard.ts';
import type { OutgoingRules } from '../pipeline/sources/http/outgoing.ts';
import { Deliveries } from '../jobs/deliveries/deliveries.ts';
import { LoadDispatcher } from '../jobs/remote/dispatcher.ts';
import { Runner } from '../jobs/run/runner.ts';
import { runPulling } from '../jobs/run/reingest.ts';
import { flushDataset } from '../jobs/run/flush.ts';
import { Scheduler } from '../jobs/schedule/scheduler.ts';
import { findJob } from '../store/work/jobs.ts';
import { monotonicMs } from '../store/base/clock.ts';
import { randomFraction } from '../store/base/random.ts';
import type { Settings } from '../store/base/settings/settings.ts';

/** Timeout of a webhook, after which it is retried. */
const CALL_DEADLINE_MS = 10_000;

export type JobServices = Pick<
  Services,
  'ingestion' | 'loadGiver' | 'fetching' | 'runner' | 'scheduler' | 'deliveries' | 'jobEnds'
>;

type Parts = Pick<
  Services,
  | 'accounts'
  | 'clock'
  | 'database'
  | 'folder'
  | 'lake'
  | 'pending'
  | 'secrets'
  | 'settings'
  | 'storage'
> & { readonly bodies: Bodies; readonly startsMax: number; readonly log: Logger };

/** A job's end is reported to its schedule and to webhooks in its own transaction. */
export async function composeJobs(
  parts: Parts,
  ingestServices: Omit<IngestServices, 'others'>,
  sources: Pick<FetchParts, 'listBucket' | 'pull'>,
  faultLog: FaultLog,
): Promise<JobServices> {
  const { accounts, bodies, clock, database, folder, lake, pending, settings, storage } = parts;
  const loadGiver = createDispatcher(faultLog('load elsewhere'), () => runner.concurrencyRaised());
  const ingestion = { ...ingestServices, others: loadGiver };
  const fetching: FetchParts = {
    database,
    clock,
    services: ingestion,
    secrets: parts.secrets,
    pending,
    ...sources,
    bytesMax: settings.sourceBytesMax,
    onFault: faultLog('job'),
    checkRoom: async (accountId, workspace) => {
      const account = accounts.account(accountId);
      if (account !== undefined) await checkStorage(storage, account, workspace);
    },
    atEnd: async (transaction, end) => {
      await scheduler.atEnd(transaction, end);
      await deliveries.atEnd(transaction, end);
    },
  };
  const rules = callRules(settings, faultLog('webhook'));
  const calling = { database, clock, secrets: parts.secrets, brand: settings.brand };
  const jobEnds: JobServices['jobEnds'] = new Set();
  const deliveries = new Deliveries({ ...calling, rules, onFault: faultLog('webhook') });
  const runner: Runner = new Runner({
    ...fetching,
    concurrency: () => settings.jobConcurrency + loadGiver.slotCount,
    startsMax: parts.startsMax,
    accountOf: (workspace) => lake.directory.workspace(workspace)?.accountId ?? '',
    spool: folder.spool,
    bodies,
    fetch: (run) => runPulling(run, fetching),
    afterEnd: async (jobId, order) => {
      await scheduler.afterEnd(jobId, order);
      deliveries.poke();
      await publishEnd(jobId, jobEnds, database);
    },
    beforeTurn: async (workspace, name) => {
      const dataset = lake.directory.dataset(workspace, name);
      if (dataset !== undefined) await flushDataset(dataset, { pending, ingestion });
    },
  });
  const scheduler = await Scheduler.open({
    database,
    clock,
    random: randomFraction,
    submit: (order, alongside) => runner.submit(order, alongside),
    onFault: faultLog('schedule'),
    onFailed: logFailedRun(parts.log),
  });
  return { ingestion, loadGiver, fetching, runner, scheduler, deliveries, jobEnds };
}

const callRules = (
  { allowPrivateAddresses }: Pick<Settings, 'allowPrivateAddresses'>,
  onRefused: (reason: string) => void,
): OutgoingRules => ({
  allowPrivateAddresses,
  deadlineMs: CALL_DEADLINE_MS,
  resolve: systemResolve,
  onRefused,
});

const createDispatcher = (onFault: (reason: unknown) => void, onMore: () => void): LoadDispatcher =>
  new LoadDispatcher({ onFault, onMore, nowMs: monotonicMs });

async function publishEnd(
  jobId: string,
  to: JobServices['jobEnds'],
  database: Database,
): Promise<void> {
  const job = await findJob(database, jobId);
  if (job !== undefined) for (const listener of to) listener(job);
}

const logFailedRun =
  (log: Logger): Parameters<typeof Scheduler.open>[0]['onFailed'] =>
  ({ body, dataset, workspace }, { jobId, reason, transient }) =>
    log.warn(
      { workspace, dataset, schedule: body.name, jobId, reason, transient },
      'a scheduled run failed',
    );
