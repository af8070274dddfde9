// `tapedeck dataset`: lists, describes, renames, deletes and purges datasets, and declares their index.
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { tableAnswer } from '../print/answerLists.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';
import { type PropertyType, describeProperty } from '../../store/lake/versions/columns.ts';
import { requireFolder } from '../connect/folderAccess.ts';
import { type CallJson, withWorkspace } from '../connect/workspaceApi.ts';

export interface DatasetOptions {
  readonly workspace?: string;
  readonly json?: boolean;
}

export interface DeleteOptions extends DatasetOptions {
  readonly purge?: boolean;
  readonly yes?: boolean;
}

export interface PurgeOptions extends DatasetOptions {
  readonly from?: string;
  readonly to?: string;
  readonly yes?: boolean;
}

export interface IndexOptions extends DatasetOptions {
  readonly key?: string;
  readonly subkey?: string;
  readonly date?: string;
  /** False: no unique index. */
  readonly index?: boolean;
  /** Which record of a repeated index value stays. */
  readonly duplicates?: 'keep-first' | 'replace';
}

interface Dataset {
  readonly datasetId: string;
  readonly records: number;
  readonly uniqueIndex?: boolean;
  readonly inferredIndex?: boolean;
  readonly columnMapping: Readonly<Record<string, string>>;
  readonly schema: {
    readonly properties: Readonly<Record<string, PropertyType>>;
  };
}

/** Runs `work` for a workspace; never creates a data folder. */
async function inWorkspace(
  { workspace }: DatasetOptions,
  settings: Settings,
  terminal: Terminal,
  work: (call: CallJson, workspace: string) => Promise<void>,
): Promise<void> {
  requireFolder(settings);
  await withWorkspace(settings, workspace, terminal, work);
}

export const listDatasets = (
  options: DatasetOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  inWorkspace(options, settings, terminal, async (call) => {
    const datasets = (await call('GET', '/datasets?limit=5000')) as readonly Dataset[];
    const rows = datasets.map((dataset) => ({ ...dataset, index: describeIndex(dataset) }));
    const members = ['datasetId', 'records', 'index', 'title', 'source'];
    tableAnswer(options.json === true ? datasets : rows, members, options, terminal);
  });

const indexOf = ({ columnMapping: { date, key, subkey } }: Dataset): string =>
  [key, subkey, date].filter((name) => name !== undefined).join(', ');

/** Describes an index. An inferred index orders records; a unique inferred one is of an earlier version. */
function describeIndex(dataset: Dataset): string {
  const named = indexOf(dataset);
  const isUnique = dataset.uniqueIndex !== false && named !== '';
  if (dataset.inferredIndex !== true) return isUnique ? `${named} (unique)` : named;
  return isUnique ? `${named} (unique, inferred: declare it)` : `${named} (inferred)`;
}

export const describeDataset = (
  name: string,
  options: DatasetOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  inWorkspace(options, settings, terminal, async (call) => {
    const dataset = (await call('GET', `/datasets/${encodeURIComponent(name)}`)) as Dataset;
    if (options.json === true) return printTo(terminal)(JSON.stringify(dataset));
    const rows = Object.entries(dataset.schema.properties).map(([property, type]) => ({
      property,
      type: describeProperty(type),
      index: Object.entries(dataset.columnMapping).find(([, one]) => one === property)?.[0] ?? '',
    }));
    tableAnswer(rows, ['property', 'type', 'index'], options, terminal);
    printTo(terminal)(`${dataset.records} records`);
  });

export const renameDataset = (
  name: string,
  newName: string,
  options: DatasetOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  inWorkspace(options, settings, terminal, async (call, workspace) => {
    await call('PUT', `/datasets/${encodeURIComponent(name)}/${encodeURIComponent(newName)}`);
    printTo(terminal)(`${workspace}.${newName}`);
  });

export async function deleteDataset(
  name: string,
  options: DeleteOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  if (options.yes !== true) {
    const rule =
      options.purge === true
        ? 'it is removed from every version, for good'
        : 'older versions keep it as long as they are kept';
    throw new Failure('InvalidParameter', `pass --yes to delete ${name} with its records: ${rule}`);
  }
  await inWorkspace(options, settings, terminal, async (call, workspace) => {
    const query = options.purge === true ? '?purge=true' : '';
    await call('DELETE', `/datasets/${encodeURIComponent(name)}${query}`);
    printTo(terminal)(`${workspace}.${name} is deleted`);
  });
}

/** Purges records of a key, a subkey, a date, or a range of dates. */
export async function purgeRecords(
  name: string,
  place: readonly string[],
  options: PurgeOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const { from, to } = options;
  const path = [name, ...place].map((part) => `/${encodeURIComponent(part)}`).join('');
  if (options.yes !== true) {
    const rule = 'they are removed from every version, and its earlier history ends';
    throw new Failure('InvalidParameter', `pass --yes to purge records of ${name}: ${rule}`);
  }
  await inWorkspace(options, settings, terminal, async (call, workspace) => {
    const query = new URLSearchParams({
      purge: 'true',
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    });
    await call('DELETE', `/data${path}?${query}`);
    printTo(terminal)(`records of ${workspace}.${name} are purged`);
  });
}

/** Declares or removes the unique index; refused unless all stored records fit. */
export const changeIndex = (
  name: string,
  options: IndexOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  inWorkspace(options, settings, terminal, async (call) => {
    const { date, duplicates, index, key, subkey } = options;
    const isNamed = [key, subkey, date].some((one) => one !== undefined);
    if (isNamed === (index === false)) {
      const rule = 'pass its parts with --key, --subkey and --date, or pass --no-index';
      throw new Failure('InvalidParameter', rule);
    }
    const path = `/datasets/${encodeURIComponent(name)}`;
    const stays = duplicates === 'replace' ? 'replace' : 'ignore';
    await call('PATCH', path, {
      ...(isNamed ? { columnMapping: { key, subkey, date } } : {}),
      uniqueIndex: isNamed,
      ...(duplicates === undefined ? {} : { duplicateKeyHandling: stays }),
    });
    const changed = (await call('GET', path)) as Dataset;
    const what = isNamed ? `unique index ${indexOf(changed)}` : 'no unique index';
    printTo(terminal)(
      options.json === true ? JSON.stringify(changed) : `${what}, ${changed.records} records`,
    );
  });
