// Requests of a node that does not serve: each goes to the one that does. While there is none, as when it
// has just ended, they wait; what may have been done once is never sent twice.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import { HOP_HEADER } from '../auth/hop.ts';
import { failureAnswer } from '../request/failures.ts';
import { dropRest, hasBody, isWhole } from './restOfBody.ts';
import { hop, type SentBody, type Target } from './hop.ts';

/** Who serves, as requests to it are asked. */
export interface Targets {
  /** Undefined: nobody serves for now. */
  current(): Target | undefined;
  /** Resolves when another one serves, or after so long. */
  changed(withinMs: number): Promise<void>;
}

/** What became of a request. */
export type Handed = 'answered' | 'refused' | 'unknown';

export interface Forwarding {
  readonly targets: Targets;
  /** The header that tells a target who asks. */
  readonly signed: (target: Target, incoming: IncomingMessage) => string;
  /** How long a request waits for a node that serves. */
  readonly waitMs: number;
  readonly tell: (outcome: Handed) => void;
}

/** Most that wait for a node at once; those that come then are refused at once. */
const WAITING_MAX = 2_000;
/** A body up to here is kept until it is answered, so that it can be sent to the next node. */
const KEPT_BYTES_MAX = 64 * 1024;
/** One that is longer on its way goes on as it comes: the node that serves knows how slow one may be. */
const KEPT_MS = 5_000;
/** A node that just ended, or begins, is asked again so soon. */
const AGAIN_MS = 50;
/** A process that ends may take a connection after it has broken others, and end it unread. */
const BROKEN_MS = 100;
/** Nothing of them is changed by being asked for twice, and a charge whose answer was lost is given back. */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS']);
/** A named query goes on with each answer: the next one would leave out what was lost. */
const GOES_ON = /[?&]queryId=/i;

const NOBODY = 'no node serves for now: try again';
const CUT = 'the node that serves changed while the body was sent: send it again';
const UNKNOWN =
  'the node that served was lost before it answered: whether this was done is not known, look before you ' +
  'try again';

export type Forwarder = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

export function makeForwarder({ signed, targets, tell, waitMs }: Forwarding): Forwarder {
  let waiting = 0;
  let brokenMs = -Infinity;
  const refuse = (incoming: IncomingMessage, outgoing: ServerResponse, why: string): void => {
    tell(why === UNKNOWN ? 'unknown' : 'refused');
    answerFailure(incoming, outgoing, why);
  };
  const wait = async (ms: number): Promise<void> => {
    waiting += 1;
    await targets.changed(ms).finally(() => (waiting -= 1));
  };
  return async (incoming, outgoing) => {
    const body = await sentBody(incoming);
    const { method = '', url = '' } = incoming;
    const isRepeatable = REPEATABLE.has(method) && !GOES_ON.test(url);
    const untilMs = monotonicMs() + waitMs;
    while (!outgoing.destroyed) {
      // What is read may be asked again: it need not wait.
      const settlesMs = isRepeatable ? 0 : brokenMs + BROKEN_MS - monotonicMs();
      if (settlesMs > 0) await sleep(settlesMs);
      const target = targets.current();
      if (target !== undefined) {
        const header = [HOP_HEADER, signed(target, incoming)] as const;
        const outcome = await hop(target, incoming, body, outgoing, header);
        if (outcome === 'unknown') brokenMs = monotonicMs();
        if (outcome === 'done') return tell('answered');
        if (outcome === 'cut') return refuse(incoming, outgoing, CUT);
        if (outcome === 'unknown' && !isRepeatable) return refuse(incoming, outgoing, UNKNOWN);
      }
      const leftMs = untilMs - monotonicMs();
      if (leftMs <= 0 || waiting >= WAITING_MAX) return refuse(incoming, outgoing, NOBODY);
      if (target === undefined) await wait(leftMs);
      else await sleep(AGAIN_MS);
    }
  };
}

/** Undefined where there is none; at most so much as is kept. */
async function sentBody(incoming: IncomingMessage): Promise<SentBody | undefined> {
  const { headers } = incoming;
  if (!hasBody(headers)) return undefined;
  if (Number(headers['content-length'] ?? 0) > KEPT_BYTES_MAX)
    return { first: Buffer.alloc(0), isWhole: false };
  const { promise, resolve } = Promise.withResolvers<SentBody>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const settle = (isWhole: boolean): void => {
    clearTimeout(late);
    incoming.pause();
    incoming.off('data', take).off('end', end).off('close', end);
    resolve({ first: Buffer.concat(chunks), isWhole });
  };
  const take = (chunk: Buffer): void => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > KEPT_BYTES_MAX) settle(false);
  };
  const end = (): void => settle(incoming.complete);
  const late = setTimeout(() => settle(false), KEPT_MS);
  incoming.on('data', take).once('end', end).once('close', end);
  return promise;
}

function answerFailure(incoming: IncomingMessage, outgoing: ServerResponse, why: string): void {
  if (outgoing.destroyed) return;
  if (outgoing.headersSent) return void outgoing.destroy();
  const style = incoming.method === 'GET' ? 'data' : 'workspace';
  const requestId = newUuid();
  const accept = incoming.headers.accept ?? '';
  const failure = new Failure('Busy', why);
  const told = failureAnswer(failure, style, accept, requestId, () => '');
  const status = why === UNKNOWN ? 502 : told.status;
  outgoing.writeHead(status, {
    'content-type': told.contentType,
    'x-request-id': requestId,
    'access-control-allow-origin': '*',
    'access-control-expose-headers': '*',
    ...(why === UNKNOWN ? {} : { 'retry-after': '1' }),
    ...(isWhole(incoming) ? {} : { connection: 'close' }),
    'content-length': Buffer.byteLength(told.body),
  });
  outgoing.write(told.body);
  void dropRest(incoming).then(() => outgoing.end());
}
