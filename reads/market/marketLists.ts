// Answers types of the whole market (INTERFACE.md 1 "market"): lists, the last days of every symbol, and
// volume by venue.
import type { Body } from '../../store/duckdb/protocol.ts';
import { lookupTable } from '../../store/base/lookupTable.ts';
import { lastDayOf, LIST_NAMES, type SymbolDays, volumesOf } from '../../market/board/board.ts';
import { previousRow } from '../../market/derive/dailyBars.ts';
import { instantIn, numberIn, textIn } from '../../market/derive/values.ts';
import { endOfToday, startOfToday } from '../../market/derive/exchangeTime.ts';
import type { InputId } from '../../market/inputs/inputRow.ts';
import { type Need, newest, type Read, allRecords } from '../../market/types/typeRequest.ts';
import { marketType } from '../../market/types/marketTypes.ts';
import { listShape, mapShape, type Shape } from '../../market/types/shape.ts';
import type { FindShape } from '../../market/types/shapes.ts';
import { addDays } from '../../query/time/days.ts';
import { Failure } from '../../store/base/failure.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { Lake } from '../../store/lake/lake.ts';
import { isForeign, paysPremium } from '../rights/access.ts';
import { type Fare, meterCall } from '../answer/metering.ts';
import { currentMoment } from '../series/moments.ts';
import { selectFormat } from '../answer/format.ts';
import { answerReading } from '../answer/answerReading.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { listOf, numberOf, refuse } from '../request/parameters.ts';
import { type MarketRequest, readBoard } from './marketBoard.ts';
import {
  COLLECTION_KINDS,
  COLLECTION_MAX,
  LIST,
  LIST_DEFAULT,
  computeCollectionQuotes,
  computeListQuotes,
  computeSectorPerformance,
  listTodayEarnings,
} from './collections.ts';
import { sectorShape, todayShape, volumeShape } from './marketListShapes.ts';
import { findMaxDelayMs, selectReadableInputs } from './market.ts';
import { buildTypeRequest, LIST_MAX, parseOptions } from './options.ts';
import { type MarketServices, planNeeds, type ReadableInputs, runReadPlan } from './inputReads.ts';
import { renderBody, filterAttributes } from '../request/rendering.ts';
import { aggregateInput, type AggregateServices } from './aggregates.ts';
import { exclusionRule } from '../../store/base/valueRules.ts';

