// Serves the Model Context Protocol over HTTP at `/mcp`. Each POST is independent and there are no sessions,
// so an agent's host may reconnect at any time. Calls are forwarded to this server's API as the agent's own.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { request as requestHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { http } from '../../store/base/http.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Accounts } from '../../store/accounts/accounts.ts';
import { MCP_BYTES_MAX, MCP_MESSAGES_MAX, MCP_VALUES_MAX } from '../../reads/request/bodyLimits.ts';
import {
  contentLengthOf,
  notJsonFailure,
  readJson,
  refuseShape,
} from '../request/body/jsonBody.ts';
import { readToken } from '../http/token.ts';
import {
  type ApiResponse,
  type ApiRequest,
  readBoundedText,
  buildRequestPath,
} from './apiRequests.ts';
import { readStreamUntil } from './streamReader.ts';
import { makeMcpServer } from './mcpServer.ts';
import { isAllowed, ORIGIN_DENIED, type OriginSettings } from './origins.ts';
import type { ApiClient } from './tool.ts';

/** Timeout of one API answer. */
const ANSWER_MS_MAX = 330_000;

interface McpParts {
  readonly accounts: Accounts;
  readonly settings: OriginSettings;
  readonly version: string;
  readonly log: Logger;
  /** The caller's address, as reported by trusted proxies. */
  readonly clientAddress: (request: FastifyRequest) => string;
}

/** Adds the route to a server that does not listen yet. */
export function addMcpEndpoint(server: FastifyInstance, parts: McpParts): void {
  const { accounts, log, version } = parts;
  const preHandler = ({ headers }: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (isAllowed(headers, parts.settings)) done();
    else void reply.code(403).type('text/plain').send(ORIGIN_DENIED);
  };
  server.post('/mcp', { preHandler }, async (request, reply) => {
    const { headers, query } = request;
    const token = readToken(query as Record<string, unknown>, headers, undefined);
    if (token === undefined) {
      reply.header('www-authenticate', 'Bearer');
      throw new Failure('NoKey');
    }
    const { tokenId } = accounts.identify(token);
    const message = await readMessage(request);
    const abortController = new AbortController();
    reply.raw.once('close', () => abortController.abort());
    const apiClient = makeApiClient(server, {
      request,
      token,
      signal: abortController.signal,
      address: parts.clientAddress(request),
    });
    const mcp = await makeMcpServer(apiClient, version, (call) =>
      log.info({ requestId: request.id, tokenId, ...call }, 'agent call'),
    );
    const { WebStandardStreamableHTTPServerTransport: Transport } =
      await import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js');
    const transport = new Transport({ enableJsonResponse: true });
    await mcp.connect(transport);
    try {
      const answer = await transport.handleRequest(webRequest(request), { parsedBody: message });
      reply.code(answer.status);
      answer.headers.forEach((text, name) => reply.header(name, text));
      return await reply.send(await answer.text());
    } finally {
      await mcp.close();
    }
  });
  // The server sends nothing unsolicited, and there is no session to end.
  for (const method of ['GET', 'DELETE'] as const) {
    server.route({
      method,
      url: '/mcp',
      preHandler,
      handler: (_request, reply) =>
        reply
          .code(405)
          .header('allow', 'POST')
          .type('text/plain')
          .send('POST alone is answered here\n'),
    });
  }
}

/** Reads a message of the protocol, or a batch of them. @throws Failure TooLarge, InvalidBody. */
async function readMessage({ body, raw }: FastifyRequest): Promise<unknown> {
  const read = await readJson(body as Readable, {
    bytesMax: MCP_BYTES_MAX,
    valuesMax: MCP_VALUES_MAX,
    contentLength: contentLengthOf(raw),
  });
  refuseShape(read);
  const { value } = read;
  if (value === undefined) throw notJsonFailure();
  if (Array.isArray(value) && value.length > MCP_MESSAGES_MAX)
    throw new Failure('InvalidBody', `a batch has at most ${MCP_MESSAGES_MAX} messages`);
  return value;
}

/** Sets the content type that the protocol's SDK requires; the API accepts any, as everywhere. */
function webRequest({ headers }: FastifyRequest): Request {
  const version = headers['mcp-protocol-version'];
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(typeof version === 'string' ? { 'mcp-protocol-version': version } : {}),
    },
    body: '{}',
  });
}

interface Agent {
  readonly request: FastifyRequest;
  readonly token: string;
  readonly address: string;
  /** Aborted when the agent disconnects. */
  readonly signal: AbortSignal;
}

function makeApiClient(
  server: FastifyInstance,
  { address, request: agentRequest, signal, token }: Agent,
): ApiClient {
  const { referer } = agentRequest.headers;
  const headers = {
    authorization: `Bearer ${token}`,
    ...(referer === undefined ? {} : { referer }),
  };
  const ask = async (apiRequest: ApiRequest): Promise<ApiResponse> => {
    const answer = await server.inject({
      method: apiRequest.method,
      url: `/v1${buildRequestPath(apiRequest)}`,
      headers,
      remoteAddress: address,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
      payloadAsStream: true,
      ...(apiRequest.body === undefined ? {} : { payload: apiRequest.body }),
    });
    const text = await readBoundedText(answer.stream());
    return { status: answer.statusCode, headers: answer.headers, text };
  };
  return {
    send: ask,
    readStream: async (path, enough, timeMs) => {
      // A stream needs a socket of its own, which originates from this machine. This request checks the
      // token's address rules for the agent's address first.
      const allowed = await ask({ method: 'GET', path: '/account/allowance' });
      if (allowed.status >= 400) return allowed;
      const url = `${ownAddress(server)}/v1${path}`;
      // The request goes to this machine itself, whose certificate has another name.
      const accept = 'text/event-stream';
      const options = { headers: { ...headers, accept }, signal, rejectUnauthorized: false };
      const request = url.startsWith('https:') ? requestHttps : http.request;
      return readStreamUntil((onResponse) => request(url, options, onResponse), enough, timeMs);
    },
  };
}

const ownAddress = (server: FastifyInstance): string => {
  const address = server.server.address() as AddressInfo | null;
  if (address === null) throw new Failure('Busy', 'the server does not listen: there is no stream');
  const host = address.address === '::1' || address.address === '::' ? '[::1]' : '127.0.0.1';
  const scheme = 'getTicketKeys' in server.server ? 'https' : 'http';
  return `${scheme}://${host}:${address.port}`;
};
