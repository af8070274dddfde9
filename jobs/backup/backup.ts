// Backs up a data folder while it is served: one moment of the catalog, and every file that it names. New
// files are added beside the previous backup; replacing the manifest in one step makes the new backup
// current; only then are files that it does not name removed.
import { copyFileSync, existsSync, linkSync, mkdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { formerKeyPath } from '../../store/work/keyRotation.ts';
import { writeAudit } from '../../store/accounts/audit.ts';
import { type CatalogSnapshot, openCatalogSnapshot } from '../../store/work/catalogSnapshot.ts';
import { type Clock, isoTime } from '../../store/base/clock.ts';
import { digestFile } from '../../store/base/fileDigest.ts';
import type { AtCrashPoint } from '../../store/base/crashPoints.ts';
import type { CatalogPlace } from '../../store/catalog/catalogPlace.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { Disk } from '../../store/base/disk.ts';
import { Failure, toDiskFullFailure } from '../../store/base/failure.ts';
import type { Folder } from '../../store/catalog/folder.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { Pending } from '../../store/lake/pushes/pending.ts';
import type { Publications } from '../../store/publications/publications.ts';
import { newUuid, randomHex } from '../../store/base/random.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { VERSION } from '../../store/base/version.ts';
import {
  fileSize,
  errorCode,
  copyFile,
  forEachConcurrently,
  linkFile,
  toFolderFailure,
} from './backupFiles.ts';
import { type BackupFile, type Manifest, newManifest, writeManifest } from './backupManifest.ts';
import { type BackupTarget, openTarget } from './backupTarget.ts';
import { describeLength, OTHER_CONTENT } from '../../store/files/fileProofs.ts';

interface BackupParts {
  readonly settings: Settings;
  readonly catalog: CatalogPlace;
  readonly database: Database;
  readonly folder: Folder;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly lake: Lake;
  readonly ledger: Ledger;
  readonly pending: Pending;
  readonly publications: Publications;
  readonly at: AtCrashPoint;
}

interface BackupOrder {
  /** Absolute path of a new folder, an empty one, or one with an earlier backup of this data folder. */
  readonly target: string;
  /** Leave out the files of the data key and of the admin token. */
  readonly withoutKey: boolean;
  /** Copy files even where they could be linked. */
  readonly copy: boolean;
  /** Account or operator that requested it, for the audit log. */
  readonly actor: string;
  readonly signal: AbortSignal;
}

export interface BackupSummary {
  readonly target: string;
  readonly snapshot: number;
  /** Of the whole backup. */
  readonly files: number;
  readonly bytes: number;
  /** Of the files that the previous backup did not have. */
  readonly newFiles: number;
  readonly newBytes: number;
  /** New files that are hard links to files of the data folder. */
  readonly linkedFiles: number;
  /** Whether the backup contains the data key. */
  readonly key: boolean;
}

/** One at a time for each lake. */
const running = new WeakSet<Lake>();

const NOT_MADE = 'no backup was made, and one that was there stays';

/**
 * Makes a backup, or updates the one in the target. It contains every charge and push that was acknowledged
 * before.
 * @throws Failure: why no backup was made; an earlier one stays as it was.
 */
export async function makeBackup(order: BackupOrder, parts: BackupParts): Promise<BackupSummary> {
  const { lake, folder, disk } = parts;
  if (running.has(lake)) throw new Failure('Busy', 'another backup is running: wait for its end');
  running.add(lake);
  try {
    const target = await openTarget(order.target, folder.root, disk);
    try {
      return await backUpInto(target, order, parts);
    } catch (error) {
      // The next backup removes what can't be removed now.
      await target.clean().catch(() => undefined);
      throw error;
    } finally {
      target.release();
    }
  } catch (error) {
    throw toFolderFailure(error, order.target, NOT_MADE);
  } finally {
    running.delete(lake);
  }
}

async function backUpInto(
  target: BackupTarget,
  order: BackupOrder,
  parts: BackupParts,
): Promise<BackupSummary> {
  const { at, database, clock, ledger, pending, disk } = parts;
  // Written before anything leaves the folder: a full disk fails here, before charges are missing.
  const detail = { target: target.folder, withoutKey: order.withoutKey };
  const entry = { actor: order.actor, accountId: '', action: 'back up', detail };
  try {
    await database.transaction().execute((inside) => writeAudit(inside, entry, clock()));
  } catch (error) {
    throw toDiskFullFailure(error);
  }
  await ledger.flushAll();
  await pending.flush();
  const madeAt = isoTime(clock());
  // Holds the catalog's connection: nothing is committed while the moment and its files are pinned.
  const pinned = await database.connection().execute(() => pinMoment(parts, target));
  at('backup-held');
  try {
    const copier = new BackupCopier(target, order, disk);
    const state = `state-${randomHex(8)}`;
    await copyState(copier, state, pinned.moment, parts);
    await pinned.moment.close();
    await forEachConcurrently(pinned.files, (file) => copier.add(file));
    await copier.sync();
    at('backup-copied');
    const { lakeId: lake, snapshot } = pinned.moment;
    const key = !order.withoutKey && parts.settings.encryptionKey === '';
    const { files } = copier;
    const manifest = newManifest({
      made: madeAt,
      program: VERSION,
      lake,
      snapshot,
      state,
      key,
      files,
    });
    order.signal.throwIfAborted();
    await writeManifest(target.folder, manifest, disk);
    // The backup is complete from here on: leftovers are removed with the next one at the latest.
    await target.clean().catch(() => undefined);
    return toBackupSummary(target.folder, manifest, copier);
  } finally {
    await pinned.release();
  }
}

const toBackupSummary = (
  target: string,
  manifest: Manifest,
  copier: BackupCopier,
): BackupSummary => ({
  target,
  snapshot: manifest.snapshot,
  files: manifest.count,
  bytes: manifest.bytes,
  newFiles: copier.newFiles,
  newBytes: copier.newBytes,
  linkedFiles: copier.linkedFiles,
  key: manifest.key,
});

interface PinnedFile {
  /** Relative to the backup. */
  readonly path: string;
  /** Provides it as a local file until it is released. */
  readonly acquire: () => Promise<{ readonly path: string; release(): void }>;
  /** As the catalog records them; undefined where it does not. */
  readonly bytes: number | undefined;
  readonly sha256: string | undefined;
}

interface PinnedMoment {
  readonly moment: CatalogSnapshot;
  readonly files: readonly PinnedFile[];
  release(): Promise<void>;
}

/**
 * Opens the moment and pins all files that it names, while nothing is committed: lake files are pinned,
 * removal of published ones is blocked, and bodies get a second name, since the end of their job removes
 * them.
 * @throws Failure Conflict when the target contains another data folder's backup.
 */
async function pinMoment(
  { catalog, folder, lake, disk, publications }: BackupParts,
  { previous, folder: target }: BackupTarget,
): Promise<PinnedMoment> {
  const moment = await openCatalogSnapshot(catalog);
  const allowRemoval = publications.hold();
  const bodies = join(folder.temporary, newUuid());
  let pinned: ReturnType<Lake['files']['pin']> | undefined;
  const release = async (): Promise<void> => {
    await moment.close();
    pinned?.release();
    allowRemoval();
    await disk.remove(bodies);
  };
  try {
    pinned = lake.files.pin(moment.files.map(({ path }) => path));
    const linkedBodies = moment.bodies.filter((name) => linkBody(folder, name, bodies));
    if (previous !== undefined && previous.lake !== moment.lakeId) {
      const message = `${target} holds a backup of another data folder: name another folder`;
      throw new Failure('Conflict', message);
    }
    const data = moment.files.map(({ path, bytes, sha256 }) => {
      return { path: `lake/${path}`, acquire: () => lake.files.openLocal(path), bytes, sha256 };
    });
    const files = moment.published.map(({ path, ...content }) => {
      return {
        path: `published/${path}`,
        acquire: publishedSource(publications, path, content),
        ...content,
      };
    });
    const spooled = linkedBodies.map((name) => {
      const unknown = { bytes: undefined, sha256: undefined };
      return { path: `spool/${name}`, acquire: bodySource(bodies, name), ...unknown };
    });
    return { moment, files: [...data, ...files, ...spooled], release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Downloads it first: the local copy of a bucket's file may have been evicted. */
const publishedSource =
  (
    publications: Publications,
    publicationId: string,
    { bytes, sha256 }: Pick<PinnedFile, 'bytes' | 'sha256'>,
  ): PinnedFile['acquire'] =>
  async () => {
    if (bytes !== undefined && sha256 !== undefined) {
      await publications.fetchLocal({ publicationId, bytes, sha256 });
    }
    return { path: publications.pathOf({ publicationId }), release: () => undefined };
  };

const bodySource =
  (folder: string, name: string): PinnedFile['acquire'] =>
  async () => ({ path: join(folder, name), release: () => undefined });

/**
 * Links a body; false when it is gone: its job then fails with that reason when it restarts, here or after a
 * restore.
 */
function linkBody(folder: Folder, name: string, bodies: string): boolean {
  mkdirSync(bodies, { recursive: true, mode: 0o700 });
  const source = join(folder.spool, name);
  try {
    try {
      linkSync(source, join(bodies, name));
    } catch (error) {
      if (errorCode(error) === 'ENOENT') throw error;
      copyFileSync(source, join(bodies, name));
    }
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Copies the catalog and the secrets: small, and never shared with another backup. */
async function copyState(
  copier: BackupCopier,
  state: string,
  moment: CatalogSnapshot,
  { folder, settings }: BackupParts,
): Promise<void> {
  await copier.addGenerated(`${state}/catalog.db`, (path) => moment.copyTo(path));
  if (copier.order.withoutKey) return;
  if (settings.encryptionKey === '') {
    await copier.addCopy(`${state}/key`, folder.key);
    // The key may have been rotated since the moment: the moment's catalog needs the former one.
    const former = formerKeyPath(folder.key);
    if (existsSync(former)) await copier.addCopy(`${state}/${basename(former)}`, former);
  }
  if (settings.adminToken === '') await copier.addCopy(`${state}/admin-token`, folder.adminToken);
}

/** Adds files to the target. */
class BackupCopier {
  readonly files: BackupFile[] = [];
  readonly order: BackupOrder;
  newFiles = 0;
  newBytes = 0;
  linkedFiles = 0;
  readonly #folder: string;
  readonly #disk: Disk;
  readonly #previousFiles: ReadonlyMap<string, BackupFile>;
  /** Folders with new entries. */
  readonly #changedFolders = new Set<string>();

  constructor({ folder, previous }: BackupTarget, order: BackupOrder, disk: Disk) {
    this.order = order;
    this.#folder = folder;
    this.#disk = disk;
    this.#previousFiles = new Map(previous?.files.map((file) => [file.path, file]));
  }

  /** Adds a file that never changes: the copy of the last backup is reused, with its hash. */
  async add(file: PinnedFile): Promise<void> {
    this.order.signal.throwIfAborted();
    const { path, sha256 } = file;
    const previous = this.#previousFiles.get(path);
    const right = previous !== undefined && previous.sha256 === (sha256 ?? previous.sha256);
    if (right && (await this.#isPresent(previous))) {
      this.files.push(previous);
      return;
    }
    const localFile = await file.acquire();
    await this.#addFrom(localFile.path, file).finally(() => localFile.release());
  }

  async #addFrom(source: string, { bytes, path, sha256 }: PinnedFile): Promise<void> {
    const name = `${path} of the data folder`;
    const size = await fileSize(source);
    if (size === undefined || size !== (bytes ?? size)) {
      const message = size === undefined ? 'is missing' : describeLength(size, bytes);
      throw new Failure('Conflict', `${name} ${message}: ${NOT_MADE}`);
    }
    const target = join(this.#folder, path);
    const linked = !this.order.copy && (await linkFile(source, target));
    const content = linked
      ? await digestFile(target, this.order.signal)
      : await copyFile(source, target, this.#disk, this.order.signal);
    // A damaged file must not become the copy that heals it.
    if (sha256 !== undefined && content.sha256 !== sha256) {
      throw new Failure(
        'Conflict',
        `${name} ${OTHER_CONTENT}; heal it by "tapedeck repair --from": ${NOT_MADE}`,
      );
    }
    if (linked) this.linkedFiles += 1;
    this.#record(path, content);
  }

  async #isPresent({ path, bytes }: BackupFile): Promise<boolean> {
    const target = join(this.#folder, path);
    if ((await fileSize(target)) !== bytes) return false;
    return !this.order.copy || (await stat(target)).nlink === 1;
  }

  async addCopy(path: string, source: string): Promise<void> {
    const target = join(this.#folder, path);
    this.#record(path, await copyFile(source, target, this.#disk, this.order.signal));
  }

  /** Adds a file that `make` writes. */
  async addGenerated(path: string, make: (path: string) => Promise<void>): Promise<void> {
    const target = join(this.#folder, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    await make(target);
    await this.#disk.syncFile(target);
    this.#record(path, await digestFile(target, this.order.signal));
  }

  /** Syncs the folders of all new files to the disk. */
  async sync(): Promise<void> {
    await forEachConcurrently([...this.#changedFolders], (folder) => this.#disk.syncFolder(folder));
  }

  #record(path: string, content: Omit<BackupFile, 'path'>): void {
    this.files.push({ path, ...content });
    this.newFiles += 1;
    this.newBytes += content.bytes;
    for (let at = path; at !== '.'; at = dirname(at)) {
      this.#changedFolders.add(join(this.#folder, dirname(at)));
    }
  }
}
