// Metrics labeled by workspace, account, schedule or upstream feed.
import { Gauge, type Registry } from 'prom-client';
import { lastBackup } from '../../../jobs/backup/lastBackup.ts';
import type { Services } from '../../request/endpoint.ts';

/** Accounts, workspaces and datasets that are reported, of each kind. */
export const LABELED_ITEMS_MAX = 1_000;

/** Adds gauges of storage by workspace, messages by account, and the last backup. */
export function addAccountGauges(
  {
    accounts,
    database,
    lake,
    ledger,
    storage,
  }: Pick<Services, 'accounts' | 'database' | 'lake' | 'ledger' | 'storage'>,
  registers: Registry[],
): void {
  new Gauge({
    name: 'tapedeck_workspace_bytes',
    help: 'Bytes of a workspace, those of older versions apart.',
    labelNames: ['workspace', 'of'],
    registers,
    async collect() {
      this.reset();
      for (const { workspace } of lake.directory.allWorkspaces().slice(0, LABELED_ITEMS_MAX)) {
        const { history, live } = await storage.workspaceBytes(workspace);
        this.set({ workspace, of: 'live' }, live);
        this.set({ workspace, of: 'history' }, history);
      }
    },
  });
  new Gauge({
    name: 'tapedeck_account_messages',
    help: 'Messages that an account used in this month.',
    labelNames: ['account'],
    registers,
    collect() {
      this.reset();
      for (const { accountId } of accounts.list().slice(0, LABELED_ITEMS_MAX)) {
        this.set({ account: accountId }, ledger.balance(accountId).used);
      }
    },
  });
  new Gauge({
    name: 'tapedeck_last_backup_seconds',
    help: 'When the folder was backed up last, epoch seconds; 0 for never.',
    registers,
    async collect() {
      this.set(((await lastBackup(database))?.made ?? 0) / 1_000);
    },
  });
}

/** Kinds of faults of a recording. */
const FAULTS = ['missing', 'repeated', 'resets', 'damaged', 'damagedMessages', 'breaks'] as const;

export function addUpstreamGauges(upstreams: Services['upstreams'], registers: Registry[]): void {
  const gauge = (name: string, help: string) =>
    new Gauge({
      name: `tapedeck_upstream_${name}`,
      help,
      registers,
      labelNames: ['workspace', 'feed'],
    });
  // Registered first: the gauges that it sets are collected after it.
  new Gauge({
    name: 'tapedeck_upstreams',
    help: 'Feeds of others that are followed.',
    registers,
    collect() {
      for (const one of [running, records, rejected, restarts, faults]) one.reset();
      const all = upstreams.all();
      this.set(all.length);
      for (const { name: feed, workspace, ...state } of all) {
        const labels = { workspace, feed };
        running.set(labels, Number(state.isRunning));
        records.set(labels, state.records);
        rejected.set(labels, state.rejected);
        restarts.set(labels, state.restarts);
        for (const kind of FAULTS) {
          if (state.capture !== undefined) faults.set({ ...labels, kind }, state.capture[kind]);
        }
      }
    },
  });
  const running = gauge('running', '1 while it is connected, or tries for the first time.');
  const records = gauge('records', 'Records that were stored since the start.');
  const rejected = gauge('rejected', 'Records and messages that were not.');
  const restarts = gauge('restarts', 'How often it was begun again.');
  const faults = new Gauge({
    name: 'tapedeck_upstream_faults',
    help: 'Messages of a recording that never came, came twice, or make no sense; broken trades.',
    registers,
    labelNames: ['workspace', 'feed', 'kind'],
  });
}

/** Schedules that are reported, failing ones first: more would make a scrape too long. */
const SCHEDULES_MAX = 1_000;

const LABELS = ['workspace', 'dataset', 'schedule'] as const;

export function addScheduleGauges(scheduler: Services['scheduler'], registers: Registry[]): void {
  const gauge = (name: string, help: string, more: readonly string[] = []) =>
    new Gauge({
      name: `tapedeck_schedule_${name}`,
      help,
      registers,
      labelNames: [...LABELS, ...more],
    });
  // Registered first: the gauges that it sets are collected after it.
  new Gauge({
    name: 'tapedeck_schedules',
    help: 'Schedules of all workspaces.',
    registers,
    collect() {
      for (const one of [runs, failing, success]) one.reset();
      const all = scheduler.all().map((one) => ({ one, health: scheduler.health(one.id) }));
      this.set(all.length);
      all.sort((one, other) => other.health.failedInARow - one.health.failedInARow);
      for (const { health, one } of all.slice(0, SCHEDULES_MAX)) {
        const { body, dataset, workspace } = one;
        const labels = { workspace, dataset, schedule: body.name };
        for (const [status, count] of Object.entries(health.ended)) {
          runs.set({ ...labels, status }, count);
        }
        failing.set(labels, health.failedInARow);
        if (health.lastSuccessMs !== null) success.set(labels, health.lastSuccessMs / 1_000);
      }
    },
  });
  const runs = gauge('runs', 'Runs since the start, by how they ended.', ['status']);
  const failing = gauge('failed_in_a_row', 'Runs that failed since one went well.');
  const success = gauge('last_success_seconds', 'When a run went well last, epoch seconds.');
}
