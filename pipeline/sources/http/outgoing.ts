// Sends HTTP requests at a user's request: pulls of sources, calls of webhooks. Every hop connects to a
// checked address, has a deadline, and a size limit.
import { setImmediate as turn } from 'node:timers/promises';
import type { Client, Dispatcher } from 'undici';
import { VERSION } from '../../../store/base/version.ts';
import { type Deadline, withDeadline } from '../base/deadline.ts';
import { ACCEPTED_ENCODINGS, decodeBody } from './encodings.ts';
import { resolveAddresses, checkUrl, type Guard, pinnedLookup } from '../base/guard.ts';
import { checkHeaders } from './headers.ts';
import { toSourceFailure } from '../base/outgoingFailure.ts';
import { SourceFailure } from '../base/source.ts';

export interface OutgoingRules extends Guard {
  /** Deadline of one request, from the resolution of its name to the end of its body. */
  readonly deadlineMs: number;
  /** Maximum time without a byte; `IDLE_MS` when undefined. */
  readonly idleMs?: number;
  /** PEM of certificate authorities instead of those that come with the runtime. */
  readonly ca?: string;
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Headers of a user (`checkHeaders`); all but `OPEN_HEADERS` are sent only to the origin of `url`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that the caller itself adds; names in lower case. */
  readonly ownHeaders?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Maximum bytes of the response, both as received and decoded. */
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

export interface OutgoingAnswer {
  readonly status: number;
  /** Names in lower case; values of a repeated one are joined by commas. */
  readonly headers: ReadonlyMap<string, string>;
  /** Bytes of the body, if known before. */
  readonly bytes: number | undefined;
  /**
   * The decoded body; read it once, to its end or not at all.
   * @throws SourceFailure if it is truncated, too long, too slow, or not in its declared encoding.
   */
  readonly body: AsyncIterable<Buffer>;
}

/** Connections of one pull or one delivery: each name is resolved once during its life. */
export interface Outgoing extends AsyncDisposable {
  /**
   * Follows redirects: for a POST only those that keep the method; others are returned as the response.
   * @throws SourceFailure, transient if a retry may succeed; the signal's reason.
   */
  send(request: OutgoingRequest): Promise<OutgoingAnswer>;
}

const REDIRECTS_MAX = 5;
const CONNECT_MS = 10_000;
/** A server that computes a report sends its first byte after up to a minute. */
const IDLE_MS = 60_000;
/** Maximum origins with an open connection; above it, the oldest is closed. */
const ORIGINS_MAX = 8;
/** Bytes of a redirect's body that are read, so that its connection can be reused. */
const REDIRECT_BODY_BYTES = 16_384;

/** Headers that are sent to other origins too: they describe the request, not the user. */
const OPEN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'user-agent',
]);

/** undici's error for bytes after the end of a response; only this event reports it. */
const OVERRUN = 'bad response';
/** Turns of the event loop until undici has parsed the bytes that arrived with that end. */
const OVERRUN_TURNS = 3;

export function openOutgoing(rules: OutgoingRules): Outgoing {
  const connections: Connections = new Map();
  return {
    send: (request) => send(rules, connections, request),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...connections.values()].map(({ client }) => client.destroy()));
    },
  };
}

/** A connection to one origin. */
interface Connection {
  readonly client: Client;
  /** Bytes arrived after the end of a response. */
  overran: boolean;
}

type Connections = Map<string, Connection>;

async function send(
  rules: OutgoingRules,
  connections: Connections,
  request: OutgoingRequest,
): Promise<OutgoingAnswer> {
  checkHeaders(request.headers);
  let url = checkUrl(request.url, rules.allowPrivateAddresses);
  const { origin } = url;
  const deadline = withDeadline(request.signal, rules.deadlineMs, url.host);
  const { signal } = deadline;
  try {
    for (let hop = 0; ; hop += 1) {
      const connection = await connectionTo(url, rules, connections, signal);
      const response = await connection.client.request({
        method: request.method,
        path: `${url.pathname}${url.search}`,
        headers: headersOf(request, url.origin === origin),
        body: request.body ?? null,
        signal,
      });
      const next = redirectTarget(response, request, url, rules);
      if (next === undefined)
        return toAnswer(response, request.bytesMax, { connection, url, deadline });
      if (hop === REDIRECTS_MAX) refuse(`more than ${REDIRECTS_MAX} redirects`);
      await response.body.dump({ limit: REDIRECT_BODY_BYTES, signal });
      url = next;
    }
  } catch (error) {
    deadline[Symbol.dispose]();
    throw toSourceFailure(error, url.host, signal);
  }
}

