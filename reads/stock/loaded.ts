// Answers loaded types from the records of one dataset of CORE, read and charged like every series.
import type { SeriesPlan } from '../../query/plan/seriesPlan.ts';
import { dayAt } from '../../market/derive/exchangeTime.ts';
import { listIn } from '../../market/derive/values.ts';
import { INPUTS } from '../../market/inputs/inputs.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Body } from '../../store/duckdb/protocol.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import { findDataset } from '../rights/access.ts';
import { chargePart, type Part } from '../series/batch.ts';
import { latestMoment } from '../series/moments.ts';
import { answerSeries, buildFare, readDataset } from '../series/series.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import { listOf } from '../request/parameters.ts';
import { refuseUnknown, normalizeSymbol, type StockServices } from './knownSymbols.ts';
import { sumLengths, readAll } from './loadedReads.ts';
import { readLatestDay } from './newestDay.ts';
import { formatOffering } from './offeringView.ts';
import { joinObject } from './objectText.ts';
import {
  type StockContext,
  mergePathParts,
  type PathParts,
  buildRecordParameters,
  refuseUnusedParameters,
  replaceUnknownAttribute,
} from './stockParameters.ts';
import { isMarketRequest, hasRawAndView, type StockType } from './stockTypes.ts';

/** Maximum requested symbols of the market; further ones are ignored, as in a batch. */
const MARKET_SYMBOLS_MAX = 100;

/** Answers one type of one symbol, or of all symbols. */
export async function answerLoaded(
  request: ReadRequest,
  services: StockServices,
  type: StockType,
  symbol: string,
): Promise<Answer> {
  const dataset = findDataset(request.caller, CORE, type.dataset, services.lake);
  const isMarket = isMarketRequest(type, symbol);
  const pathParts = replaceUnknownAttribute(
    dataset,
    type,
    mergePathParts(type, request.path, request.query),
  );
  refuseUnusedParameters(type, pathParts.query);
  // For the market a listed type returns one day of all symbols; for a symbol its latest record.
  const isList = type.shape === 'listed' && isMarket && pathParts.query['on'] === undefined;
  const on = isList ? await readLatestDay(dataset, request, services) : undefined;
  const parts = on === undefined ? pathParts : { ...pathParts, query: { ...pathParts.query, on } };
  const call = { ...request, query: parts.query };
  const requestedSymbols = isMarket ? listOf(call.query, 'symbols') : undefined;
  const records = buildRecordParameters(type, dataset, {
    ...buildContext(call, services, true),
    parts,
  });
  const renderAnswer = async (body: Body, format: string): Promise<Body> => {
    if (body.objects === 0 && !isMarket) await refuseUnknown(symbol, call, services);
    if (format !== 'json') return body;
    const bytes = renderForPath(type, symbol, body, parts);
    const isTwice = requestedSymbols === undefined && hasRawAndView(type);
    return { ...body, bytes: isTwice ? renderRawAndView(bytes, dayAt(services.clock())) : bytes };
  };
  const keys = isMarket
    ? requestedSymbols?.map(normalizeSymbol).slice(0, MARKET_SYMBOLS_MAX)
    : [symbol];
  const parameters = keys === undefined || keys.length === 0 ? records : { ...records, keys };
  return answerSeries(call, services, dataset, 'data', { parameters, render: renderAnswer });
}

/** Renders an answer for its path: one value, one record, or the form of its type. */
function renderForPath(
  type: StockType,
  symbol: string,
  body: Body,
  { attribute, isNext }: PathParts,
): Uint8Array {
  if (attribute !== undefined) {
    const [record = {}] = parseRecords(convertValues(type, body));
    return Buffer.from(JSON.stringify(Object.values(record)[0] ?? null));
  }
  if (isNext !== true) return renderRecords(type, symbol, body);
  return body.objects === 0 ? Buffer.from('{}') : body.bytes.subarray(1, -1);
}

const parseRecords = ({
  bytes,
}: Pick<Body, 'bytes'>): readonly Readonly<Record<string, unknown>>[] =>
  JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly Readonly<Record<string, unknown>>[];

/** A type's part of a batch. */
export interface StockPart extends Part {
  /** The type's answer for each symbol, in order; `{}` or `[]` without records. */
  readonly bodies: readonly Body[];
}

interface LoadedType {
  readonly dataset: Dataset;
  readonly type: StockType;
  /** The whole market, without symbols. */
  readonly ofAll: boolean;
}

