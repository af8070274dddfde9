// The lake in one hand: what there is now, what there was, and the one committer.
// Readers see a snapshot or none of it; nobody is told of a commit before it is on the disk.
import { RowNumbers } from './pushes/rowNumbers.ts';
import { type CommitNote, type Committed, writeSnapshot } from './commit.ts';
import type { AtCrashPoint } from '../base/crashPoints.ts';
import type { Database } from '../catalog/database.ts';
import { type Directory, LiveDirectory } from './datasets/directory.ts';
import { touchedIn, type Touched } from './datasets/datasetRows.ts';
import { scheduleRemoval } from '../files/endedFiles.ts';
import { Failure } from '../base/failure.ts';
import { type Files, Outdated } from '../files/files.ts';
import {
  type AsOf,
  checkSince,
  endOlder,
  type Horizon,
  headOf,
  newestSnapshot,
  readHorizons,
  snapshotAsked,
} from './history/history.ts';
import type { LakeClock } from '../catalog/lakeClock.ts';
import type { LakeOwner } from '../files/lakeHead.ts';
import { type DataFile, readEveryFile, type Table } from './versions/lakeRead.ts';
import { expirePushes } from './pushes/pushLog.ts';
import type { Stamp } from './versions/stamp.ts';
import { expire, expiredSnapshots, type Keep, readSnapshots } from './history/retention.ts';
import { shown } from './shown.ts';
import { nextColumnId } from './tableEdits.ts';
import { TableVersions } from './tableVersions.ts';
import type { Edit } from './edit.ts';
import { oneByOne } from '../queues/oneByOne.ts';
import { QuietChanges } from '../queues/quiet.ts';

/** What a commit announces, after it is durable. */
export interface Change {
  readonly snapshot: number;
  readonly timeMs: number;
  readonly tableIds: readonly number[];
  readonly touches: CommitNote['touches'];
  /** Versions of its tables before it have ended: something was purged. */
  readonly endsHistory: boolean;
  /** Rows of workspaces and datasets that it wrote. */
  readonly touched: Touched;
}

/** Work to do in the commit's own transaction, with what it created. */
type Alongside = (transaction: Database, committed: Committed) => Promise<void>;