interface MarketList {
  readonly of: InputId;
  /** Messages charged for each returned symbol or row (INTERFACE.md 0.3). */
  readonly weight: number;
  readonly usageKey: string;
  readonly most: number;
  /** The path names the list. */
  readonly part?: true;
  readonly answer: (request: MarketRequest, services: AggregateServices) => Promise<object>;
  readonly shape: (called: FindShape) => Shape;
  /** Counts the charged objects of an answer; its members when left out. */
  readonly count?: (value: object) => number;
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

/** Maximum symbols of one market. */
const SYMBOLS_MOST = 20_000;
const MARKET_LISTS = lookupTable<MarketList>({
  list: {
    of: 'HISTORICAL_PRICES',
    weight: 2,
    usageKey: 'MARKET_LIST',
    most: LIST_MAX,
    part: true,
    answer: computeListQuotes,
    shape: (called) => listShape(called('Quote')),
  },
  collection: {
    of: 'COMPANY',
    weight: 1,
    usageKey: 'STOCK_COLLECTION',
    most: COLLECTION_MAX,
    part: true,
    answer: computeCollectionQuotes,
    shape: (called) => listShape(called('Quote')),
  },
  'sector-performance': {
    of: 'HISTORICAL_PRICES',
    weight: 1,
    usageKey: 'SECTOR_PERFORMANCE',
    most: 100,
    answer: computeSectorPerformance,
    shape: sectorShape,
  },
  'today-earnings': {
    of: 'EARNINGS',
    weight: 1001,
    usageKey: 'EARNINGS_TODAY',
    most: SYMBOLS_MOST,
    answer: listTodayEarnings,
    shape: todayShape,
    count: (value) => Object.values(value).reduce((sum: number, rows) => sum + lengthOf(rows), 0),
  },
  ohlc: {
    of: 'HISTORICAL_PRICES',
    weight: 2,
    usageKey: 'OPEN_CLOSE',
    most: SYMBOLS_MOST,
    answer: async (request) => mapBySymbol(await readBoard(request), lastDayOf),
    shape: (called) => mapShape(called('Ohlc')),
  },
  previous: {
    of: 'HISTORICAL_PRICES',
    weight: 2,
    usageKey: 'PREVIOUS',
    most: SYMBOLS_MOST,
    answer: async (request) =>
      mapBySymbol(
        await readBoard(request, addDays(request.typeRequest.today, -1)),
        ({ bars, symbol }) => previousRow(symbol, bars),
      ),
    shape: (called) => mapShape(called('DayBar')),
  },
  volume: {
    of: 'TRADES',
    weight: 1,
    usageKey: 'MARKET_VOLUME',
    most: 100,
    answer: computeVolumeByVenue,
    shape: volumeShape,
  },
});

/** Allowed parts of the path, by type. */
const PARTS = lookupTable<readonly string[]>({
  list: LIST_NAMES,
  collection: COLLECTION_KINDS,
});

/** A type of the whole market, for the OpenAPI document. */
interface WideForm {
  readonly name: string;
  /** Allowed parts of the path; undefined if it has none. */
  readonly parts: readonly string[] | undefined;
  /** Messages charged for each symbol or row. */
  readonly weight: number;
  readonly shape: (called: FindShape) => Shape;
}

export const MARKET_LIST_VARIANTS: readonly WideForm[] = Object.entries(MARKET_LISTS).map(
  ([name, { part, shape, weight }]) => ({
    name,
    shape,
    weight,
    parts: part === true ? PARTS[name] : undefined,
  }),
);

/** The main input of a type of the whole market. */
export const findMarketListInput = (name: string): string | undefined =>
  MARKET_LISTS[name.toLowerCase()]?.of;

/** Whether a type is one of the whole market, and CORE has its main input. */
export const isMarketListType = (name: string, { directory }: Lake): boolean => {
  const list = MARKET_LISTS[name.toLowerCase()];
  return list !== undefined && directory.dataset(CORE, list.of)?.mapping.key !== undefined;
};

export async function answerMarketList(
  call: ReadRequest,
  services: AggregateServices,
): Promise<Answer> {
  const name = (call.path['type'] ?? '').toLowerCase();
  const list = MARKET_LISTS[name];
  const quote = marketType('quote');
  if (list === undefined || quote === undefined) throw new Failure('NotFound');
  refusePart(call, name, list);
  const format = selectFormat(call);
  const readable = selectReadable(list, call, services);
  const { caller } = call;
  const nowMs = services.clock();
  const untilMs = nowMs - findMaxDelayMs(caller, readable, services.lake);
  const timedRequest = buildTypeRequest('', parseOptions(quote, call.query, true), nowMs, untilMs);
  const at = currentMoment(services);
  const dataset = readable.get(list.of);
  const foreign = dataset !== undefined && isForeign(caller, dataset, services.lake);
  const premium = dataset !== undefined && paysPremium(caller, dataset, services.lake);
  const { most, usageKey, weight } = list;
  const order = { requestId: call.requestId, endpoint: call.endpoint, usageKey, weight, premium };
  const bound = foreign ? () => most : undefined;
  const fare: Fare = {
    order,
    most: maxObjects(call, list),
    least: foreign ? 1 : 0,
    upperBound: bound,
  };
  let snapshot = 0;
  let moment: Moment = at;
  const read = async (needs: readonly Need[]): Promise<Read> => {
    const planned = await planNeeds(call, services, readable, needs, at);
    snapshot = Math.max(snapshot, planned.snapshot);
    moment = planned.moment;
    return runReadPlan(planned, services, call);
  };
  const run = async (): Promise<Body> => {
    const value = await list.answer({ call, typeRequest: timedRequest, read }, services);
    const objects = list.count?.(value) ?? Object.keys(value).length;
    return renderBody(filterEach(value, listOf(call.query, 'filter')), objects, format);
  };
  const answer = await answerReading(call, {
    format,
    snapshot,
    moment,
    tag: undefined,
    datasets: [...readable.values()],
    meter: () => meterCall(call, services, caller, fare, run),
  });
  // Which records a list needs, it knows while it runs.
  return answer.kind === 'rows' ? { ...answer, snapshot, moment } : answer;
}

/** The maximum number of objects: the limit, or the default of a list, or the maximum of the type. */
function maxObjects({ path, query }: ReadRequest, { most, part }: MarketList): number {
  const limit = part === true ? numberOf(query, 'listLimit') : undefined;
  const isList = most === LIST_MAX || path['part']?.toLowerCase() === LIST;
  return Math.min(limit ?? (isList ? LIST_DEFAULT : most), most);
}

/** @throws Failure NotFound for a missing part, or for a part of a type without parts. */
function refusePart({ path, query }: ReadRequest, name: string, { part }: MarketList): void {
  if (path['detail'] !== undefined || (path['part'] !== undefined) !== (part === true)) {
    throw new Failure('NotFound');
  }
  if (part !== true && query['listLimit'] !== undefined) refuse('listLimit', exclusionRule(name));
  if (name !== 'collection' && query['collectionName'] !== undefined)
    refuse('collectionName', exclusionRule(name));
}

/** @throws Failure if the caller may not read the main input. */
function selectReadable(
  list: MarketList,
  call: ReadRequest,
  { lake }: MarketServices,
): ReadableInputs {
  const quote = marketType('quote');
  if (quote === undefined) throw new Failure('NotFound');
  const inputs: readonly InputId[] = ['SPLITS', 'VENUES', 'COMPANY', 'EARNINGS', list.of];
  const needs = [
    ...quote.needs(buildTypeRequest('', {}, 0)),
    ...inputs.map((input) => newest(input, '', 1)),
  ];
  return selectReadableInputs({ ...quote, of: [list.of] }, needs, call, lake);
}

/** Filters a list, or each object of an object by symbol. */
function filterEach(value: object, names: readonly string[] | undefined): unknown {
  if (names === undefined || Array.isArray(value)) return filterAttributes(value, names);
  return Object.fromEntries(
    Object.entries(value).map(([symbol, one]) => [symbol, filterAttributes(one, names)]),
  );
}

const mapBySymbol = (
  board: readonly SymbolDays[],
  valueOf: (entry: SymbolDays) => object,
): Readonly<Record<string, object>> =>
  Object.fromEntries(board.map((entry) => [entry.symbol, valueOf(entry)]));

/** Sums the volume of the latest day of trades by venue, with SQL. */
async function computeVolumeByVenue(
  { typeRequest, call, read }: MarketRequest,
  services: AggregateServices,
): Promise<object> {
  const [last, venues] = [newest('TRADES', '', 1), allRecords('VENUES', '')];
  const rowsFor = await read([last, venues]);
  const row = rowsFor(last).at(-1);
  if (row === undefined) return [];
  const lastMs = instantIn(row, 'time');
  const [from, to, until] = [startOfToday(lastMs), endOfToday(lastMs), typeRequest.untilMs].map(
    (ms) => new Date(ms).toISOString(),
  );
  const sums = await aggregateInput(call, services, 'TRADES', (spell) => {
    const [size, time, venue] = [spell('size'), spell('time'), spell('venue')];
    return (
      `SELECT ${venue} AS mic, sum(${size}) AS volume, max(${time}) AS lastUpdated ` +
      `FROM ${spell('TRADES')} WHERE ${time} >= '${from}' AND ${time} < '${to}' ` +
      `AND ${time} <= '${until}' GROUP BY ${venue}`
    );
  });
  return volumesOf(
    sums.map((sum) => ({
      mic: textIn(sum, 'mic') ?? '',
      volume: numberIn(sum, 'volume') ?? 0,
      lastUpdated: instantIn(sum, 'lastUpdated'),
    })),
    rowsFor(venues),
  );
}
