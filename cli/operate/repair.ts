// `tapedeck verify`, `repair`: find damaged or lost files, and restore them.
import { resolve } from 'node:path';
import { rebuildTables } from '../../jobs/upkeep/rebuildCatalog.ts';
import type { FilesVerdict } from '../../jobs/upkeep/filesVerdict.ts';
import { type FoundFiles, findTables, findFilesInForce } from '../../jobs/upkeep/foundFiles.ts';
import type { healFiles } from '../../jobs/upkeep/heal.ts';
import { findCatalogFault } from '../../store/files/catalogCheck.ts';
import { systemClock } from '../../store/base/clock.ts';
import { localDisk } from '../../store/base/disk.ts';
import { Failure } from '../../store/base/failure.ts';
import type { CatalogPlace } from '../../store/catalog/catalogPlace.ts';
import { type Folder, lockFolder, openFolder } from '../../store/catalog/folder.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { moveUnnamedAside } from '../../store/lake/versions/sweep.ts';
import type { LakePlace } from '../../store/files/lakePlace.ts';
import { UNCLAIMED_DAYS } from '../../store/files/unclaimed.ts';
import { showFirstTokens } from './firstTokens.ts';
import { withAdmin } from '../connect/adminApi.ts';
import type { CommandSettings } from '../connect/folderAccess.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';
import { type Core, openCore } from '../../app/core.ts';
import { openPlaces } from '../../app/lake/lakePlaces.ts';
import { megabytes } from '../print/bytesText.ts';

interface JsonOption {
  readonly json?: boolean;
}

export interface RepairOptions extends JsonOption {
  readonly from?: string;
  readonly accept?: boolean;
  readonly rebuild?: boolean;
}

const ALL_INTACT = 'every file is as it was written';

function printVerdict(verdict: FilesVerdict, json: boolean | undefined, terminal: Terminal): void {
  const print = printTo(terminal);
  const { bytes, damaged, files } = verdict;
  if (damaged.length > 0) terminal.endWith(1);
  if (json === true) return print(JSON.stringify(verdict));
  print(`${files} files, ${megabytes(bytes)}`);
  if (damaged.length === 0) return print(ALL_INTACT);
  for (const { folder, path, what } of damaged) print(`${folder}/${path} ${what}`);
  print('heal them with: tapedeck repair --from <backup>');
}

