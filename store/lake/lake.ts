// Represents the lake: current and earlier versions, and the single committer. Readers see a snapshot
// completely or not at all; a commit is reported only after it is on disk.
import { RowNumbers } from './pushes/rowNumbers.ts';
import { type CommitNote, type CommitResult, writeSnapshot } from './commit.ts';
import type { AtCrashPoint } from '../base/crashPoints.ts';
import type { Database } from '../catalog/database.ts';
import { type Directory, LiveDirectory } from './datasets/directory.ts';
import { listChangedRows, type ChangedRows } from './datasets/datasetRows.ts';
import { scheduleRemoval } from '../files/fileTombstones.ts';
import { Failure } from '../base/failure.ts';
import { type Files, VersionOutdated } from '../files/files.ts';
import {
  type AsOf,
  checkSince,
  endOlderVersions,
  type Horizon,
  readLatestSnapshot,
  findLatestSnapshot,
  readHorizons,
  resolveSnapshot,
} from './history/history.ts';
import type { LakeClock } from '../catalog/lakeClock.ts';
import type { LakeOwner } from '../files/lakeHead.ts';
import { type DataFile, readAllFiles, type Table } from './versions/lakeRead.ts';
import { expirePushes } from './pushes/pushLog.ts';
import type { Stamp } from './versions/stamp.ts';
import {
  removeSnapshots,
  listExpiredSnapshots,
  type RetentionPolicy,
  readSnapshots,
} from './history/retention.ts';
import { readAfterCommit } from './readAfterCommit.ts';
import { nextColumnId } from './tableEdits.ts';
import { TableVersions } from './tableVersions.ts';
import type { Edit } from './edit.ts';
import { serialQueue } from '../queues/serialQueue.ts';
import { BarrierChanges } from '../queues/readBarrier.ts';

/** Notification of a durable commit. */
export interface Change {
  readonly snapshot: number;
  readonly timeMs: number;
  readonly tableIds: readonly number[];
  readonly touches: CommitNote['touches'];
  /** Earlier versions of its tables have ended: records were purged. */
  readonly endsHistory: boolean;
  /** Changed rows of workspaces and datasets. */
  readonly touched: ChangedRows;
}

/** Work inside the commit's transaction, with the created ids. */
type Alongside = (transaction: Database, committed: CommitResult) => Promise<void>;

/** Dependencies of the lake. */
interface LakeParts {
  readonly database: Database;
  readonly files: Files;
  readonly clock: LakeClock;
  readonly at: AtCrashPoint;
  readonly owner: LakeOwner;
}

export class Lake {
  readonly files: Files;
  readonly #database: Database;
  readonly #clock: LakeClock;
  readonly #at: AtCrashPoint;
  readonly #owner: LakeOwner;
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #tables: TableVersions;
  readonly #directory: LiveDirectory;
  #horizons: ReadonlyMap<number, Horizon>;
  #snapshot: number;
  #state = 0;
  /** Publishes commits behind the read barrier. */
  readonly changes = new BarrierChanges();
  /** Record numbers of datasets without a unique index. */
  readonly rowNumbers = new RowNumbers();
  readonly #serially = serialQueue();
  /** Running or latest commit. */
  #currentCommit: Promise<unknown> = Promise.resolve();

  private constructor(
    parts: LakeParts,
    directory: LiveDirectory,
    horizons: ReadonlyMap<number, Horizon>,
    snapshot: number,
  ) {
    this.files = parts.files;
    this.#database = parts.database;
    this.#tables = new TableVersions(parts.database, () => this.#snapshot);
    this.#clock = parts.clock;
    this.#at = parts.at;
    this.#owner = parts.owner;
    this.#directory = directory;
    this.#horizons = horizons;
    this.#snapshot = snapshot;
  }

  /**
   * Opens the lake of a catalog that has its first snapshot.
   * @param visibleSnapshot latest visible snapshot
   */
  static async open(parts: LakeParts, visibleSnapshot?: number): Promise<Lake> {
    const directory = await LiveDirectory.load(parts.database);
    const horizons = await readHorizons(parts.database);
    return new Lake(
      parts,
      directory,
      horizons,
      visibleSnapshot ?? (await readLatestSnapshot(parts.database)),
    );
  }

  get directory(): Directory {
    return this.#directory.view;
  }

  /** Id of the latest snapshot. */
  get snapshot(): number {
    return this.#snapshot;
  }

  /** Version of the file lists; increases with every change, current or in history. */
  get state(): number {
    return this.#state;
  }

  /** Builds the stamp of a file that is published for a table now. */
  createStamp(tableId: number, rest: Pick<Stamp, 'deletesOf' | 'replaces'> = {}): Stamp {
    const { lake, run } = this.#owner;
    const dataset = this.directory.datasetById(tableId);
    return {
      format: 1,
      lake,
      run,
      snapshot: this.#snapshot,
      writtenMs: this.#clock.now(),
      tableId,
      workspace: dataset?.workspace ?? '',
      dataset: dataset?.dataset ?? '',
      ...dataset?.mapping,
      ...rest,
    };
  }

