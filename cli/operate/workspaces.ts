// `tapedeck workspace`: creates and lists workspaces, also while a server runs and through one.
import { text } from 'node:stream/consumers';
import type { Settings } from '../../store/base/settings/settings.ts';
import { type CallData, withFirstAccount } from '../connect/dataApi.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';

interface JsonOption {
  readonly json?: boolean;
}

const never = new AbortController().signal;

const getJson = async (call: CallData, path: string): Promise<unknown> =>
  JSON.parse(await text((await call({ method: 'GET', path })).body));

export const createWorkspace = (
  name: string,
  options: JsonOption,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withFirstAccount(settings, never, async (call) => {
    const body = JSON.stringify({ name });
    const answer = await call({ method: 'POST', path: '/workspaces', body });
    const { workspace } = JSON.parse(await text(answer.body)) as { readonly workspace: string };
    printTo(terminal)(options.json ? JSON.stringify({ workspace }) : workspace);
  });

export const listWorkspaces = (
  options: JsonOption,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withFirstAccount(settings, never, async (call) => {
    const print = printTo(terminal);
    const all = (await getJson(call, '/workspaces')) as readonly { readonly workspace: string }[];
    for (const { workspace } of all) {
      const place = encodeURIComponent(workspace);
      const listed = (await getJson(call, `/datasets/${place}?limit=5000`)) as readonly {
        readonly datasetId: string;
      }[];
      const datasets = listed.map(({ datasetId }) => datasetId);
      print(
        options.json
          ? JSON.stringify({ workspace, datasets })
          : `${workspace}: ${datasets.join(', ')}`,
      );
    }
  });