/** What the lake is opened with. */
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
  /** Commits, as they are seen. */
  readonly changes = new QuietChanges();
  /** Of datasets without a unique index. */
  readonly rowNumbers = new RowNumbers();
  readonly #inTurn = oneByOne();
  /** What has its turn now, or had the last one. */
  #working: Promise<unknown> = Promise.resolve();

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

  /** Opens the lake of a catalog that has its first snapshot. @param seen the newest that readers see */
  static async open(parts: LakeParts, seen?: number): Promise<Lake> {
    const directory = await LiveDirectory.load(parts.database);
    const horizons = await readHorizons(parts.database);
    return new Lake(parts, directory, horizons, seen ?? (await headOf(parts.database)));
  }

  get directory(): Directory {
    return this.#directory.view;
  }

  /** Id of the newest snapshot. */
  get snapshot(): number {
    return this.#snapshot;
  }

  /** Grows with whatever changes which files there are, now or in history. */
  get state(): number {
    return this.#state;
  }

  /** What a file says of itself that is published for a table now. */
  stamp(tableId: number, rest: Pick<Stamp, 'deletesOf' | 'replaces'> = {}): Stamp {
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

  /** The newest version of the lake in which a table that was read is as it is now. */
  versionOf({ snapshot, tableId }: Table): number {
    return this.#tables.changedAt(tableId) <= snapshot ? this.#snapshot : snapshot;
  }

  /** Resolves when readers see a version; a commit is durable a moment before they do. */
  async seen(snapshot: number): Promise<void> {
    if (snapshot > this.#snapshot) await this.#working;
  }

  /** Where the dataset's history begins; undefined while nothing of it was ended. */
  horizonOf(tableId: number): Horizon | undefined {
    return this.#horizons.get(tableId);
  }

  onChange(listener: (change: Change) => void): void {
    this.#listeners.add(listener);
  }

  /** A commit is to be seen: this process's own, or one of another process that announces it. */
  async heard(change: Change): Promise<void> {
    const { endsHistory, snapshot, tableIds, touched } = change;
    await this.#directory.refresh(this.#database, touched);
    if (endsHistory) {
      this.#horizons = await readHorizons(this.#database);
      this.#tables.forgetOld();
    }
    this.#snapshot = snapshot;
    this.#state += 1;
    this.#tables.change(tableIds, snapshot);
    this.#at('change-announced');
    for (const listener of this.#listeners) listener(change);
  }

  /**
   * The dataset's columns and files, now or as they were; undefined when it was not there yet.
   * @throws Failure InvalidParameter when there never was such a version, Gone when it has ended.
   */
  table(tableId: number, asOf?: AsOf): Promise<Table | undefined> {
    return asOf === undefined ? this.#tables.current(tableId) : this.#askedTable(tableId, asOf);
  }

  /** Reads tables that are asked for next, many by one statement; what is known is not read again. */
  expectTables(tableIds: readonly number[]): Promise<void> {
    return this.#tables.expect(tableIds);
  }

  async #askedTable(tableId: number, asOf: AsOf): Promise<Table | undefined> {
    const horizon = this.#horizons.get(tableId);
    const lakeTime = this.inLakeTime(asOf);
    const snapshot = await snapshotAsked(this.#database, lakeTime, this.#snapshot, horizon);
    return this.#tables.old(tableId, snapshot);
  }

  /** A time of the machine's clock as one of the lake's. */
  inLakeTime(asOf: AsOf): AsOf {
    return asOf.kind === 'time' ? { ...asOf, ms: this.#clock.lakeTimeOf(asOf.ms) } : asOf;
  }

  /**
   * The table at a version that was the newest a moment ago.
   * @throws Outdated when it has ended since.
   */
  async tableSeen(tableId: number, snapshot: number): Promise<Table | undefined> {
    const table = await this.#tables.current(tableId);
    if (this.#tables.changedAt(tableId) <= snapshot) return table;
    return this.#tables.old(tableId, snapshot).catch((error: unknown) => {
      throw error instanceof Failure && error.type === 'Gone' ? new Outdated() : error;
    });
  }

  /** The same for who goes on from a version; undefined also when it has ended. */
  async tableAt(tableId: number, snapshot: number): Promise<Table | undefined> {
    if (snapshot < (this.#horizons.get(tableId)?.snapshot ?? 0)) return undefined;
    const kept = await this.#database
      .selectFrom('ducklake_snapshot')
      .select('snapshot_id')
      .where('snapshot_id', '=', snapshot)
      .executeTakeFirst();
    return kept === undefined ? undefined : this.#tables.old(tableId, snapshot);
  }

  /** The version that a moment is of, or the first one of all. */
  async versionAt(asOf: AsOf): Promise<number> {
    const inside = this.inLakeTime(asOf);
    if (inside.kind === 'snapshot') return inside.snapshot;
    return (await newestSnapshot(this.#database, inside.ms)) ?? 0;
  }

  /** @throws Failure Gone when changes since a version can't be told any more. */
  checkSince(tableId: number, since: number): Promise<void> {
    return checkSince(this.#database, tableId, since, this.#snapshot, this.#horizons.get(tableId));
  }

  /** Of a column that is added next: ids of columns that went are never used again. */
  nextColumnId(tableId: number): Promise<number> {
    return nextColumnId(this.#database, tableId);
  }

  /** Data files of every version of a table that is left, each without its deletes. */
  everyFile(table: Table): Promise<readonly DataFile[]> {
    return readEveryFile(this.#database, table);
  }

  /**
   * Makes one version. `alongside` runs in the same transaction: both happen or neither. `check`
   * runs when the commit's turn has come: what it finds can not change before the commit.
   */
  async commit(
    edits: readonly Edit[],
    note: CommitNote,
    alongside: Alongside = async () => undefined,
    check: () => void = () => undefined,
  ): Promise<Committed> {
    return this.#exclusively(async () => {
      check();
      if (edits.length === 0) return this.#noteOnly(alongside);
      const { marked, touched, ...committed } = await this.#database
        .transaction()
        .execute(async (transaction) => {
          const written = await writeSnapshot(transaction, edits, note, this.#clock.next());
          const marked = await this.#clock.write(transaction);
          await alongside(transaction, written);
          await scheduleRemoval(transaction, written.unnamed, written.timeMs);
          this.#at('transaction-open');
          return { ...written, marked, touched: touchedIn(transaction) };
        });
      marked();
      this.#at('transaction-committed');
      await this.#announce(edits, committed, touched, note.touches);
      return committed;
    });
  }

  /**
   * Lets old versions go, in the turn of the commits.
   * @returns files that nothing names any more, to be removed when their readers have ended
   */
  async expire(keep: Keep): Promise<readonly string[]> {
    return this.#exclusively(async () => {
      const snapshots = await readSnapshots(this.#database);
      const nowMs = this.#clock.now();
      const expired = expiredSnapshots(snapshots, nowMs, keep);
      const files = await this.#database.transaction().execute(async (transaction) => {
        await expirePushes(transaction, nowMs - keep.allMs);
        const unnamed = expired.length === 0 ? [] : await expire(transaction, expired);
        await scheduleRemoval(transaction, unnamed, nowMs);
        this.#at('retention-open');
        return unnamed;
      });
      this.#at('retention-committed');
      if (expired.length === 0) return [];
      this.#tables.forgetOld();
      this.#state += 1;
      return files;
    });
  }

  /**
   * Ends each table's history before the version that was the newest at its time, in the turn of
   * the commits.
   * @returns files that nothing names any more, to be removed when their readers have ended
   */
  async endOlder(
    ends: readonly { readonly tableId: number; readonly ms: number }[],
  ): Promise<readonly string[]> {
    return this.#exclusively(async () => {
      const nowMs = this.#clock.now();
      const files = await this.#database.transaction().execute(async (transaction) => {
        const unnamed: string[] = [];
        for (const { tableId, ms } of ends) {
          const lakeMs = this.#clock.lakeTimeOf(ms);
          unnamed.push(...((await endOlder(transaction, tableId, lakeMs, nowMs)) ?? []));
        }
        await scheduleRemoval(transaction, unnamed, nowMs);
        this.#at('retention-open');
        return unnamed;
      });
      this.#at('retention-committed');
      this.#horizons = await shown(() => readHorizons(this.#database));
      this.#tables.forgetOld();
      this.#state += 1;
      return files;
    });
  }

  /** The newest version before a snapshot that is still there. */
  async snapshotBefore(snapshot: number): Promise<number> {
    const row = await this.#database
      .selectFrom('ducklake_snapshot')
      .select((select) => [select.fn.max('snapshot_id').as('snapshot')])
      .where('snapshot_id', '<', snapshot)
      .executeTakeFirst();
    return Number(row?.snapshot ?? 0);
  }

  /** A load that changed nothing makes no version; what goes alongside still happens. */
  async #noteOnly(alongside: Alongside): Promise<Committed> {
    const timeMs = this.#clock.now();
    const committed = { snapshot: this.#snapshot, timeMs, created: [], unnamed: [] };
    const touched = await this.#database.transaction().execute(async (transaction) => {
      await alongside(transaction, committed);
      return touchedIn(transaction);
    });
    if (touched.datasets.size + touched.workspaces.size > 0) {
      const { snapshot } = committed;
      const touches = { kind: 'nothing' } as const;
      const change = { snapshot, timeMs, tableIds: [], touches, touched, endsHistory: false };
      await this.#show(change);
    }
    return committed;
  }

  async #announce(
    edits: readonly Edit[],
    { snapshot, timeMs }: Committed,
    touched: Touched,
    touches: CommitNote['touches'],
  ): Promise<void> {
    const tableIds = edits.flatMap((edit) => ('tableId' in edit ? [edit.tableId] : []));
    const endsHistory = edits.some(({ kind }) => kind === 'end-history');
    await this.#owner.moved(snapshot, timeMs);
    await this.#show({ snapshot, timeMs, tableIds, touches, touched, endsHistory });
  }

  #show(change: Change): Promise<void> {
    return this.changes.show(() => shown(() => this.heard(change)));
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTurn(() => {
      const working = work();
      this.#working = working.catch(() => undefined);
      return working;
    });
  }
}
