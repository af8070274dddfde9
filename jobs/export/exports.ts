// Queue of exports, a few run concurrently. Each is recorded before it is acknowledged, and resumes at its
// checkpoint: after a transient fault by a retry, after a kill at the next start.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SourceFailure } from '../../pipeline/sources/base/source.ts';
import type { Clock } from '../../store/base/clock.ts';
import {
  type ExportRow,
  findExport,
  insertExport,
  listUnfinishedExports,
  updateExport,
} from '../../store/work/exports.ts';
import type { TransactionStep } from '../../store/catalog/database.ts';
import {
  Failure,
  ownersReason,
  reasonOf,
  SERVER_STOPPING,
  toDiskFullFailure,
} from '../../store/base/failure.ts';
import { appendLog } from '../../store/work/jobs.ts';
import { parseExportOrder } from './exportOrder.ts';
import { dropUnfinished, type ExportRunParts, runExport } from './exportRun.ts';
import { serialQueue } from '../../store/queues/serialQueue.ts';

interface ExportParts extends ExportRunParts {
  readonly clock: Clock;
  readonly onFault: (reason: unknown, exportId: string) => void;
}

/**
 * Concurrent exports of one account, in all one more: each holds one part on the disk, and at times a child
 * process.
 */
const CONCURRENCY = 2;
/** Exports that may wait; the next one is refused. */
const WAITING_MAX = 1_000;
/** Unfinished exports of one account. */
const ACCOUNT_MAX = 100;
/** Starts without a finished part: an export that crashes the server each time must not do so forever. */
const ATTEMPTS_MAX = 2;
/** Waits before a transient fault is retried; after the last of them the export ends. */
const WAITS_MS = [1, 5, 30, 120].map((s) => s * 1_000);
/** Timeout for the removal of a cancelled export's parts. */
const DROP_MS = 30_000;

interface Live {
  readonly stop: AbortController;
  readonly ended: PromiseWithResolvers<void>;
  readonly account: string;
  running: boolean;
  progress: number;
}

const CANCELLED = new Failure('Conflict', 'the export was cancelled');
const STOPPING = new Failure('Busy', SERVER_STOPPING);

export class Exports {
  readonly #parts: ExportParts;
  /** In order of arrival; waiting ones start in it. */
  readonly #live = new Map<string, Live>();
  /** Serializes checks of a target, so that no two exports get the same one. */
  readonly #serialize = serialQueue();
  #stopping = false;

  constructor(parts: ExportParts) {
    this.#parts = parts;
    // A purge removes records from every version: exports of them end.
    parts.lake.onChange(({ tableIds }) => {
      this.#endPurged(tableIds).catch((error: unknown) => parts.onFault(error, 'purge'));
    });
  }

