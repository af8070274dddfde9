// Serves agents over standard input and output: the tools of `/mcp` for a host that starts programs, through
// requests to a running server.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { type Answered, type Asked, boundedText, pathOf } from '../api/agents/ask.ts';
import { listenThrough } from '../api/agents/listening.ts';
import { makeMcpServer } from '../api/agents/mcpServer.ts';
import type { Asking } from '../api/agents/tool.ts';
import { VERSION } from '../store/base/version.ts';

/** Starts a request to the server, with the agent's token; its caller ends it. */
type Request = (
  method: string,
  path: string,
  answered: (answer: IncomingMessage) => void,
) => ClientRequest;

interface Wires {
  readonly input: Readable;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

/** Serves until the input ends, or `signal` is aborted. */
export async function serveAgentOn(
  { input, output, signal }: Wires,
  request: Request,
): Promise<void> {
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const mcp = await makeMcpServer(createApi(request), VERSION, () => undefined);
  const transport = new StdioServerTransport(input, output as Writable);
  try {
    await mcp.connect(transport);
    await new Promise<void>((resolve) => {
      input.once('end', resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    await mcp.close();
  }
}

const createApi = (request: Request): Asking => ({
  ask: async (call: Asked): Promise<Answered> => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const begun = request(call.method, `/v1${pathOf(call)}`, resolve);
      begun.once('error', reject);
      begun.end(call.body);
    });
    const text = await boundedText(answer);
    return { status: answer.statusCode ?? 0, headers: answer.headers, text };
  },
  listen: (path, enough, timeMs) =>
    listenThrough((answered) => request('GET', `/v1${path}`, answered), enough, timeMs),
});
