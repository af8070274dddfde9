// `tapedeck mcp`: serves the tools of agents over standard input and output, for a host that starts programs.
// Every request uses the passed token: its budget is the agent's.
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { noServerFailure, reachFolder } from '../connect/folderAccess.ts';
import { openRequest } from '../connect/serverEndpoint.ts';
import { onInterruptOrClose, type Terminal } from '../connect/terminal.ts';

/** Serves until the host closes the input, or it is interrupted. */
export async function serveAgent(settings: Settings, terminal: Terminal): Promise<void> {
  const { token } = settings;
  if (token === '') {
    const how = 'create one: tapedeck tokens create --kind publishable --limit 10000';
    const rule = `an agent needs a token of its own, --token or TAPEDECK_TOKEN: ${how}`;
    throw new Failure('NoKey', rule);
  }
  const reached = await reachFolder(settings);
  if (reached.kind === 'core') {
    await reached.core.close();
    throw noServerFailure();
  }
  const { serveAgentOn } = await import('../../app/agents.ts');
  const { server } = reached;
  const abort = new AbortController();
  const { signal } = abort;
  const restore = onInterruptOrClose(terminal, () => abort.abort());
  const headers = { authorization: `Bearer ${token}` };
  const wires = { input: terminal.stdin, output: terminal.stdout, signal };
  try {
    await serveAgentOn(wires, (method, path, answered) =>
      openRequest(server, path, { method, headers, signal }, answered),
    );
  } finally {
    restore();
  }
}
