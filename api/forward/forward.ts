// Forwards requests of a node that does not serve to the serving node. Without one, as after a shutdown,
// they wait. A request that may have been executed is never resent.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import { PROXY_HEADER } from '../auth/proxyIdentity.ts';
import { renderFailure } from '../../reads/request/failures.ts';
import { drainBody, hasBody, isBodyComplete } from './drainBody.ts';
import { proxyRequest, type BufferedBody, type Target } from './proxyRequest.ts';

/** The serving node. */
export interface Targets {
  /** Undefined: no node serves at the moment. */
  current(): Target | undefined;
  /** Resolves when another node serves, or at the timeout. */
  waitForChange(withinMs: number): Promise<void>;
}

/** The outcome of a forwarded request. */
export type ForwardOutcome = 'answered' | 'refused' | 'unknown';

export interface ForwarderOptions {
  readonly targets: Targets;
  /** Signs the header with the client's address for a target. */
  readonly signHeader: (target: Target, incoming: IncomingMessage) => string;
  /** How long a request waits for a serving node. */
  readonly waitMs: number;
  readonly recordOutcome: (outcome: ForwardOutcome) => void;
}

/** Requests that wait for a node; more are refused immediately. */
const WAITING_MAX = 2_000;
/** A body up to this size is buffered until the answer, so that it can be resent to the next node. */
const BUFFER_BYTES_MAX = 64 * 1024;
/** A slower body is streamed: the serving node limits how slow a sender may be. */
const BUFFER_TIMEOUT_MS = 5_000;
/** Delay before a retry at a node that just ended or starts. */
const RETRY_DELAY_MS = 50;
/** A process that ends may accept a connection after it has broken others, and close it unread. */
const RECOVERY_DELAY_MS = 100;
/** Methods that are safe to repeat: they change nothing, and a charge without an answer is refunded. */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS']);
/** A query with an id advances with each answer: a repeat would skip the lost records. */
const QUERY_ID = /[?&]queryId=/i;

const NO_SERVING_NODE = 'no node serves for now: try again';
const NODE_CHANGED = 'the node that serves changed while the body was sent: send it again';
const OUTCOME_UNKNOWN =
  'the node that served was lost before it answered: whether this was done is not known, look before you ' +
  'try again';

export type Forwarder = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

export function makeForwarder({
  signHeader,
  targets,
  recordOutcome: record,
  waitMs,
}: ForwarderOptions): Forwarder {
  let waiting = 0;
  let brokenMs = -Infinity;
  const refuse = (incoming: IncomingMessage, outgoing: ServerResponse, reason: string): void => {
    record(reason === OUTCOME_UNKNOWN ? 'unknown' : 'refused');
    answerFailure(incoming, outgoing, reason);
  };
  const wait = async (ms: number): Promise<void> => {
    waiting += 1;
    await targets.waitForChange(ms).finally(() => (waiting -= 1));
  };
  return async (incoming, outgoing) => {
    const body = await bufferBody(incoming);
    const { method = '', url = '' } = incoming;
    const isRepeatable = REPEATABLE.has(method) && !QUERY_ID.test(url);
    const deadlineMs = monotonicMs() + waitMs;
    while (!outgoing.destroyed) {
      // A repeatable request need not wait.
      const recoveryMs = isRepeatable ? 0 : brokenMs + RECOVERY_DELAY_MS - monotonicMs();
      if (recoveryMs > 0) await sleep(recoveryMs);
      const target = targets.current();
      if (target !== undefined) {
        const header = [PROXY_HEADER, signHeader(target, incoming)] as const;
        const outcome = await proxyRequest(target, incoming, body, outgoing, header);
        if (outcome === 'unknown') brokenMs = monotonicMs();
        if (outcome === 'done') return record('answered');
        if (outcome === 'cut') return refuse(incoming, outgoing, NODE_CHANGED);
        if (outcome === 'unknown' && !isRepeatable)
          return refuse(incoming, outgoing, OUTCOME_UNKNOWN);
      }
      const leftMs = deadlineMs - monotonicMs();
      if (leftMs <= 0 || waiting >= WAITING_MAX) return refuse(incoming, outgoing, NO_SERVING_NODE);
      if (target === undefined) await wait(leftMs);
      else await sleep(RETRY_DELAY_MS);
    }
  };
}

/** Buffers the body up to the limit; undefined without a body. */
async function bufferBody(incoming: IncomingMessage): Promise<BufferedBody | undefined> {
  const { headers } = incoming;
  if (!hasBody(headers)) return undefined;
  if (Number(headers['content-length'] ?? 0) > BUFFER_BYTES_MAX)
    return { first: Buffer.alloc(0), isComplete: false };
  const { promise, resolve } = Promise.withResolvers<BufferedBody>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const settle = (isWhole: boolean): void => {
    clearTimeout(timeout);
    incoming.pause();
    incoming.off('data', onData).off('end', onEnd).off('close', onEnd);
    resolve({ first: Buffer.concat(chunks), isComplete: isWhole });
  };
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > BUFFER_BYTES_MAX) settle(false);
  };
  const onEnd = (): void => settle(incoming.complete);
  const timeout = setTimeout(() => settle(false), BUFFER_TIMEOUT_MS);
  incoming.on('data', onData).once('end', onEnd).once('close', onEnd);
  return promise;
}

function answerFailure(incoming: IncomingMessage, outgoing: ServerResponse, reason: string): void {
  if (outgoing.destroyed) return;
  if (outgoing.headersSent) return void outgoing.destroy();
  const style = incoming.method === 'GET' ? 'data' : 'workspace';
  const requestId = newUuid();
  const accept = incoming.headers.accept ?? '';
  const failure = new Failure('Busy', reason);
  const answer = renderFailure(failure, style, accept, requestId, () => '');
  const status = reason === OUTCOME_UNKNOWN ? 502 : answer.status;
  outgoing.writeHead(status, {
    'content-type': answer.contentType,
    'x-request-id': requestId,
    'access-control-allow-origin': '*',
    'access-control-expose-headers': '*',
    ...(reason === OUTCOME_UNKNOWN ? {} : { 'retry-after': '1' }),
    ...(isBodyComplete(incoming) ? {} : { connection: 'close' }),
    'content-length': Buffer.byteLength(answer.body),
  });
  outgoing.write(answer.body);
  void drainBody(incoming).then(() => outgoing.end());
}
