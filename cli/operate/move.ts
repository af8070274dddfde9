// `tapedeck move`: moves a data folder to the places of the settings, or back.
import { findCatalog } from '../../app/lake/lakePlaces.ts';
import { type CatalogMoved, moveCatalog } from '../../jobs/move/moveCatalog.ts';
import { type FilesMoved, filesToBucket, filesToFolder } from '../../jobs/move/moveFiles.ts';
import { systemClock } from '../../store/base/clock.ts';
import { localDisk } from '../../store/base/disk.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { CatalogPlace } from '../../store/catalog/catalogPlace.ts';
import { sqlitePlace } from '../../store/sqlite/sqlitePlace.ts';
import { type Folder, lockFolder, openFolder } from '../../store/catalog/folder.ts';
import { bucketPublished } from '../../store/publications/publishedFiles.ts';
import { checkKey } from '../../store/work/keyRotation.ts';
import { openCatalogSnapshot } from '../../store/work/catalogSnapshot.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';

export interface MoveOptions {
  readonly back?: boolean;
  readonly json?: boolean;
}

export async function move(
  { back = false, json }: MoveOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const { bucket, database } = settings;
  if (bucket === undefined && database === undefined) {
    const rule =
      'set TAPEDECK_DATABASE, or TAPEDECK_DATA=s3://bucket/prefix, to set the other place';
    throw new Failure('InvalidParameter', rule);
  }
  const folder = openFolder(settings.data);
  const unlock = lockFolder(folder);
  try {
    const [here, there] = [sqlitePlace(folder), await findCatalog(database, folder)];
    const [from, to] = back ? [there, here] : [here, there];
    await refuseWrongKey(settings, folder, { from, to });
    const files = await moveFiles(settings, folder, { from, to, back }, terminal);
    const catalog = database === undefined ? undefined : await moveCatalog(from, to, systemClock());
    if (json === true) return printTo(terminal)(JSON.stringify({ files, catalog }));
    for (const line of formatResult({ files, catalog, to, back })) printTo(terminal)(line);
  } finally {
    unlock();
  }
}

interface Direction {
  readonly from: CatalogPlace;
  readonly to: CatalogPlace;
  readonly back: boolean;
}

/** Refuses a wrong key before anything is moved: the next start would refuse it. @throws Failure Conflict. */
async function refuseWrongKey(
  { encryptionKey }: Settings,
  folder: Folder,
  { from, to }: Pick<Direction, 'from' | 'to'>,
): Promise<void> {
  // An earlier run may have moved the catalog already.
  const place = (await from.exists()) ? from : to;
  if (!(await place.exists())) return;
  const moment = await place.openSnapshot();
  try {
    await checkKey(moment.database, encryptionKey, folder.key);
  } finally {
    await moment.close();
  }
}

async function moveFiles(
  { bucket: settings }: Settings,
  folder: Folder,
  { back, from, to }: Direction,
  terminal: Terminal,
): Promise<FilesMoved | undefined> {
  if (settings === undefined) return undefined;
  const { openS3Bucket } = await import('../../pipeline/targets/s3Bucket.ts');
  const bucket = openS3Bucket(settings);
  try {
    // An earlier run may have moved the catalog already.
    const moment = await openCatalogSnapshot((await from.exists()) ? from : to);
    await moment.close();
    const warn = (what: string, reason: unknown): void =>
      void terminal.stderr.write(`tapedeck: ${what}: ${reasonOf(reason)}\n`);
    const publishedFiles = bucketPublished(folder, localDisk, bucket, warn);
    const { files, published } = moment;
    const order = { files, published, publishedFiles, folder, bucket, disk: localDisk };
    return await (back ? filesToFolder(order) : filesToBucket(order));
  } finally {
    bucket.close();
  }
}

interface Moved extends Pick<Direction, 'back' | 'to'> {
  readonly files: FilesMoved | undefined;
  readonly catalog: CatalogMoved | undefined;
}

function* formatResult({ back, catalog, files, to }: Moved): Generator<string> {
  if (files !== undefined) {
    yield `${files.files} files of all versions are in place, ${files.copied} of them copied now`;
  }
  if (catalog !== undefined) {
    const { aside, copied } = catalog;
    yield copied === undefined
      ? `the catalog was already in ${to.name}`
      : `${copied.rows} rows of ${copied.tables} tables are in ${to.name}, each compared`;
    yield `the former one is kept as ${aside}`;
  }
  yield back ? 'start the server without these settings' : 'start the server with these settings';
}
