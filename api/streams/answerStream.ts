// Opens the streams of the original (SPEC.md "SSE streaming endpoints"): of ticks, and of records that it
// streamed under names of their own.
import type { ReadRequest } from '../../reads/request/readRequest.ts';
import { newestDeep } from '../../market/live/deepMessages.ts';
import { lastOf, topsOf } from '../../market/live/liveMessages.ts';
import { marketType } from '../../market/types/marketTypes.ts';
import { quoteNeeds } from '../../market/types/prices.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { requireCaller } from '../../reads/rights/access.ts';
import { selectReadableInputs } from '../../reads/market/market.ts';
import { buildTypeRequest } from '../../reads/market/options.ts';
import type { Call, Services } from '../request/endpoint.ts';
import type { Answer } from '../../reads/request/answer.ts';
import { listOf, numberOf, refuse } from '../../reads/request/parameters.ts';
import type { LatestMessages } from '../sse/connection.ts';
import {
  findChannel,
  CHANNEL_NAMES,
  type StreamRow,
  listTopics,
} from '../../reads/live/streamTable.ts';
import { buildSandboxValues, withoutSandboxValues } from '../../reads/streams/sandboxValues.ts';
import {
  checkTier,
  findEntitledInputs,
  isSilent,
  selectSymbols,
  createUnchangedCheck,
} from '../../reads/streams/streamAccess.ts';
import { buildRights } from '../../reads/streams/quoteRights.ts';
import type { OpenStreamServices } from './streamServices.ts';
import { openStream, type Opening } from './openStream.ts';
import { openRecords } from './recordStreams.ts';
import { restore } from '../../reads/streams/boardRecovery.ts';
import { readPastMessages } from '../../reads/streams/storedTicks.ts';

const EMPTY_OPENING: Opening = {
  subscription: {
    topics: [],
    symbols: [],
    intervalMs: 0,
    ids: false,
  },
  newest: () => [],
  snapshot: [],
};

/** @throws Failure if the caller has no access, before anything is sent. */
export async function answerStream(
  row: StreamRow,
  call: Call,
  services: OpenStreamServices,
): Promise<Answer> {
  const { caller } = call;
  checkTier(caller);
  const datasets = (): readonly Dataset[] => [...findEntitledInputs(row, call, services).values()];
  datasets();
  const price = { usageKey: row.usageKey, weight: 1, datasets };
  return openStream(call, services, { price, isAllowed }, async (ids, query, isRenewed) => {
    const readable = findEntitledInputs(row, call, services);
    const isCurrent = createUnchangedCheck(row.inputs, services);
    const emptyOpening: Opening = { ...EMPTY_OPENING, isCurrent };
    const symbols = await selectSymbols(row, { ...call, query }, services);
    if (symbols === undefined && !caller.tier.firehose) throw new Failure('TierNotAllowed');
    if (isSilent(readable, call, services)) return emptyOpening;
    if (row.kind === 'records') {
      const [dataset] = readable.values();
      if (dataset === undefined) return emptyOpening;
      const { intervalMs, shape } = row;
      const request = { keys: symbols, ids, intervalMs, shape, isRenewed };
      return { ...(await openRecords(dataset, request, call, services)), isCurrent };
    }
    await services.streams.feeds.wake();
    const isOfNow = services.streams.isReplay !== true;
    const plain = withoutSandboxValues(call);
    if (readable.size > 0 && isOfNow) await restore(symbols, services);
    const source = await buildSource(row, { call: plain, services, symbols, ids });
    const disguise = buildSandboxValues(call);
    const opening = { ...source, subscription: { ...source.subscription, transform: disguise } };
    const sinceMs = numberOf(query, 'snapshotAsOf');
    if (sinceMs === undefined || row.kind !== 'ticks') return opening;
    if (symbols === undefined) return refuse('snapshotAsOf', 'needs "symbols"');
    const request = { readable, call: plain, services };
    return { ...opening, past: await readPastMessages(row.topic, symbols, sinceMs, request) };
  });

  function isAllowed(): boolean {
    const now = requireCaller(call.identifyCaller());
    checkTier(now);
    findEntitledInputs(row, { caller: now }, services);
    return true;
  }
}

interface SourceRequest {
  readonly call: ReadRequest;
  readonly services: OpenStreamServices;
  readonly symbols: readonly string[] | undefined;
  readonly ids: boolean;
}

async function buildSource(
  row: StreamRow,
  { call, ids, services, symbols }: SourceRequest,
): Promise<Opening> {
  const { board, quotes } = services.streams;
  const snapshot = symbols ?? board.symbols();
  if (row.kind === 'quotes') {
    const type = marketType('quote');
    if (type === undefined) throw new Failure('SystemError', 'there is no type quote');
    const needs = quoteNeeds(buildTypeRequest('', {}, services.clock()));
    const readable = selectReadableInputs(type, needs, call, services.lake);
    const isCurrent = createUnchangedCheck(
      [...row.inputs, ...needs.map(({ input }) => input)],
      services,
    );
    const view = quotes.view(buildRights(readable, call, services));
    await quotes.prepare(view, snapshot);
    return {
      subscription: {
        topics: [view.topic],
        symbols,
        intervalMs: row.intervalMs,
        ids,
      },
      newest: (symbol) => [quotes.json(view, symbol) ?? []].flat(),
      snapshot,
      isCurrent,
    };
  }
  const channels = parseChannels(row, call);
  const subscription = { topics: listTopics(row, channels), symbols, intervalMs: 0, ids };
  return { subscription, newest: buildNewest(row, channels, services), snapshot };
}

/** @throws Failure InvalidParameter for an unknown channel. */
function parseChannels(row: StreamRow, { query }: ReadRequest): readonly string[] {
  if (row.kind !== 'deep') return [];
  if (row.channel !== undefined) return [row.channel];
  const channels = (listOf(query, 'channels') ?? ['deep']).map(
    (text) =>
      findChannel(text.trim()) ?? refuse('channels', `must be among ${CHANNEL_NAMES.join(', ')}`),
  );
  return channels.includes('deep') ? ['deep'] : [...new Set(channels)];
}

function buildNewest(
  row: StreamRow,
  channels: readonly string[],
  { streams }: Pick<Services, 'streams'>,
): LatestMessages {
  return (symbol) => {
    const live = streams.board.get(symbol);
    if (live === undefined) return [];
    if (row.kind === 'deep') return newestDeep(live, channels);
    if (row.kind === 'ticks' && row.topic === 'tops') return [JSON.stringify(topsOf(live))];
    return row.kind === 'ticks' && live.last ? [JSON.stringify(lastOf(live))] : [];
  };
}