  /** Returns the latest version of the lake in which the table is unchanged since it was read. */
  latestVersionOf({ snapshot, tableId }: Table): number {
    return this.#tables.changedAt(tableId) <= snapshot ? this.#snapshot : snapshot;
  }

  /** Resolves when a version is visible; a commit is durable a moment earlier. */
  async waitForSnapshot(snapshot: number): Promise<void> {
    if (snapshot > this.#snapshot) await this.#currentCommit;
  }

  /** Returns the horizon of the dataset's history; undefined for a complete history. */
  horizon(tableId: number): Horizon | undefined {
    return this.#horizons.get(tableId);
  }

  onChange(listener: (change: Change) => void): void {
    this.#listeners.add(listener);
  }

  /** Makes a commit visible: one of this process, or one that another process announced. */
  async applyChange(change: Change): Promise<void> {
    const { endsHistory, snapshot, tableIds, touched } = change;
    await this.#directory.refresh(this.#database, touched);
    if (endsHistory) {
      this.#horizons = await readHorizons(this.#database);
      this.#tables.clearEarlier();
    }
    this.#snapshot = snapshot;
    this.#state += 1;
    this.#tables.markChanged(tableIds, snapshot);
    this.#at('change-announced');
    for (const listener of this.#listeners) listener(change);
  }

  /**
   * Returns the dataset's columns and files, now or at an earlier version; undefined when it did not exist
   * yet.
   * @throws Failure InvalidParameter when the version never existed, Gone when it has ended.
   */
  table(tableId: number, asOf?: AsOf): Promise<Table | undefined> {
    return asOf === undefined ? this.#tables.current(tableId) : this.#tableAsOf(tableId, asOf);
  }

  /** Loads tables before they are requested, many with one statement; cached ones are skipped. */
  preloadTables(tableIds: readonly number[]): Promise<void> {
    return this.#tables.preload(tableIds);
  }

  async #tableAsOf(tableId: number, asOf: AsOf): Promise<Table | undefined> {
    const horizon = this.#horizons.get(tableId);
    const lakeTime = this.toLakeTime(asOf);
    const snapshot = await resolveSnapshot(this.#database, lakeTime, this.#snapshot, horizon);
    return this.#tables.earlier(tableId, snapshot);
  }

  /** Converts a time of the machine's clock to the lake's clock. */
  toLakeTime(asOf: AsOf): AsOf {
    return asOf.kind === 'time' ? { ...asOf, ms: this.#clock.toLakeTime(asOf.ms) } : asOf;
  }

  /**
   * Returns the table at a version that was recently the latest.
   * @throws Outdated when it has ended meanwhile.
   */
  async recentTable(tableId: number, snapshot: number): Promise<Table | undefined> {
    const table = await this.#tables.current(tableId);
    if (this.#tables.changedAt(tableId) <= snapshot) return table;
    return this.#tables.earlier(tableId, snapshot).catch((error: unknown) => {
      throw error instanceof Failure && error.type === 'Gone' ? new VersionOutdated() : error;
    });
  }

  /** Returns the table at a version, for callers that resume from it; undefined also when it has ended. */
  async tableAt(tableId: number, snapshot: number): Promise<Table | undefined> {
    if (snapshot < (this.#horizons.get(tableId)?.snapshot ?? 0)) return undefined;
    const snapshotRow = await this.#database
      .selectFrom('ducklake_snapshot')
      .select('snapshot_id')
      .where('snapshot_id', '=', snapshot)
      .executeTakeFirst();
    return snapshotRow === undefined ? undefined : this.#tables.earlier(tableId, snapshot);
  }

  /** Returns the version at a moment, or the first one of all. */
  async versionAt(asOf: AsOf): Promise<number> {
    const lakeTime = this.toLakeTime(asOf);
    if (lakeTime.kind === 'snapshot') return lakeTime.snapshot;
    return (await findLatestSnapshot(this.#database, lakeTime.ms)) ?? 0;
  }

  /** @throws Failure Gone when changes since a version can't be computed any more. */
  checkSince(tableId: number, since: number): Promise<void> {
    return checkSince(this.#database, tableId, since, this.#snapshot, this.#horizons.get(tableId));
  }

  /** Returns the id for the next added column: ids of removed columns are never reused. */
  nextColumnId(tableId: number): Promise<number> {
    return nextColumnId(this.#database, tableId);
  }

  /** Lists data files of every stored version of a table, without their deletes. */
  listAllFiles(table: Table): Promise<readonly DataFile[]> {
    return readAllFiles(this.#database, table);
  }

  /**
   * Creates one version. `alongside` runs in the same transaction: both happen or neither. `check` runs when
   * the commit's turn has come: its result can't change before the commit.
   */
  async commit(
    edits: readonly Edit[],
    note: CommitNote,
    alongside: Alongside = async () => undefined,
    check: () => void = () => undefined,
  ): Promise<CommitResult> {
    return this.#exclusively(async () => {
      check();
      if (edits.length === 0) return this.#commitWithoutEdits(alongside);
      const {
        marked: markWritten,
        touched,
        ...committed
      } = await this.#database.transaction().execute(async (transaction) => {
        const written = await writeSnapshot(transaction, edits, note, this.#clock.next());
        const markWritten = await this.#clock.writeMarks(transaction);
        await alongside(transaction, written);
        await scheduleRemoval(transaction, written.unnamed, written.timeMs);
        this.#at('transaction-open');
        return { ...written, marked: markWritten, touched: listChangedRows(transaction) };
      });
      markWritten();
      this.#at('transaction-committed');
      await this.#announce(edits, committed, touched, note.touches);
      return committed;
    });
  }

  /**
   * Removes old versions, in the turn of the commits.
   * @returns unreferenced files, to be removed when their readers have finished
   */
  async removeExpired(keep: RetentionPolicy): Promise<readonly string[]> {
    return this.#exclusively(async () => {
      const snapshots = await readSnapshots(this.#database);
      const nowMs = this.#clock.now();
      const expired = listExpiredSnapshots(snapshots, nowMs, keep);
      const files = await this.#database.transaction().execute(async (transaction) => {
        await expirePushes(transaction, nowMs - keep.allMs);
        const unnamed = expired.length === 0 ? [] : await removeSnapshots(transaction, expired);
        await scheduleRemoval(transaction, unnamed, nowMs);
        this.#at('retention-open');
        return unnamed;
      });
      this.#at('retention-committed');
      if (expired.length === 0) return [];
      this.#tables.clearEarlier();
      this.#state += 1;
      return files;
    });
  }

  /**
   * Ends each table's history before the latest version at its time, in the turn of the commits.
   * @returns unreferenced files, to be removed when their readers have finished
   */
  async endOlderVersions(
    ends: readonly { readonly tableId: number; readonly ms: number }[],
  ): Promise<readonly string[]> {
    return this.#exclusively(async () => {
      const nowMs = this.#clock.now();
      const files = await this.#database.transaction().execute(async (transaction) => {
        const unnamed: string[] = [];
        for (const { tableId, ms } of ends) {
          const lakeMs = this.#clock.toLakeTime(ms);
          unnamed.push(...((await endOlderVersions(transaction, tableId, lakeMs, nowMs)) ?? []));
        }
        await scheduleRemoval(transaction, unnamed, nowMs);
        this.#at('retention-open');
        return unnamed;
      });
      this.#at('retention-committed');
      this.#horizons = await readAfterCommit(() => readHorizons(this.#database));
      this.#tables.clearEarlier();
      this.#state += 1;
      return files;
    });
  }

  /** Returns the latest stored version before a snapshot. */
  async previousSnapshot(snapshot: number): Promise<number> {
    const row = await this.#database
      .selectFrom('ducklake_snapshot')
      .select((select) => [select.fn.max('snapshot_id').as('snapshot')])
      .where('snapshot_id', '<', snapshot)
      .executeTakeFirst();
    return Number(row?.snapshot ?? 0);
  }

  /** Runs `alongside` without a version: a load that changed nothing creates none. */
  async #commitWithoutEdits(alongside: Alongside): Promise<CommitResult> {
    const timeMs = this.#clock.now();
    const committed = { snapshot: this.#snapshot, timeMs, created: [], unnamed: [] };
    const touched = await this.#database.transaction().execute(async (transaction) => {
      await alongside(transaction, committed);
      return listChangedRows(transaction);
    });
    if (touched.datasets.size + touched.workspaces.size > 0) {
      const { snapshot } = committed;
      const touches = { kind: 'nothing' } as const;
      const change = { snapshot, timeMs, tableIds: [], touches, touched, endsHistory: false };
      await this.#publish(change);
    }
    return committed;
  }

  async #announce(
    edits: readonly Edit[],
    { snapshot, timeMs }: CommitResult,
    touched: ChangedRows,
    touches: CommitNote['touches'],
  ): Promise<void> {
    const tableIds = edits.flatMap((edit) => ('tableId' in edit ? [edit.tableId] : []));
    const endsHistory = edits.some(({ kind }) => kind === 'end-history');
    await this.#owner.moved(snapshot, timeMs);
    await this.#publish({ snapshot, timeMs, tableIds, touches, touched, endsHistory });
  }

  #publish(change: Change): Promise<void> {
    return this.changes.apply(() => readAfterCommit(() => this.applyChange(change)));
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#serially(() => {
      const running = work();
      this.#currentCommit = running.catch(() => undefined);
      return running;
    });
  }
}
