// `tapedeck workspace`: create and list.
import { createWorkspace as makeWorkspace } from '../../store/lake/datasetEdits.ts';
import type { Settings } from '../../store/base/settings.ts';
import { needCore } from '../reach/folderAccess.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';

interface JsonOption {
  readonly json?: boolean;
}

export async function createWorkspace(
  name: string,
  options: JsonOption,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const core = await needCore(settings);
  try {
    const { lake, clock } = core.services;
    const { workspace } = await makeWorkspace(lake, name, core.accountId, clock());
    sayTo(terminal)(options.json ? JSON.stringify({ workspace }) : workspace);
  } finally {
    await core.close();
  }
}

export async function listWorkspaces(
  options: JsonOption,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const say = sayTo(terminal);
  const core = await needCore(settings);
  const { directory } = core.services.lake;
  for (const { workspace } of directory.workspaces(core.accountId)) {
    const datasets = directory.datasets(workspace).map(({ dataset }) => dataset);
    say(
      options.json
        ? JSON.stringify({ workspace, datasets })
        : `${workspace}: ${datasets.join(', ')}`,
    );
  }
  await core.close();
}