/** Reads one type for all symbols, with one price and one journal line. */
export async function readLoadedPart(
  call: ReadRequest,
  services: StockServices,
  { dataset, ofAll, type }: LoadedType,
  symbols: readonly string[],
  at: Moment,
  before: readonly StockPart[],
): Promise<StockPart> {
  const records = buildRecordParameters(type, dataset, buildContext(call, services, false));
  const reads = await Promise.all(
    symbols.map((symbol) => {
      const own = ofAll ? records : { ...records, keys: [symbol] };
      return readDataset(call, services, dataset, 'data', { own, at });
    }),
  );
  let bodies: readonly Body[] = [];
  const run = async (): Promise<{ readonly objects: number }> => {
    const join = async (keys: readonly string[]): Promise<SeriesPlan> =>
      (await readDataset(call, services, dataset, 'data', { own: { ...records, keys }, at })).plan;
    const lengthBefore = sumLengths(before.flatMap((part) => part.bodies));
    bodies = await readAll({ reads, symbols, join }, call, services, lengthBefore);
    return { objects: bodies.reduce((sum, { objects }) => sum + objects, 0) };
  };
  const fare = buildFare(call, services, dataset, reads);
  const { result: _counted, ...paid } = await chargePart(call, services, fare, before, run);
  const snapshot = Math.max(...reads.map(({ plan }) => plan.table.snapshot));
  const moment = latestMoment(reads.map((read) => read.moment));
  const today = dayAt(services.clock());
  const shaped = bodies.map((body, at) => {
    const bytes = renderRecords(type, symbols[at] ?? '', body);
    return {
      objects: body.objects,
      bytes: hasRawAndView(type) ? renderRawAndView(bytes, today) : bytes,
    };
  });
  return { ...paid, datasets: [dataset], bodies: shaped, snapshot, moment };
}

const buildContext = (
  { caller, query }: ReadRequest,
  { clock, settings }: Pick<ReadServices, 'clock' | 'settings'>,
  alone: boolean,
): StockContext => ({
  query,
  alone,
  today: dayAt(clock()),
  zone: settings.zone,
  rowsMax: caller.tier.rowsMax,
});

/** Renders the records of one symbol in the form of its type; `{}` or `[]` without records. */
function renderRecords(type: StockType, symbol: string, storedBody: Body): Uint8Array {
  const body = convertValues(type, storedBody);
  if (type.shape === 'record' || type.shape === 'day') {
    return body.objects === 0 ? Buffer.from('{}') : body.bytes.subarray(1, -1);
  }
  if (type.shape !== 'newest') return body.bytes;
  const { bare, beside, only, within } = type;
  if (within !== undefined && body.objects === 0) return Buffer.from('{}');
  const records = bare === true ? withoutSymbol(body) : body.bytes;
  const bytes = only === undefined ? records : selectValues(only, body);
  if (within === undefined) return bytes;
  const members = Object.entries(beside ?? { symbol }).map(
    ([name, value]) => [name, Buffer.from(JSON.stringify(value))] as const,
  );
  return joinObject([...members, [within, bytes]]);
}

/** Converters of properties whose values are not returned as they are stored, by input. */
const CONVERTERS: ReadonlyMap<string, ReadonlyMap<string, (value: unknown) => unknown>> = new Map(
  INPUTS.map(({ id, properties }) => [
    id,
    new Map(
      properties.flatMap(({ name, type }) => {
        // A list is a text if its file format has no lists: JSON, or comma-separated words.
        if (type === 'list') return [[name, listIn] as const];
        return type === 'instant' ? [[name, toMilliseconds] as const] : [];
      }),
    ),
  ]),
);

/** Converts a time to epoch milliseconds; other values are unchanged. */
function toMilliseconds(value: unknown): unknown {
  const ms = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(ms) ? value : ms;
}

function convertValues({ dataset }: StockType, body: Body): Body {
  const converters = CONVERTERS.get(dataset);
  if (converters === undefined || converters.size === 0 || body.objects === 0) return body;
  const records = parseRecords(body).map((record) =>
    Object.fromEntries(
      Object.entries(record).map(([name, value]) => [name, converters.get(name)?.(value) ?? value]),
    ),
  );
  return { ...body, bytes: Buffer.from(JSON.stringify(records)) };
}

/** Removes the symbol from records, because a member beside them has it. */
function withoutSymbol(body: Body): Uint8Array {
  const rows = parseRecords(body).map((record) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => name.toLowerCase() !== 'symbol')),
  );
  return Buffer.from(JSON.stringify(rows));
}

/** Selects one property of each record, in any spelling. */
function selectValues(property: string, body: Body): Uint8Array {
  const values = parseRecords(body).map((record) => {
    const name = Object.keys(record).find((one) => one.toLowerCase() === property);
    return name === undefined ? null : record[name];
  });
  return Buffer.from(JSON.stringify(values));
}

/** The answer of a type for a symbol without records. */
export const renderEmptyLoaded = (type: StockType, symbol: string): Uint8Array =>
  hasRawAndView(type)
    ? Buffer.from('{}')
    : renderRecords(type, symbol, { objects: 0, bytes: Buffer.from('[]') });

/** Renders records raw and formatted (INTERFACE.md 1 "market"). */
const renderRawAndView = (bytes: Uint8Array, today: string): Uint8Array =>
  joinObject([
    ['rawData', bytes],
    ['viewData', Buffer.from(JSON.stringify(parseRecords({ bytes }).map(formatOffering)))],
    ['lastUpdate', Buffer.from(JSON.stringify(today))],
  ]);
