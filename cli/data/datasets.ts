// `tapedeck dataset`: what is there, and what becomes of it.
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings.ts';
import { tableAnswer } from '../print/answerLists.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';
import { refuseNoFolder } from '../reach/folderAccess.ts';
import { type AskValue, withWorkspace } from '../reach/workspaceApi.ts';

export interface DatasetOptions {
  readonly workspace?: string;
  readonly json?: boolean;
}

export interface DeleteOptions extends DatasetOptions {
  readonly purge?: boolean;
  readonly yes?: boolean;
}

interface Dataset {
  readonly datasetId: string;
  readonly records: number;
  readonly columnMapping: Readonly<Record<string, string>>;
  readonly schema: {
    readonly properties: Readonly<
      Record<string, { readonly type: string; readonly format?: string }>
    >;
  };
}

/** What is asked of a folder that is not there makes none. */
async function inWorkspace(
  { workspace }: DatasetOptions,
  settings: Settings,
  terminal: Terminal,
  work: (ask: AskValue, workspace: string) => Promise<void>,
): Promise<void> {
  refuseNoFolder(settings);
  await withWorkspace(settings, workspace, terminal, work);
}

export const listDatasets = (
  options: DatasetOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  inWorkspace(options, settings, terminal, async (ask) => {
    const datasets = (await ask('GET', '/datasets?limit=5000')) as readonly Dataset[];
    const rows = datasets.map((dataset) => ({ ...dataset, index: indexOf(dataset) }));
    const members = ['datasetId', 'records', 'index', 'title', 'source'];
    tableAnswer(options.json === true ? datasets : rows, members, options, terminal);
  });

const indexOf = ({ columnMapping: { date, key, subkey } }: Dataset): string =>
  [key, subkey, date].filter((name) => name !== undefined).join(', ');

export const describeDataset = (
  name: string,
  options: DatasetOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  inWorkspace(options, settings, terminal, async (ask) => {
    const dataset = (await ask('GET', `/datasets/${encodeURIComponent(name)}`)) as Dataset;
    if (options.json === true) return sayTo(terminal)(JSON.stringify(dataset));
    const rows = Object.entries(dataset.schema.properties).map(([property, { format, type }]) => ({
      ...{ property, type: format ?? type },
      index: Object.entries(dataset.columnMapping).find(([, one]) => one === property)?.[0] ?? '',
    }));
    tableAnswer(rows, ['property', 'type', 'index'], options, terminal);
    sayTo(terminal)(`${dataset.records} records`);
  });

export const renameDataset = (
  name: string,
  newName: string,
  options: DatasetOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  inWorkspace(options, settings, terminal, async (ask, workspace) => {
    await ask('PUT', `/datasets/${encodeURIComponent(name)}/${encodeURIComponent(newName)}`);
    sayTo(terminal)(`${workspace}.${newName}`);
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
    throw new Failure('InvalidParameter', `say --yes to delete ${name} with its records: ${rule}`);
  }
  await inWorkspace(options, settings, terminal, async (ask, workspace) => {
    const query = options.purge === true ? '?purge=true' : '';
    await ask('DELETE', `/datasets/${encodeURIComponent(name)}${query}`);
    sayTo(terminal)(`${workspace}.${name} is deleted`);
  });
}