async function connectionTo(
  url: URL,
  rules: OutgoingRules,
  connections: Connections,
  signal: AbortSignal,
): Promise<Connection> {
  const existing = connections.get(url.origin);
  if (existing !== undefined) return existing;
  const addresses = await resolveAddresses(url.hostname, rules, signal);
  const idleMs = rules.idleMs ?? IDLE_MS;
  // Imported with the first request: it would add 70 ms to each start.
  const { Client } = await import('undici');
  const client = new Client(url.origin, {
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
    connect: {
      timeout: Math.min(CONNECT_MS, idleMs),
      lookup: pinnedLookup(addresses),
      // Explicit, so that no environment variable overrides it.
      rejectUnauthorized: true,
      ...(rules.ca === undefined ? {} : { ca: rules.ca }),
    },
  });
  const connection: Connection = { client, overran: false };
  client.on('disconnect', (_origin, _targets, error) => {
    connection.overran ||= error.message === OVERRUN;
  });
  const [oldest] = connections;
  if (connections.size >= ORIGINS_MAX && oldest !== undefined) {
    connections.delete(oldest[0]);
    await oldest[1].client.destroy();
  }
  connections.set(url.origin, connection);
  return connection;
}

function headersOf(request: OutgoingRequest, sameOrigin: boolean): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': `Tapedeck/${VERSION}`, accept: '*/*' };
  for (const [name, value] of Object.entries(request.headers)) {
    const lower = name.toLowerCase();
    if (sameOrigin || OPEN_HEADERS.has(lower)) headers[lower] = value;
  }
  return { ...headers, ...request.ownHeaders, 'accept-encoding': ACCEPTED_ENCODINGS };
}

/** The target of a redirect; undefined if the response is final. */
function redirectTarget(
  response: Dispatcher.ResponseData,
  request: OutgoingRequest,
  from: URL,
  rules: OutgoingRules,
): URL | undefined {
  const { statusCode, headers } = response;
  // Converted to a GET, a POST would lose its body and still appear delivered.
  const followed = request.method === 'GET' ? [301, 302, 303, 307, 308] : [307, 308];
  if (!followed.includes(statusCode)) return undefined;
  const { location } = headers;
  if (typeof location !== 'string') return refuse('a redirect without a place to go to');
  const url = checkUrl(location, rules.allowPrivateAddresses, from);
  if (from.protocol === 'https:' && url.protocol === 'http:') {
    refuse('a redirect from https to http');
  }
  return url;
}

interface Exchange {
  readonly connection: Connection;
  readonly url: URL;
  readonly deadline: Deadline;
}

function toAnswer(
  response: Dispatcher.ResponseData,
  bytesMax: number,
  { connection, url, deadline }: Exchange,
): OutgoingAnswer {
  const headers = new Map(
    Object.entries(response.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
  const encoding = headers.get('content-encoding');
  const length = headers.get('content-length');
  if (Number(length ?? 0) > bytesMax) {
    response.body.on('error', () => undefined).destroy();
    throw tooLong(bytesMax);
  }
  const bytes = encoding === undefined && length !== undefined ? Number(length) : undefined;
  const body = async function* (): AsyncGenerator<Buffer, void> {
    try {
      const raw = limited(response.body, bytesMax);
      yield* encoding === undefined ? raw : limited(decodeBody(raw, encoding), bytesMax);
      if (length !== undefined) await refuseOverrun(connection);
    } catch (error) {
      throw toSourceFailure(error, url.host, deadline.signal);
    } finally {
      deadline[Symbol.dispose]();
    }
  };
  return { status: response.statusCode, headers, bytes, body: body() };
}

/** Refuses a content-length that is too small: records would be cut off silently. */
async function refuseOverrun(connection: Connection): Promise<void> {
  for (let turns = 0; turns < OVERRUN_TURNS; turns += 1) await turn();
  if (connection.overran) refuse('the answer is longer than its content-length');
}

/** Limits bytes. A few bytes may decode to gigabytes, so that both are counted. */
async function* limited(
  chunks: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<Buffer, void> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLong(bytesMax);
    yield chunk;
  }
}

const tooLong = (bytesMax: number): SourceFailure =>
  new SourceFailure(`the answer has more than ${bytesMax} bytes`, false);

function refuse(reason: string): never {
  throw new SourceFailure(reason, false);
}
