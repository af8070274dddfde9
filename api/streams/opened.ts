// What all streams have in common when they are opened: the tier, a first reserve, where a reader goes on.
import type { Subscription } from '../../store/bus/group.ts';
import type { Dataset } from '../../store/datasets/datasets.ts';
import { callerOf, paysPremium } from '../auth/access.ts';
import type { Answer, Call } from '../request/endpoint.ts';
import { numberOf, textOf, truthOf, type Values } from '../request/parameters.ts';
import { type Newest, StreamConnection } from '../sse/connection.ts';
import { CountingMeter, StreamMeter } from '../sse/meter.ts';
import type { Past } from './storedTicks.ts';
import { checkTier, type StreamServices } from './entitled.ts';

/** What a stream sends. */
export interface Opening {
  readonly subscription: Subscription;
  readonly newest: Newest;
  /** Symbols of which the newest message is sent at first. */
  readonly snapshot: readonly string[];
  /** Or all that was told since a time. */
  readonly past?: readonly Past[];
}

/** What it is charged as, and how long it may go on. */
interface Terms {
  readonly price: {
    readonly usageKey: string;
    /** Messages of the quota for each message. */
    readonly weight: number;
    /** Those that it is made of. */
    readonly datasets: readonly Dataset[];
  };
  /** Whether its token may still have it; may throw where not. */
  readonly isAllowed: () => boolean;
}

/** What is sent for the symbols of a query. */
type Source = (ids: boolean, query: Values) => Promise<Opening>;

/**
 * @param source asked again where the subscription of a stream that is open changes
 * @throws Failure of what the caller lacks, before anything is sent.
 */
export async function openedStream(
  call: Call,
  services: StreamServices,
  terms: Terms,
  source: Source,
): Promise<Answer> {
  const caller = callerOf(call.caller);
  checkTier(caller);
  const { ledger, streams } = services;
  const resumeFrom = textOf(call.query, 'resumeFrom') ?? call.lastEventId;
  const ids = truthOf(call.query, 'ids') || resumeFrom !== '';
  const prepared: typeof source = async (...asked) => {
    const opening = await source(...asked);
    await streams.hub.prepare(opening.subscription);
    return opening;
  };
  const opening = await prepared(ids, call.query);
  if (call.bodiless) return { kind: 'text', text: '', contentType: 'text/event-stream' };
  // Of their own: those of the test environment take no room from production.
  const roomOf = call.environment === 'test' ? `test ${caller.accountId}` : caller.accountId;
  streams.open.checkRoom(roomOf);
  const { endpoint, requestId } = call;
  const { datasets, usageKey, weight } = terms.price;
  const premium = datasets.some((dataset) => paysPremium(caller, dataset, services.lake));
  const order = { requestId, endpoint, usageKey, weight, premium };
  const isTest = call.environment === 'test';
  const meter = isTest ? new CountingMeter() : new StreamMeter(ledger, caller, order);
  return {
    ...{ kind: 'stream', id: requestId, datasets },
    unopened: () => meter.close(),
    open: (socket, isChunked) => {
      const connection = connected(call, services, terms, {
        ...{ socket, isChunked, meter },
        ...{ newest: opening.newest, subscription: opening.subscription },
      });
      streams.open.add(requestId, {
        ...{ accountId: roomOf, connection },
        change: async (query) => {
          const { newest, snapshot, subscription } = await prepared(ids, query);
          const before = new Set(connection.subscription.symbols);
          connection.change(subscription, newest);
          connection.sendNewest(snapshot.filter((symbol) => !before.has(symbol)));
        },
      });
      if (resumeFrom !== '') connection.resume(resumeFrom);
      else if (opening.past !== undefined) connection.sendPast(opening.past);
      else if (!truthOf(call.query, 'nosnapshot')) connection.sendNewest(opening.snapshot);
    },
  };
}

type Connecting = Pick<
  ConstructorParameters<typeof StreamConnection>[0],
  'socket' | 'isChunked' | 'meter' | 'newest' | 'subscription'
>;

function connected(
  { query, requestId }: Call,
  { clock, streams }: StreamServices,
  { isAllowed }: Terms,
  connecting: Connecting,
): StreamConnection {
  const { hub, open } = streams;
  return new StreamConnection({
    ...{ ...connecting, hub },
    events: truthOf(query, 'events'),
    heartbeatMs: (numberOf(query, 'heartbeat') ?? 0) * 1_000,
    isAllowed: () => isTrue(isAllowed),
    nowMs: clock(),
    onEnd: (reason) => open.ended(requestId, reason),
  });
}

/** Whoever is refused now may not go on either. */
function isTrue(isAllowed: () => boolean): boolean {
  try {
    return isAllowed();
  } catch {
    return false;
  }
}
