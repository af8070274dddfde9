// A backup of a data folder that is served meanwhile: one moment of the catalog, and every file
// that it names. Files are added beside the backup that is there; the manifest, replaced at the
// end in one step, makes them the new one; only then goes what it does not name.
import { copyFileSync, existsSync, linkSync, mkdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { formerOf } from '../../store/work/keyRotation.ts';
import { writeAudit } from '../../store/accounts/audit.ts';
import { type CatalogMoment, openMoment } from '../../store/work/catalogMoment.ts';
import { type Clock, isoTime } from '../../store/base/clock.ts';
import { contentOf } from '../../store/base/contents.ts';
import type { AtCrashPoint } from '../../store/base/crashPoints.ts';
import type { CatalogPlace } from '../../store/catalog/catalogPlace.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { Disk } from '../../store/base/disk.ts';
import { Failure, toldFull } from '../../store/base/failure.ts';
import type { Folder } from '../../store/catalog/folder.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { Pending } from '../../store/lake/pushes/pending.ts';
import type { Publications } from '../../store/publications/publications.ts';
import { newUuid, randomHex } from '../../store/base/random.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { VERSION } from '../../store/base/version.ts';
import { bytesOf, codeOf, copyFile, eachOf, linkFile, toldOf } from './backupFiles.ts';
import { type BackupFile, type Manifest, newManifest, writeManifest } from './backupManifest.ts';
import { type BackupTarget, openTarget } from './backupTarget.ts';

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
  /** Absolute path of a new folder, an empty one, or one with a backup of this data folder. */
  readonly target: string;
  /** Leave out the files of the data key and of the admin token. */
  readonly withoutKey: boolean;
  /** Copy files also where they could be linked. */
  readonly copy: boolean;
  /** Who asked, for the audit log. */
  readonly actor: string;
  readonly signal: AbortSignal;
}

export interface BackupTold {
  readonly target: string;
  readonly snapshot: number;
  /** Of the whole backup. */
  readonly files: number;
  readonly bytes: number;
  /** Of what was not there yet. */
  readonly newFiles: number;
  readonly newBytes: number;
  /** Of the new files, those that share their bytes with the data folder. */
  readonly linkedFiles: number;
  /** Whether the data key is in it. */
  readonly key: boolean;
}

/** One at a time for each lake. */
const running = new WeakSet<Lake>();

const NOT_MADE = 'no backup was made, and one that was there stays';

/**
 * Makes a backup, or brings the one in the target up to now. Every charge and push that was
 * acknowledged before it is in it.
 * @throws Failure: no backup was made and why; one that was there stays as it was.
 */
export async function makeBackup(order: BackupOrder, parts: BackupParts): Promise<BackupTold> {
  const { lake, folder, disk } = parts;
  if (running.has(lake)) throw new Failure('Busy', 'another backup is running: wait for its end');
  running.add(lake);
  try {
    const target = await openTarget(order.target, folder.root, disk);
    try {
      return await backUpInto(target, order, parts);
    } catch (error) {
      // What can't be removed now goes with the next backup.
      await target.clean().catch(() => undefined);
      throw error;
    } finally {
      target.release();
    }
  } catch (error) {
    throw toldOf(error, order.target, NOT_MADE);
  } finally {
    running.delete(lake);
  }
}

async function backUpInto(
  target: BackupTarget,
  order: BackupOrder,
  parts: BackupParts,
): Promise<BackupTold> {
  const { at, database, clock, ledger, pending, disk } = parts;
  // Before anything leaves the folder; on a full disk it fails here, before charges are missed.
  const detail = { target: target.folder, withoutKey: order.withoutKey };
  const entry = { actor: order.actor, accountId: '', action: 'back up', detail };
  try {
    await database.transaction().execute((inside) => writeAudit(inside, entry, clock()));
  } catch (error) {
    throw toldFull(error);
  }
  await ledger.caughtUp();
  await pending.settle();
  const made = isoTime(clock());
  // With the catalog's turn: nothing is committed while the moment and its files are taken hold of.
  const held = await database.connection().execute(() => holdMoment(parts, target));
  at('backup-held');
  try {
    const copying = new Copying(target, order, disk);
    const state = `state-${randomHex(8)}`;
    await copyState(copying, state, held.moment, parts);
    await held.moment.close();
    await eachOf(held.files, (file) => copying.add(file));
    await copying.sync();
    at('backup-copied');
    const { lakeId: lake, snapshot } = held.moment;
    const key = !order.withoutKey && parts.settings.encryptionKey === '';
    const { files } = copying;
    const manifest = newManifest({ made, program: VERSION, lake, snapshot, state, key, files });
    order.signal.throwIfAborted();
    await writeManifest(target.folder, manifest, disk);
    // From here on the backup is made: what is left over goes with the next one at the latest.
    await target.clean().catch(() => undefined);
    return toldOfBackup(target.folder, manifest, copying);
  } finally {
    await held.release();
  }
}

