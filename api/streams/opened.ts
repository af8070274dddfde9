// What all streams have in common when they are opened: the tier, a first reserve, where a reader goes on.
import type { Subscription } from '../../store/bus/group.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { callerOf, paysPremium } from '../auth/access.ts';
import type { Answer, Call } from '../request/endpoint.ts';
import { numberOf, textOf, truthOf, type Values } from '../request/parameters.ts';
import { type Newest, StreamConnection } from '../sse/connection.ts';
import { CountingMeter, type MessageMeter, roomForStream, StreamMeter } from '../sse/meter.ts';
import type { Gathering } from '../sse/gathering.ts';
import type { OpenStream } from '../sse/openStreams.ts';
import { oneByOne } from '../../store/queues/oneByOne.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Past } from './storedTicks.ts';
import { checkTier, type StreamServices } from './entitled.ts';
import type { ChargeOrder } from '../../store/ledger/metering.ts';

/** What a stream sends. */
export interface Opening {
  readonly subscription: Subscription;
  readonly newest: Newest;
  /** Symbols of which the newest message is sent at first. */
  readonly snapshot: readonly string[];
  /** Or all that was told since a time. */
  readonly past?: readonly Past[];
  /** Listens since the moment of the newest messages, where they were read at one. */
  readonly gathering?: Gathering | undefined;
  /** False once its datasets are others; undefined: always true. */
  readonly isCurrent?: () => boolean;
}

/** What it is charged as, and how long it may go on. */
interface Terms {
  readonly price: {
    readonly usageKey: string;
    /** Messages of the quota for each message. */
    readonly weight: number;
    /** Those that it is made of, now. */
    readonly datasets: () => readonly Dataset[];
  };
  /** Whether its token may still have it; may throw where not. */
  readonly isAllowed: () => boolean;
}

/** What is sent for the symbols of a query. `isRenewed`: all that its datasets have is new to the stream. */
type Source = (ids: boolean, query: Values, isRenewed: boolean) => Promise<Opening>;

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
  const { streams } = services;
  const resumeFrom = textOf(call.query, 'resumeFrom') ?? call.lastEventId;
  const ids = truthOf(call.query, 'ids') || resumeFrom !== '';
  const prepared: typeof source = async (...asked) => {
    const opening = await source(...asked);
    await streams.hub.prepare(opening.subscription);
    return opening;
  };
  const opening = await prepared(ids, call.query, false);
  if (call.bodiless) {
    opening.gathering?.drop();
    return { kind: 'text', text: '', contentType: 'text/event-stream' };
  }
  // Of their own: those of the test environment take no room from production.
  const roomOf = call.environment === 'test' ? `test ${caller.accountId}` : caller.accountId;
  const { requestId } = call;
  const order = orderOf(call, services, terms);
  if (order !== undefined) await roomForStream(services.ledger, caller, order);
  let meter: MessageMeter;
  try {
    streams.open.checkRoom(roomOf);
    meter =
      order === undefined ? new CountingMeter() : new StreamMeter(services.ledger, caller, order);
  } catch (error) {
    opening.gathering?.drop();
    throw error;
  }
  return {
    kind: 'stream',
    id: requestId,
    datasets: terms.price.datasets(),
    unopened: () => {
      meter.close();
      opening.gathering?.drop();
    },
    open: (socket, isChunked) => {
      const connection = connected(call, services, terms, {
        socket,
        isChunked,
        meter,
        ...opening,
      });
      const changed: Parameters<typeof changesOf>[2] = async (query, isRenewed) => {
        if (isRenewed && order?.premium !== orderOf(call, services, terms)?.premium) {
          throw new Failure('EnterprisePermissionRequired', 'it has another price now');
        }
        return prepared(ids, query, isRenewed);
      };
      const changes = changesOf(connection, opening, changed, call.query);
      streams.open.add(requestId, {
        accountId: roomOf,
        connection,
        ...changes,
      });
      if (resumeFrom !== '') return connection.resume(resumeFrom);
      if (opening.past !== undefined) connection.sendPast(opening.past);
      else if (!truthOf(call.query, 'nosnapshot')) connection.sendNewest(opening.snapshot);
      connection.sendGathered();
    },
  };
}

/** Gives an open stream another subscription or other datasets, one change after the other. */
function changesOf(
  connection: StreamConnection,
  first: Opening,
  source: (query: Values, isRenewed: boolean) => Promise<Opening>,
  firstQuery: Values,
): Pick<OpenStream, 'change' | 'renew'> {
  const inTurn = oneByOne();
  let [opening, query, isRenewing] = [first, firstQuery, false];
  const isOld = (): boolean => opening.isCurrent?.() === false;
  const change = (wanted: Values): Promise<void> =>
    inTurn(async () => {
      const isRenewed = isOld();
      const before = new Set(isRenewed ? [] : connection.subscription.symbols);
      opening = await source(wanted, isRenewed);
      query = wanted;
      const { gathering, newest, past, snapshot, subscription } = opening;
      connection.change(subscription, newest, gathering);
      // Of all symbols nothing is sent again because one more input is there.
      const isAll = isRenewed && subscription.symbols === undefined;
      const added = isAll ? [] : snapshot.filter((key) => !before.has(key));
      if (past === undefined) connection.sendNewest(added);
      else connection.sendPast(past);
      connection.sendGathered(gathering);
    });
  const renew = (): Promise<void> | undefined => {
    if (isRenewing || !isOld()) return undefined;
    isRenewing = true;
    return change(query).finally(() => {
      isRenewing = false;
    });
  };
  return { change, renew };
}

/** What it costs; undefined where nobody pays. */
function orderOf(
  { caller, endpoint, environment, requestId }: Call,
  { lake }: StreamServices,
  { price: { datasets, usageKey, weight } }: Terms,
): ChargeOrder | undefined {
  if (environment === 'test') return undefined;
  const payer = callerOf(caller);
  const premium = datasets().some((dataset) => paysPremium(payer, dataset, lake));
  return { requestId, endpoint, usageKey, weight, premium };
}

type Connecting = Pick<
  ConstructorParameters<typeof StreamConnection>[0],
  'socket' | 'isChunked' | 'meter' | 'newest' | 'subscription'
> &
  Pick<Opening, 'gathering'>;

function connected(
  { query, requestId }: Call,
  { clock, streams }: StreamServices,
  { isAllowed }: Terms,
  connecting: Connecting,
): StreamConnection {
  const { hub, open } = streams;
  return new StreamConnection({
    ...connecting,
    hub,
    gathering: connecting.gathering,
    events: truthOf(query, 'events'),
    heartbeatMs: (numberOf(query, 'heartbeat') ?? 0) * 1e3,
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
