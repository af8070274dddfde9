// HTTP requests on a user's word: sources that are read, webhooks that are called. Every hop goes
// to an address that was judged, ends within a time, and brings no more than it may.
import { setImmediate as turn } from 'node:timers/promises';
import type { Client, Dispatcher } from 'undici';
import { VERSION } from '../../../store/base/version.ts';
import { type Deadline, withDeadline } from '../base/deadline.ts';
import { ACCEPTED_ENCODINGS, decoded } from './encodings.ts';
import { addressesOf, checkUrl, type Guard, pinnedLookup } from '../base/guard.ts';
import { checkHeaders } from './headers.ts';
import { failureOf } from '../base/outgoingFailure.ts';
import { SourceFailure } from '../base/source.ts';

export interface OutgoingRules extends Guard {
  /** Of one request, from its name's resolution to the end of its body. */
  readonly deadlineMs: number;
  /** Without a byte; `IDLE_MS` when undefined. */
  readonly idleMs?: number;
  /** PEM of certificate authorities instead of those that come with the runtime. */
  readonly ca?: string;
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** A user's (`checkHeaders`); all but `OPEN_HEADERS` stay with the origin of `url`. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the caller itself adds; names in lower case. */
  readonly ownHeaders?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Bytes of the answer, as it comes and as it is once decoded. */
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

export interface OutgoingAnswer {
  readonly status: number;
  /** Names in lower case; of a repeated one, all values after commas. */
  readonly headers: ReadonlyMap<string, string>;
  /** Bytes of the body, when that is known before. */
  readonly bytes: number | undefined;
  /**
   * Decoded; read it once, to its end or not at all.
   * @throws SourceFailure when it is cut short, too long, too slow, or not what it says it is.
   */
  readonly body: AsyncIterable<Buffer>;
}

/** Connections of one pull or one delivery: a name is resolved once as long as it lives. */
export interface Outgoing extends AsyncDisposable {
  /**
   * Follows redirects: of a POST only those that keep it one; the others are the answer.
   * @throws SourceFailure saying whether it is worth another try; the signal's reason.
   */
  send(request: OutgoingRequest): Promise<OutgoingAnswer>;
}

const REDIRECTS_MAX = 5;
const CONNECT_MS = 10_000;
/** A report that a server computes before its first byte takes up to a minute. */
const IDLE_MS = 60_000;
/** Origins with an open connection; a list whose pages move about closes the oldest. */
const ORIGINS_MAX = 8;
/** Read of the body of a redirect, so that its connection can be used again. */
const REDIRECT_BODY_BYTES = 16_384;

/** Sent to other origins too: they say what is wanted, not by whom. */
const OPEN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'user-agent',
]);

/** What undici says of bytes behind the end of an answer; only this event tells. */
const OVERRUN = 'bad response';
/** Turns of the event loop until undici has looked at what came together with that end. */
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

/** To one origin. */
interface Connection {
  readonly client: Client;
  /** Bytes came behind the end of an answer. */
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
      const next = linkOf(response, request, url, rules);
      if (next === undefined)
        return answerOf(response, request.bytesMax, { connection, url, deadline });
      if (hop === REDIRECTS_MAX) refuse(`more than ${REDIRECTS_MAX} redirects`);
      await response.body.dump({ limit: REDIRECT_BODY_BYTES, signal });
      url = next;
    }
  } catch (error) {
    deadline[Symbol.dispose]();
    throw failureOf(error, url.host, signal);
  }
}

async function connectionTo(
  url: URL,
  rules: OutgoingRules,
  connections: Connections,
  signal: AbortSignal,
): Promise<Connection> {
  const known = connections.get(url.origin);
  if (known !== undefined) return known;
  const addresses = await addressesOf(url.hostname, rules, signal);
  const idleMs = rules.idleMs ?? IDLE_MS;
  // With the first request: it takes each start 70 ms to load.
  const { Client } = await import('undici');
  const client = new Client(url.origin, {
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
    connect: {
      timeout: Math.min(CONNECT_MS, idleMs),
      lookup: pinnedLookup(addresses),
      // Said, so that no variable of the environment says otherwise.
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

/** Where a redirect leads; undefined when the response is the answer. */
function linkOf(
  response: Dispatcher.ResponseData,
  request: OutgoingRequest,
  from: URL,
  rules: OutgoingRules,
): URL | undefined {
  const { statusCode, headers } = response;
  // Turned into a GET, a POST would lose its body and still look delivered.
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

interface Way {
  readonly connection: Connection;
  readonly url: URL;
  readonly deadline: Deadline;
}

function answerOf(
  response: Dispatcher.ResponseData,
  bytesMax: number,
  { connection, url, deadline }: Way,
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
      yield* encoding === undefined ? raw : limited(decoded(raw, encoding), bytesMax);
      if (length !== undefined) await refuseOverrun(connection);
    } catch (error) {
      throw failureOf(error, url.host, deadline.signal);
    } finally {
      deadline[Symbol.dispose]();
    }
  };
  return { status: response.statusCode, headers, bytes, body: body() };
}

/** A length that is too small would cut records off in silence. */
async function refuseOverrun(connection: Connection): Promise<void> {
  for (let turns = 0; turns < OVERRUN_TURNS; turns += 1) await turn();
  if (connection.overran) refuse('the answer is longer than its content-length');
}

/** A few bytes may be gigabytes once they are decoded, so that both are counted. */
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
