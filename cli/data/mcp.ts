// `tapedeck mcp`: the tools of agents over standard input and output, for a host that starts programs.
// Everything is asked with the token that is given: its budget is the agent's.
import type { IncomingMessage } from 'node:http';
import { type Answered, type Asked, boundedText, pathOf } from '../../api/agents/ask.ts';
import { listenThrough } from '../../api/agents/listening.ts';
import { makeMcpServer } from '../../api/agents/mcpServer.ts';
import type { Asking } from '../../api/agents/tool.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings.ts';
import { VERSION } from '../../store/base/version.ts';
import { reachFolder } from '../reach/folderAccess.ts';
import { requestTo, type ServerDoor, unreached } from '../reach/serverDoor.ts';
import { onEnough, type Terminal } from '../reach/terminal.ts';

/** Until its host closes the input, or it is interrupted. */
export async function serveAgent(settings: Settings, terminal: Terminal): Promise<void> {
  const { token } = settings;
  if (token === '') {
    const how = 'make one: tapedeck tokens create --kind publishable --limit 10000';
    throw new Failure(
      'NoKey',
      `an agent needs a token of its own, --token or TAPEDECK_TOKEN: ${how}`,
    );
  }
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const reached = await reachFolder(settings);
  if (reached.kind === 'core') {
    await reached.core.close();
    throw new Failure('NotFound', 'no server runs on this data folder: tapedeck serve starts one');
  }
  const abort = new AbortController();
  const restore = onEnough(terminal, () => abort.abort());
  const asking = askingServer(reached.server, token, abort.signal);
  const mcp = await makeMcpServer(asking, VERSION, () => undefined);
  // Of a process these are what the SDK takes; `terminal` has them too.
  const transport = new StdioServerTransport(terminal.stdin, terminal.stdout as NodeJS.WriteStream);
  try {
    await mcp.connect(transport);
    await new Promise<void>((resolve) => {
      terminal.stdin.once('end', resolve);
      abort.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    restore();
    await mcp.close();
  }
}

function askingServer(door: ServerDoor, token: string, signal: AbortSignal): Asking {
  const headers = { authorization: `Bearer ${token}` };
  const ask = async (asked: Asked): Promise<Answered> => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method: asked.method, headers, signal };
      const request = requestTo(door, `/v1${pathOf(asked)}`, options, resolve);
      request.once('error', (error) => reject(unreached(error, door)));
      request.end(asked.body);
    });
    return {
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      text: await boundedText(answer),
    };
  };
  return {
    ask,
    listen: (path, enough, timeMs) =>
      listenThrough(
        (answered) => requestTo(door, `/v1${path}`, { method: 'GET', headers, signal }, answered),
        enough,
        timeMs,
      ),
  };
}
