// A stream is opened (SPEC.md "SSE streaming endpoints"): the token, the tier, the rights and a first
// reserve, then the newest message of each symbol, then what happens.
import type { QuoteRights } from '../../market/live/liveQuotes.ts';
import { lastOf, topsOf } from '../../market/live/liveMessages.ts';
import { marketType } from '../../market/types/marketTypes.ts';
import { quoteNeeds } from '../../market/types/prices.ts';
import type { Subscription } from '../../store/bus/group.ts';
import { Failure } from '../../store/base/failure.ts';
import { callerOf, paysPremium } from '../auth/access.ts';
import { readableFor } from '../market/market.ts';
import { askOf } from '../market/options.ts';
import { planNeeds, type Readable, readPlanned } from '../market/reading.ts';
import { momentNow } from '../read/moments.ts';
import type { Answer, Call, Services } from '../request/endpoint.ts';
import { listOf, numberOf, refuse, textOf, truthOf } from '../request/parameters.ts';
import { type Newest, StreamConnection } from '../sse/connection.ts';
import { StreamMeter } from '../sse/meter.ts';
import { channelOf, CHANNEL_NAMES, type StreamRow, topicsOf } from '../sse/streamTable.ts';
import { checkTier, entitledTo, hearsNothing, type StreamServices, symbolsOf } from './entitled.ts';
import { restoreSymbols } from './restored.ts';

/** What a caller asked for, and may have. */
interface Source {
  readonly subscription: Subscription;
  readonly newest: Newest;
}

const SILENCE: Source = {
  subscription: { topics: [], symbols: [], intervalMs: 0, ids: false },
  newest: () => undefined,
};

/** @throws Failure of what the caller lacks, before anything is sent. */
export async function answerStream(
  row: StreamRow,
  call: Call,
  services: StreamServices,
): Promise<Answer> {
  const caller = callerOf(call.caller);
  checkTier(caller);
  const readable = entitledTo(row, call, services);
  const symbols = await symbolsOf(row, call, services);
  if (symbols === undefined && !caller.tier.firehose) throw new Failure('TierNotAllowed');
  const resumeFrom = textOf(call.query, 'resumeFrom') ?? call.lastEventId;
  const { streams } = services;
  await streams.feeds.wake();
  if (symbols !== undefined && readable.size > 0) {
    await restoreSymbols(symbols, readable, call, services);
  }
  const ids = truthOf(call.query, 'ids') || resumeFrom !== '';
  const source = hearsNothing(readable, call, services)
    ? SILENCE
    : await sourceOf(row, { call, services, symbols, ids });
  if (call.bodiless) return { kind: 'text', text: '', contentType: 'text/event-stream' };
  streams.open.checkRoom(caller.accountId);
  const { endpoint, requestId } = call;
  const datasets = [...readable.values()];
  const premium = datasets.some((dataset) => paysPremium(caller, dataset, services.lake));
  const order = { requestId, endpoint, usageKey: row.usageKey, weight: 1, premium };
  const meter = new StreamMeter(services.ledger, caller, order);
  return {
    ...{ kind: 'stream', id: requestId, datasets },
    unopened: () => meter.close(),
    open: (socket, isChunked) => {
      const connection = connected(row, call, services, { socket, isChunked, meter, ...source });
      if (resumeFrom !== '') connection.resume(resumeFrom);
      else if (!truthOf(call.query, 'nosnapshot')) {
        connection.sendNewest(symbols ?? streams.board.symbols());
      }
    },
  };
}

type Opening = Pick<
  ConstructorParameters<typeof StreamConnection>[0],
  'socket' | 'isChunked' | 'meter' | 'subscription' | 'newest'
>;

function connected(
  row: StreamRow,
  call: Call,
  services: StreamServices,
  opening: Opening,
): StreamConnection {
  const { query, requestId } = call;
  const { hub, open } = services.streams;
  const connection = new StreamConnection({
    ...{ ...opening, hub },
    events: truthOf(query, 'events'),
    heartbeatMs: (numberOf(query, 'heartbeat') ?? 0) * 1_000,
    isAllowed: () => isAllowed(row, call, services),
    nowMs: services.clock(),
    onEnd: (reason) => open.ended(requestId, reason),
  });
  open.add(requestId, callerOf(call.caller).accountId, connection);
  return connection;
}

/** Whether a stream may go on: its token is one, and may still read what it sends. */
function isAllowed(row: StreamRow, call: Call, services: StreamServices): boolean {
  try {
    const caller = callerOf(call.identified());
    checkTier(caller);
    entitledTo(row, { caller }, services);
    return true;
  } catch {
    return false;
  }
}

interface Asked {
  readonly call: Call;
  readonly services: StreamServices;
  readonly symbols: readonly string[] | undefined;
  readonly ids: boolean;
}

async function sourceOf(row: StreamRow, { call, ids, services, symbols }: Asked): Promise<Source> {
  const { board, quotes } = services.streams;
  if (row.kind === 'quotes') {
    const type = marketType('quote');
    if (type === undefined) throw new Failure('SystemError', 'there is no type quote');
    const needs = quoteNeeds(askOf('', {}, services.clock()));
    const readable = readableFor(type, needs, call, services.lake);
    const view = quotes.view(rightsOf(readable, call, services));
    await quotes.prepare(view, symbols ?? board.symbols());
    return {
      subscription: { topics: [view.topic], symbols, intervalMs: row.intervalMs, ids },
      newest: (symbol) => quotes.json(view, symbol),
    };
  }
  const topics = topicsOf(row, channelsOf(row, call));
  const subscription = { topics, symbols, intervalMs: 0, ids };
  return { subscription, newest: newestOf(row, services) };
}

/** They are the stream's, not those of the request that opened it: that one may be gone. */
function rightsOf(readable: Readable, call: Call, services: StreamServices): QuoteRights {
  const lasting = { ...call, query: {}, path: {}, departure: () => new AbortController().signal };
  return {
    tableIds: [...readable.values()].map(({ tableId }) => tableId),
    read: async (needs) => {
      const moment = momentNow(services);
      const planned = await planNeeds(lasting, services, readable, needs, moment);
      return readPlanned(planned, services, lasting);
    },
  };
}

/** @throws Failure InvalidParameter naming a channel that there is not. */
function channelsOf({ kind }: StreamRow, { query }: Call): readonly string[] {
  if (kind !== 'deep') return [];
  const channels = (listOf(query, 'channels') ?? ['deep']).map(
    (text) =>
      channelOf(text.trim()) ?? refuse('channels', `must be among ${CHANNEL_NAMES.join(', ')}`),
  );
  return channels.includes('deep') ? ['deep'] : [...new Set(channels)];
}

function newestOf(row: StreamRow, { streams }: Pick<Services, 'streams'>): Newest {
  return (symbol) => {
    const live = streams.board.get(symbol);
    if (live === undefined) return undefined;
    if (row.kind === 'ticks' && row.topic === 'tops') return JSON.stringify(topsOf(live));
    if (row.kind === 'ticks') return live.last && JSON.stringify(lastOf(live));
    return undefined;
  };
}
