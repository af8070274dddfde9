// Serves agents over standard input and output: the tools of `/mcp` for a host that starts programs, through
// requests to a running server.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import {
  type ApiResponse,
  type ApiRequest,
  readBoundedText,
  buildRequestPath,
} from '../api/agents/apiRequests.ts';
import { readStreamUntil } from '../api/agents/streamReader.ts';
import { makeMcpServer } from '../api/agents/mcpServer.ts';
import type { ApiClient } from '../api/agents/tool.ts';
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

const createApi = (request: Request): ApiClient => ({
  send: async (call: ApiRequest): Promise<ApiResponse> => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const begun = request(call.method, `/v1${buildRequestPath(call)}`, resolve);
      begun.once('error', reject);
      begun.end(call.body);
    });
    const text = await readBoundedText(answer);
    return { status: answer.statusCode ?? 0, headers: answer.headers, text };
  },
  readStream: (path, enough, timeMs) =>
    readStreamUntil((answered) => request('GET', `/v1${path}`, answered), enough, timeMs),
});
