// Opens streams of all kinds: checks the tier, reserves messages, and resumes after the last read message.
import type { Subscription } from '../../store/bus/group.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { paysPremium } from '../../reads/rights/access.ts';
import type { Call } from '../request/endpoint.ts';
import type { Answer } from '../../reads/request/answer.ts';
import { numberOf, textOf, truthOf, type Values } from '../../reads/request/parameters.ts';
import { type LatestMessages, StreamConnection } from '../sse/connection.ts';
import { CountingMeter, type MessageMeter, waitForStreamRoom, StreamMeter } from '../sse/meter.ts';
import type { SnapshotBuffer } from '../../reads/live/snapshotBuffer.ts';
import type { OpenStream } from '../sse/openStreams.ts';
import { serialQueue } from '../../store/queues/serialQueue.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Past } from '../../reads/streams/storedTicks.ts';
import { checkTier } from '../../reads/streams/streamAccess.ts';
import type { OpenStreamServices } from './streamServices.ts';
import type { ChargeOrder } from '../../store/ledger/metering.ts';

/** The subscription and the first messages of a stream. */
export interface Opening {
  readonly subscription: Subscription;
  readonly newest: LatestMessages;
  /** Symbols whose latest message is sent first. */
  readonly snapshot: readonly string[];
  /** Or all messages since a time. */
  readonly past?: readonly Past[];
  /** The buffer that is subscribed since the moment of the latest messages, if they were read. */
  readonly gathering?: SnapshotBuffer | undefined;
  /** False once its datasets have changed; undefined: always true. */
  readonly isCurrent?: () => boolean;
}

/** The price of a stream, and its access check. */
interface Terms {
  readonly price: {
    readonly usageKey: string;
    /** Messages charged for each message. */
    readonly weight: number;
    /** The current source datasets. */
    readonly datasets: () => readonly Dataset[];
  };
  /** Whether its token still has access; may throw if not. */
  readonly isAllowed: () => boolean;
}

/** Builds the opening for a query. `isRenewed`: all records of its datasets are new to the stream. */
type Source = (ids: boolean, query: Values, isRenewed: boolean) => Promise<Opening>;

/**
 * Opens a stream.
 * @param source called again when the subscription of the open stream changes
 * @throws Failure if the caller has no access, before anything is sent.
 */
export async function openStream(
  call: Call,
  services: OpenStreamServices,
  terms: Terms,
  source: Source,
): Promise<Answer> {
  const { caller } = call;
  checkTier(caller);
  const { streams } = services;
  const resumeFrom = textOf(call.query, 'resumeFrom') ?? call.lastEventId;
  const ids = truthOf(call.query, 'ids') || resumeFrom !== '';
  const prepareSource: typeof source = async (...sourceArguments) => {
    const opening = await source(...sourceArguments);
    await streams.hub.prepareResume(opening.subscription);
    return opening;
  };
  const opening = await prepareSource(ids, call.query, false);
  if (call.bodiless) {
    opening.gathering?.drop();
    return { kind: 'text', text: '', contentType: 'text/event-stream' };
  }
  // Separate counts: streams of the test environment take no room from production.
  const roomKey = call.environment === 'test' ? `test ${caller.accountId}` : caller.accountId;
  const { requestId } = call;
  const order = buildOrder(call, services, terms);
  if (order !== undefined) await waitForStreamRoom(services.ledger, caller, order);
  let meter: MessageMeter;
  try {
    streams.open.checkRoom(roomKey);
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
    onUnopened: () => {
      meter.close();
      opening.gathering?.drop();
    },
    open: (socket, isChunked) => {
      const connection = connect(call, services, terms, {
        socket,
        isChunked,
        meter,
        ...opening,
      });
      const changeSource: Parameters<typeof buildChanges>[2] = async (query, isRenewed) => {
        if (isRenewed && order?.premium !== buildOrder(call, services, terms)?.premium) {
          throw new Failure('EnterprisePermissionRequired', 'it has another price now');
        }
        return prepareSource(ids, query, isRenewed);
      };
      const changes = buildChanges(connection, opening, changeSource, call.query);
      streams.open.add(requestId, {
        accountId: roomKey,
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

/** Changes the subscription or the datasets of an open stream, one change after the other. */
function buildChanges(
  connection: StreamConnection,
  first: Opening,
  source: (query: Values, isRenewed: boolean) => Promise<Opening>,
  firstQuery: Values,
): Pick<OpenStream, 'change' | 'renew'> {
  const inTurn = serialQueue();
  let [opening, query, isRenewing] = [first, firstQuery, false];
  const isOld = (): boolean => opening.isCurrent?.() === false;
  const change = (newQuery: Values): Promise<void> =>
    inTurn(async () => {
      const isRenewed = isOld();
      const before = new Set(isRenewed ? [] : connection.subscription.symbols);
      opening = await source(newQuery, isRenewed);
      query = newQuery;
      const { gathering, newest, past, snapshot, subscription } = opening;
      connection.change(subscription, newest, gathering);
      // A stream of all symbols does not repeat its snapshot for an additional input.
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

/** Builds the charge order; undefined in the test environment, which is free. */
function buildOrder(
  { caller, endpoint, environment, requestId }: Call,
  { lake }: OpenStreamServices,
  { price: { datasets, usageKey, weight } }: Terms,
): ChargeOrder | undefined {
  if (environment === 'test') return undefined;
  const payer = caller;
  const premium = datasets().some((dataset) => paysPremium(payer, dataset, lake));
  return { requestId, endpoint, usageKey, weight, premium };
}

type ConnectionStart = Pick<
  ConstructorParameters<typeof StreamConnection>[0],
  'socket' | 'isChunked' | 'meter' | 'newest' | 'subscription'
> &
  Pick<Opening, 'gathering'>;

function connect(
  { query, requestId }: Call,
  { clock, streams }: OpenStreamServices,
  { isAllowed }: Terms,
  connecting: ConnectionStart,
): StreamConnection {
  const { hub, open } = streams;
  return new StreamConnection({
    ...connecting,
    hub,
    gathering: connecting.gathering,
    events: truthOf(query, 'events'),
    heartbeatMs: (numberOf(query, 'heartbeat') ?? 0) * 1e3,
    isAllowed: () => isStillAllowed(isAllowed),
    nowMs: clock(),
    onEnd: (reason) => open.remove(requestId, reason),
  });
}

/** Whether access is still allowed: a caller that would be refused now may not continue. */
function isStillAllowed(isAllowed: () => boolean): boolean {
  try {
    return isAllowed();
  } catch {
    return false;
  }
}