  /** Resumes the exports of a stopped or killed process, and removes folders of none. */
  async resume(): Promise<void> {
    const { database, folder } = this.#parts;
    const left = await listUnfinishedExports(database);
    const unfinishedIds = new Set(left.map(({ export_id }) => export_id));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(folder)) {
      if (!unfinishedIds.has(name)) await rm(join(folder, name), { recursive: true, force: true });
    }
    for (const row of left) {
      await this.#log(row, 'the server was stopped: the export goes on');
      this.#enqueue(row);
    }
    this.#next();
  }

  /**
   * Records an export durably and queues it.
   * @param alongside in the transaction that records it
   * @throws Failure Conflict when another one writes to the same target; Busy when too many wait, or the
   * server is stopping.
   */
  async submit(row: ExportRow, alongside?: TransactionStep): Promise<void> {
    await this.#serialize(async () => {
      await this.#checkPlace(row);
      await insertExport(this.#parts.database, row, alongside);
      await this.#log(row, 'has been created');
      this.#enqueue(row);
    });
    this.#next();
  }

  /** Resumes a failed or cancelled export. @throws as `submit`; Conflict when it is in another state. */
  async retry(exportId: string): Promise<void> {
    const { database } = this.#parts;
    await this.#serialize(async () => {
      const row = await findExport(database, exportId);
      if (row === undefined) throw new Failure('NotFound');
      if (row.state !== 'ERROR' && row.state !== 'CANCELLED') {
        throw new Failure('Conflict', `export ${exportId} is ${row.state}: it needs no resuming`);
      }
      await this.#checkPlace(row);
      const fresh = { state: 'CREATED', error: null, finished_ms: null, attempts: 0 } as const;
      await updateExport(database, exportId, fresh);
      await this.#log(row, 'goes on');
      this.#enqueue(row);
    });
    this.#next();
  }

  /** Cancels an export, and waits for its end; false if it had already finished. */
  async cancel(exportId: string): Promise<boolean> {
    return this.#end(exportId, CANCELLED);
  }

  /** Resolves when the export has ended, in any state. @throws Failure NotFound. */
  async ended(exportId: string): Promise<ExportRow> {
    await this.#live.get(exportId)?.ended.promise;
    const row = await findExport(this.#parts.database, exportId);
    if (row === undefined) throw new Failure('NotFound');
    return row;
  }

  /** Progress of a running export, 0 to 100, more recent than its row. */
  progressOf(exportId: string): number | undefined {
    return this.#live.get(exportId)?.progress;
  }

  /** Counts of running and waiting exports. */
  load(): { readonly running: number; readonly waiting: number } {
    const running = [...this.#live.values()].filter((live) => live.running).length;
    return { running, waiting: this.#live.size - running };
  }

  /** Starts nothing more and stops running exports; they resume at the next start. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const running = [...this.#live.values()].filter((live) => live.running);
    for (const { stop } of running) stop.abort(STOPPING);
    await Promise.all(running.map(({ ended }) => ended.promise));
  }

  async #checkPlace(row: ExportRow): Promise<void> {
    if (this.#stopping) throw STOPPING;
    if (this.#live.size >= WAITING_MAX) {
      throw new Failure('Busy', `${WAITING_MAX} exports are waiting already: try again later`);
    }
    const own = [...this.#live.values()].filter(({ account }) => account === row.account_id);
    if (own.length >= ACCOUNT_MAX) {
      const message = `${own.length} exports of this account have not ended: try again later`;
      throw new Failure('Busy', message);
    }
    const place = targetPlaceOf(row);
    const others = await listUnfinishedExports(this.#parts.database);
    const other = others.find(
      (item) => item.export_id !== row.export_id && targetPlaceOf(item) === place,
    );
    if (other === undefined) return;
    throw new Failure('Conflict', 'another export that has not ended writes to the same target');
  }

  #enqueue({ account_id: account, export_id: exportId }: ExportRow): Live {
    const ended = Promise.withResolvers<void>();
    const stop = new AbortController();
    const live = { stop, ended, account, running: false, progress: 0 };
    this.#live.set(exportId, live);
    return live;
  }

  /** Starts waiting exports; the account with the fewest running ones comes first. */
  #next(): void {
    for (;;) {
      const all = [...this.#live];
      const running = all.filter(([, live]) => live.running);
      if (this.#stopping || running.length > CONCURRENCY) return;
      const countOf = (account: string): number =>
        running.filter(([, live]) => live.account === account).length;
      const [first] = all
        .filter(([, live]) => !live.running && countOf(live.account) < CONCURRENCY)
        .sort(([, a], [, b]) => countOf(a.account) - countOf(b.account));
      if (first === undefined) return;
      const [exportId, live] = first;
      live.running = true;
      void this.#begin(exportId, live);
    }
  }

  async #begin(exportId: string, live: Live): Promise<void> {
    try {
      await this.#run(exportId, live);
    } catch (error) {
      // The catalog can't be written: the row still has state RUNNING, and the next start resumes it.
      this.#parts.onFault(error, exportId);
    }
    this.#live.delete(exportId);
    live.ended.resolve();
    this.#next();
  }

  async #run(exportId: string, live: Live): Promise<void> {
    const { clock, database } = this.#parts;
    const row = await findExport(database, exportId);
    if (row === undefined) return;
    try {
      live.stop.signal.throwIfAborted();
      if (row.attempts >= ATTEMPTS_MAX) {
        throw new Failure('EndedTooOften', `the server ended ${ATTEMPTS_MAX} times while it ran`);
      }
      const started = { state: 'RUNNING', started_ms: row.started_ms ?? clock() } as const;
      await updateExport(database, exportId, { ...started, attempts: row.attempts + 1 });
      await this.#log(row, 'begins');
      await this.#runWithRetries(exportId, live);
    } catch (error) {
      await this.#fail(exportId, live, error);
      return;
    }
    const done = { state: 'DONE', progress: 100, error: null, finished_ms: clock() } as const;
    await updateExport(database, exportId, done);
    await rm(join(this.#parts.folder, exportId), { recursive: true, force: true });
    await this.#log(row, 'is done');
  }

  /** Retries a transient fault after a wait, as long as parts are finished in between. */
  async #runWithRetries(exportId: string, live: Live): Promise<void> {
    const { database } = this.#parts;
    const { signal } = live.stop;
    let [tries, parts] = [0, ''];
    for (;;) {
      const row = await findExport(database, exportId);
      if (row === undefined) throw CANCELLED;
      const log = (message: string): Promise<void> => this.#log(row, message);
      const onProgress = (percent: number): void => {
        live.progress = percent;
      };
      try {
        await runExport({ row, signal, onProgress, log }, this.#parts);
        return;
      } catch (error) {
        if (row.parts_json !== parts) tries = 0;
        parts = row.parts_json;
        const pause = isTransient(error) && !signal.aborted ? WAITS_MS[tries] : undefined;
        if (pause === undefined) throw error;
        tries += 1;
        await this.#log(row, `waits ${pause} ms and goes on: ${reasonOf(error)}`, 'warn');
        await wait(pause, undefined, { signal });
      }
    }
  }

  async #fail(exportId: string, live: Live, thrown: unknown): Promise<void> {
    const { clock, database, onFault } = this.#parts;
    const { signal } = live.stop;
    const error: unknown = signal.aborted ? signal.reason : toDiskFullFailure(thrown);
    const row = await findExport(database, exportId);
    if (row === undefined) return;
    if (error === STOPPING) {
      await updateExport(database, exportId, { attempts: 0 });
      return;
    }
    if (!(error instanceof Failure)) onFault(error, exportId);
    const reason = ownersReason(error);
    const state = error === CANCELLED ? 'CANCELLED' : 'ERROR';
    await updateExport(database, exportId, { state, error: reason, finished_ms: clock() });
    await this.#log(row, `ended in ${state}: ${reason}`, 'error');
    await dropUnfinished(row, AbortSignal.timeout(DROP_MS), this.#parts).catch((fault: unknown) =>
      this.#log(row, `its unfinished part is left at its target: ${reasonOf(fault)}`, 'warn'),
    );
  }

  async #end(exportId: string, reason: Failure): Promise<boolean> {
    const live = this.#live.get(exportId) ?? (await this.#adopt(exportId));
    if (live === undefined) return false;
    live.stop.abort(reason);
    if (!live.running) {
      live.running = true;
      await this.#begin(exportId, live);
    }
    await live.ended.promise;
    return true;
  }

  /** Takes over an export of another process that nobody resumed. */
  async #adopt(exportId: string): Promise<Live | undefined> {
    const left = await listUnfinishedExports(this.#parts.database);
    const row = left.find(({ export_id }) => export_id === exportId);
    return row === undefined ? undefined : (this.#live.get(exportId) ?? this.#enqueue(row));
  }

  async #endPurged(tableIds: readonly number[]): Promise<void> {
    const { database, lake } = this.#parts;
    for (const exportId of Array.from(this.#live.keys())) {
      const row = await findExport(database, exportId);
      const read = row === undefined ? [] : parseExportOrder(row).tableIds;
      const ended = read.find(
        (tableId) =>
          tableIds.includes(tableId) &&
          (lake.horizon(tableId)?.snapshot ?? 0) > (row?.snapshot_id ?? 0),
      );
      if (ended === undefined) continue;
      const message = `version ${row?.snapshot_id} has ended: export it anew`;
      await this.#end(exportId, new Failure('Gone', message));
    }
  }

  async #log(row: ExportRow, what: string, severity = 'info'): Promise<void> {
    const { clock, database } = this.#parts;
    const message = `export ${row.export_id} ${what}`;
    const line = { workspace: row.workspace, time_ms: clock(), severity, message };
    await appendLog(database, { ...line, job_id: null });
  }
}

/** Identifies a target: the same folder, or the same keys of a bucket. */
function targetPlaceOf(row: ExportRow): string {
  const { exportFolder, target } = parseExportOrder(row);
  if (target.type === 'FILE') return JSON.stringify([exportFolder, target.path]);
  return JSON.stringify([target.endpoint, target.awsbucketName, target.prefix]);
}

function isTransient(error: unknown): boolean {
  if (error instanceof SourceFailure) return error.transient;
  return error instanceof Failure && (error.type === 'Busy' || error.type === 'ChildLost');
}
