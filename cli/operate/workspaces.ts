// `tapedeck workspace`: create and list, also beside a server and through one.
import { text } from 'node:stream/consumers';
import type { Settings } from '../../store/base/settings/settings.ts';
import { type AskData, withFirstAccount } from '../reach/dataApi.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';

interface JsonOption {
  readonly json?: boolean;
}

const never = new AbortController().signal;

const valueOf = async (ask: AskData, path: string): Promise<unknown> =>
  JSON.parse(await text((await ask({ method: 'GET', path })).body));

export const createWorkspace = (
  name: string,
  options: JsonOption,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withFirstAccount(settings, never, async (ask) => {
    const body = JSON.stringify({ name });
    const answer = await ask({ method: 'POST', path: '/workspaces', body });
    const { workspace } = JSON.parse(await text(answer.body)) as { readonly workspace: string };
    sayTo(terminal)(options.json ? JSON.stringify({ workspace }) : workspace);
  });

export const listWorkspaces = (
  options: JsonOption,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withFirstAccount(settings, never, async (ask) => {
    const say = sayTo(terminal);
    const all = (await valueOf(ask, '/workspaces')) as readonly { readonly workspace: string }[];
    for (const { workspace } of all) {
      const place = encodeURIComponent(workspace);
      const found = (await valueOf(ask, `/datasets/${place}?limit=5000`)) as readonly {
        readonly datasetId: string;
      }[];
      const datasets = found.map(({ datasetId }) => datasetId);
      say(
        options.json
          ? JSON.stringify({ workspace, datasets })
          : `${workspace}: ${datasets.join(', ')}`,
      );
    }
  });