export const verify = (
  { json }: JsonOption,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withAdmin(settings, async (call) =>
    printVerdict((await call('GET', '/verify-files')) as FilesVerdict, json, terminal),
  );

export async function repair(
  options: RepairOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const { accept, from, json, rebuild } = options;
  if ([accept, from !== undefined, rebuild].filter((one) => one === true).length > 1) {
    throw new Failure('InvalidParameter', 'name one of --from, --accept and --rebuild');
  }
  if (from !== undefined)
    return healFromBackup(resolve(terminal.folder, from), json, settings, terminal);
  const folder = openFolder(settings.data);
  const { bucket, catalog, place } = await openPlaces(settings, folder, AT_HOME);
  try {
    const fault = await findCatalogFault(catalog, place);
    if (bucket !== undefined && fault !== undefined && accept !== true) {
      const advice = 'copy its lake/ into the data folder, and repair it there without a bucket';
      throw new Failure('Conflict', `${fault}. To rebuild datasets of the files: ${advice}`);
    }
    await repairLake({ catalog, folder, place, fault }, options, settings, terminal);
  } finally {
    bucket?.close();
  }
}

const AT_HOME = { clock: systemClock, disk: localDisk };

/** A catalog and its files, and why they do not match. */
interface FoundLake {
  readonly catalog: CatalogPlace;
  readonly folder: Folder;
  readonly place: LakePlace;
  readonly fault: string | undefined;
}

type Lake = Omit<FoundLake, 'fault'>;

async function repairLake(
  { catalog, fault, folder, place }: FoundLake,
  { accept, json, rebuild }: RepairOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const print = printTo(terminal);
  if (fault === undefined) {
    if (accept === true || rebuild === true) print('the catalog is that of its files');
    return verify(json === undefined ? {} : { json }, settings, terminal);
  }
  if (rebuild === true)
    return rebuildDatasets({ catalog, folder, place }, settings, json, terminal);
  if (accept === true) return acceptCatalog({ catalog, folder, place }, settings, terminal);
  const orphans = await findTables(folder.lake, await localDisk.list(folder.lake));
  terminal.endWith(1);
  if (json === true) return print(JSON.stringify({ fault, datasets: orphans.tables.map(viewOf) }));
  print(fault);
  showTables(orphans, terminal);
  print(
    'tapedeck repair --rebuild  creates datasets from them; accounts, tokens and usage are not in files',
  );
  print('tapedeck repair --accept   continues with the existing catalog, and sets the files aside');
}

const healFromBackup = (
  from: string,
  json: boolean | undefined,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withAdmin(settings, async (call) => {
    const print = printTo(terminal);
    const result = (await call('POST', '/heal', { from })) as Awaited<ReturnType<typeof healFiles>>;
    if (result.left.length > 0) terminal.endWith(1);
    if (json === true) return print(JSON.stringify(result));
    for (const path of result.healed) print(`${path} is healed`);
    for (const { folder, path, what } of result.left)
      print(`${folder}/${path} ${what}, and the backup has no intact copy`);
    if (result.healed.length + result.left.length === 0) print(ALL_INTACT);
  });

interface FoundView {
  readonly workspace: string;
  readonly dataset: string;
  readonly files: number;
  readonly newest: string;
}

function viewOf({ dataset, files, workspace }: FoundFiles['tables'][number]): FoundView {
  const newest = new Date(files.at(-1)?.stamp.writtenMs ?? 0).toISOString();
  return { workspace, dataset, files: findFilesInForce(files).data.length, newest };
}

function showTables({ strange, tables }: FoundFiles, terminal: Terminal): void {
  const print = printTo(terminal);
  for (const { dataset, files, newest, workspace } of tables.map(viewOf)) {
    print(`  ${workspace}.${dataset}: ${files} files in force, the newest of ${newest}`);
  }
  const others = strange.filter((path) => path.endsWith('.parquet')).length;
  if (others > 0) print(`  ${others} Parquet files name no dataset`);
}

/** Sets unknown files aside, and then opens the existing catalog, or a new one. */
async function setAsideAndOpen(
  { catalog, folder, place }: Lake,
  settings: CommandSettings,
): Promise<{ readonly core: Core; readonly aside: string }> {
  const unlock = lockFolder(folder);
  const aside = await moveUnnamedAside(catalog, place, systemClock()).finally(unlock);
  const core = await openCore({ ...settings, demo: false, logLevel: 'error' }, settings.stocks);
  return { core, aside };
}

const RETENTION_TEXT = `for ${UNCLAIMED_DAYS} days`;

async function acceptCatalog(lake: Lake, settings: Settings, terminal: Terminal): Promise<void> {
  const { aside, core } = await setAsideAndOpen(lake, settings);
  await core.close();
  showFirstTokens(core, terminal);
  printTo(terminal)(`files that the catalog does not know are in ${aside} ${RETENTION_TEXT}`);
}

async function rebuildDatasets(
  lake: Lake,
  settings: Settings,
  json: boolean | undefined,
  terminal: Terminal,
): Promise<void> {
  const print = printTo(terminal);
  const { aside, core } = await setAsideAndOpen(lake, settings);
  try {
    const { accountId, services } = core;
    const tables = await findTables(aside, await localDisk.list(aside));
    const parts = { ingestion: services.ingestion, accountId, root: aside };
    const claimed = await rebuildTables(tables.tables, parts);
    if (json === true) return print(JSON.stringify({ claimed, aside }));
    for (const { dataset, files, note, records, workspace } of claimed) {
      const more = note === '' ? '' : `; ${note}`;
      print(`${workspace}.${dataset}: ${records} records of ${files} files${more}`);
    }
    if (claimed.length === 0) print('no file names its dataset: nothing could be rebuilt');
    print(`the files themselves are in ${aside} ${RETENTION_TEXT}`);
    showFirstTokens(core, terminal);
  } finally {
    await core.close();
  }
}