const toldOfBackup = (target: string, manifest: Manifest, copying: Copying): BackupTold => ({
  target,
  snapshot: manifest.snapshot,
  files: manifest.count,
  bytes: manifest.bytes,
  newFiles: copying.newFiles,
  newBytes: copying.newBytes,
  linkedFiles: copying.linkedFiles,
  key: manifest.key,
});

interface HeldFile {
  /** In the backup. */
  readonly path: string;
  /** Lends it as a local file. */
  readonly lend: () => Promise<{ readonly path: string; release(): void }>;
  /** As the catalog has them; undefined where it does not say. */
  readonly bytes: number | undefined;
  readonly sha256: string | undefined;
}

interface Held {
  readonly moment: CatalogMoment;
  readonly files: readonly HeldFile[];
  release(): Promise<void>;
}

/**
 * Opens the moment and holds all that it names, while nothing is committed: lake files are pinned, none of
 * the published ones is removed, bodies get a second name, since the end of their job removes them.
 * @throws Failure Conflict when the target holds another data folder's backup.
 */
async function holdMoment(
  { catalog, folder, lake, disk, publications }: BackupParts,
  { previous, folder: target }: BackupTarget,
): Promise<Held> {
  const moment = await openMoment(catalog);
  const unhold = publications.hold();
  const bodies = join(folder.temporary, newUuid());
  let pinned: ReturnType<Lake['files']['pin']> | undefined;
  const release = async (): Promise<void> => {
    await moment.close();
    pinned?.release();
    unhold();
    await disk.remove(bodies);
  };
  try {
    pinned = lake.files.pin(moment.files.map(({ path }) => path));
    const kept = moment.bodies.filter((name) => keepBody(folder, name, bodies));
    if (previous !== undefined && previous.lake !== moment.lakeId) {
      const told = `${target} holds a backup of another data folder: name another folder`;
      throw new Failure('Conflict', told);
    }
    const data = moment.files.map(({ path, bytes, sha256 }) => {
      return { path: `lake/${path}`, lend: () => lake.files.borrow(path), bytes, sha256 };
    });
    const files = moment.published.map(({ path, ...content }) => {
      return {
        path: `published/${path}`,
        lend: published(publications, path, content),
        ...content,
      };
    });
    const spooled = kept.map((name) => {
      const unknown = { bytes: undefined, sha256: undefined };
      return { path: `spool/${name}`, lend: ownFile(bodies, name), ...unknown };
    });
    return { moment, files: [...data, ...files, ...spooled], release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** A copy of a bucket's file may have gone from this disk. */
const published =
  (
    publications: Publications,
    publicationId: string,
    { bytes, sha256 }: Pick<HeldFile, 'bytes' | 'sha256'>,
  ): HeldFile['lend'] =>
  async () => {
    if (bytes !== undefined && sha256 !== undefined) {
      await publications.bring({ publicationId, bytes, sha256 });
    }
    return { path: publications.pathOf({ publicationId }), release: () => undefined };
  };

const ownFile =
  (folder: string, name: string): HeldFile['lend'] =>
  async () => ({ path: join(folder, name), release: () => undefined });

/** False when the body is gone: its job tells so when it begins again, here as there. */
function keepBody(folder: Folder, name: string, bodies: string): boolean {
  mkdirSync(bodies, { recursive: true, mode: 0o700 });
  const source = join(folder.spool, name);
  try {
    try {
      linkSync(source, join(bodies, name));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') throw error;
      copyFileSync(source, join(bodies, name));
    }
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** The catalog and the secrets: small, and never shared with another backup. */
async function copyState(
  copying: Copying,
  state: string,
  moment: CatalogMoment,
  { folder, settings }: BackupParts,
): Promise<void> {
  await copying.addMade(`${state}/catalog.db`, (path) => moment.copyTo(path));
  if (copying.order.withoutKey) return;
  if (settings.encryptionKey === '') {
    await copying.addCopy(`${state}/key`, folder.key);
    // A rotation between the moment and now: the catalog of the moment opens by it.
    const former = formerOf(folder.key);
    if (existsSync(former)) await copying.addCopy(`${state}/${basename(former)}`, former);
  }
  if (settings.adminToken === '') await copying.addCopy(`${state}/admin-token`, folder.adminToken);
}

/** Files as they come into the target. */
class Copying {
  readonly files: BackupFile[] = [];
  readonly order: BackupOrder;
  newFiles = 0;
  newBytes = 0;
  linkedFiles = 0;
  readonly #folder: string;
  readonly #disk: Disk;
  readonly #known: ReadonlyMap<string, BackupFile>;
  /** Folders with new entries. */
  readonly #touched = new Set<string>();

  constructor({ folder, previous }: BackupTarget, order: BackupOrder, disk: Disk) {
    this.order = order;
    this.#folder = folder;
    this.#disk = disk;
    this.#known = new Map(previous?.files.map((file) => [file.path, file]));
  }

  /** A file that never changes: what the last backup has of it stays, with its hash. */
  async add(file: HeldFile): Promise<void> {
    this.order.signal.throwIfAborted();
    const { path, sha256 } = file;
    const known = this.#known.get(path);
    const right = known !== undefined && known.sha256 === (sha256 ?? known.sha256);
    if (right && (await this.#has(known))) {
      this.files.push(known);
      return;
    }
    const lent = await file.lend();
    await this.#addFrom(lent.path, file).finally(() => lent.release());
  }

  async #addFrom(source: string, { bytes, path, sha256 }: HeldFile): Promise<void> {
    const found = await bytesOf(source);
    if (found === undefined || found !== (bytes ?? found)) {
      const told = found === undefined ? 'is missing' : `has ${found} bytes instead of ${bytes}`;
      throw new Failure('Conflict', `${path} of the data folder ${told}: ${NOT_MADE}`);
    }
    const target = join(this.#folder, path);
    const linked = !this.order.copy && (await linkFile(source, target));
    const content = linked
      ? await contentOf(target, this.order.signal)
      : await copyFile(source, target, this.#disk, this.order.signal);
    // Damage must not become the copy that heals it.
    if (sha256 !== undefined && content.sha256 !== sha256) {
      const told = `${path} of the data folder is damaged: its SHA-256 is not the one that was written`;
      throw new Failure('Conflict', `${told}; heal it by "tapedeck repair --from": ${NOT_MADE}`);
    }
    if (linked) this.linkedFiles += 1;
    this.#added(path, content);
  }

  async #has({ path, bytes }: BackupFile): Promise<boolean> {
    const target = join(this.#folder, path);
    if ((await bytesOf(target)) !== bytes) return false;
    return !this.order.copy || (await stat(target)).nlink === 1;
  }

  async addCopy(path: string, source: string): Promise<void> {
    const target = join(this.#folder, path);
    this.#added(path, await copyFile(source, target, this.#disk, this.order.signal));
  }

  /** A file that `make` writes. */
  async addMade(path: string, make: (path: string) => Promise<void>): Promise<void> {
    const target = join(this.#folder, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    await make(target);
    await this.#disk.syncFile(target);
    this.#added(path, await contentOf(target, this.order.signal));
  }

  /** The names of all that came reach the disk. */
  async sync(): Promise<void> {
    await eachOf([...this.#touched], (folder) => this.#disk.syncFolder(folder));
  }

  #added(path: string, content: Omit<BackupFile, 'path'>): void {
    this.files.push({ path, ...content });
    this.newFiles += 1;
    this.newBytes += content.bytes;
    for (let at = path; at !== '.'; at = dirname(at)) {
      this.#touched.add(join(this.#folder, dirname(at)));
    }
  }
}
