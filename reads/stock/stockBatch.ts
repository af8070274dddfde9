// Answers several types of one symbol, or with `market` of several symbols (SPEC.md "Batch"). A symbol
// without data, or a type without access, never fails the rest.
import { type ComputedBatch, computeBatch } from '../market/batch.ts';
import {
  ACCESS_FAILURES,
  FILTER_RULE,
  findComputedType,
  hasFilteredMember,
  renderEmptyType,
  selectReadableInputs,
} from '../market/market.ts';
import type { MarketType } from '../../market/types/marketTypes.ts';
import type { TypeRequest } from '../../market/types/typeRequest.ts';
import { buildTypeRequest, parseOptions } from '../market/options.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Body } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import { findDataset } from '../rights/access.ts';
import { joinAnswer, chargePart, unchargedOnFailure } from '../series/batch.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import { currentMoment } from '../series/moments.ts';
import { listOf, refuse } from '../request/parameters.ts';
import { selectFormat } from '../answer/format.ts';
import { findKnownSymbols, type StockServices, normalizeSymbol } from './knownSymbols.ts';
import { readLoadedPart, renderEmptyLoaded, type StockPart } from './loaded.ts';
import { sumLengths, refuseOversized } from './loadedReads.ts';
import { findEmptyAnswer } from './emptyAnswers.ts';
import { joinObject, joinSymbols } from './objectText.ts';
import { resolveTickers } from './symbology.ts';
import { MARKET, findServedType, type StockType } from './stockTypes.ts';
import { findComputedFallback } from './computedFallback.ts';

/** SPEC.md "Limits". */
const TYPES_MAX = 10;
const SYMBOLS_MAX = 100;

/** Answers a batch. @param ofAll types of the whole market, which have no symbol */
export async function answerStockBatch(
  call: ReadRequest,
  services: StockServices,
  ofAll = false,
): Promise<Answer> {
  if (selectFormat(call) !== 'json') refuse('format', 'must be json in a batch: its types differ');
  const requestedSymbol = normalizeSymbol(call.path['symbol'] ?? '');
  const market = requestedSymbol === MARKET && !ofAll;
  const names = parseSymbols(market ? (listOf(call.query, 'symbols') ?? []) : [requestedSymbol]);
  const { readableTypes, leftOut } = selectEntitled(parseTypes(call, services), call, services);
  const nowMs = services.clock();
  refuseEmptyFilter(readableTypes, call, nowMs);
  const parts = new Map<Readable, StockPart>();
  const batchParts: StockPart[] = [];
  // Each symbol is returned under its requested name.
  const tickers = await resolveTickers(names, call, services);
  const symbols = [...new Set(tickers)];
  const at = currentMoment(services);
  return unchargedOnFailure(call, services, batchParts, async () => {
    const selectedTypes = readableTypes.filter((one) => hasFilteredAttribute(one, call, nowMs));
    const computed = selectedTypes.flatMap((one) => (one.kind === 'computed' ? [one.type] : []));
    const batch = await computeBatch(call, services, computed, symbols, at);
    for (const one of selectedTypes) {
      if (one.kind === 'nothing') continue;
      const part =
        one.kind === 'loaded'
          ? await readLoadedPart(call, services, { ...one, ofAll }, symbols, at, batchParts)
          : await computePart(call, services, one.type, batch, batchParts);
      parts.set(one, part);
      batchParts.push(part);
      if (one.kind !== 'loaded') continue;
      const rest = await computeFallbackPart(call, services, one.type, {
        part,
        symbols,
        at,
        batchParts,
      });
      if (rest === undefined) continue;
      parts.set(one, rest);
      batchParts.push(rest);
    }
    // Nothing was read, so no symbol can be checked.
    if (call.bodiless) return joinAnswer(call, batchParts, at, 'json', { bytes: new Uint8Array() });
    const returnedSymbols = ofAll
      ? symbols
      : await selectReturned(symbols, batchParts, call, services);
    if (symbols.length === 1 && returnedSymbols.length === 0) throw new Failure('UnknownSymbol');
    const types = readableTypes.map(({ name }) => name);
    const bodies = readableTypes.map((one) => parts.get(one)?.bodies);
    const placeOf = new Map(symbols.map((symbol, place) => [symbol, place]));
    const bytesOf = (type: number, symbol: string): Uint8Array =>
      bodies[type]?.[placeOf.get(symbol) ?? -1]?.bytes ?? buildEmpty(readableTypes[type], symbol);
    const [only = ''] = returnedSymbols;
    const entries = names.flatMap((name, place) => {
      const ticker = tickers[place] ?? name;
      return returnedSymbols.includes(ticker) ? [{ name, ticker }] : [];
    });
    const text = market
      ? joinSymbols(
          entries.map(({ name }) => name),
          types,
          (type, at) => bytesOf(type, entries[at]?.ticker ?? ''),
        )
      : { bytes: joinObject(types.map((name, type) => [name, bytesOf(type, only)])) };
    const missing = leftOut.map(({ name }) => name);
    return joinAnswer(call, batchParts, at, 'json', text, missing);
  });
}

/** @throws Failure NoSymbol. */
function parseSymbols(texts: readonly string[]): readonly string[] {
  const symbols = new Set(texts.map(normalizeSymbol).filter((symbol) => symbol !== ''));
  if (symbols.size === 0) throw new Failure('NoSymbol');
  return [...symbols].slice(0, SYMBOLS_MAX);
}

/** Selects the symbols with records of any type, or that exist. */
async function selectReturned(
  symbols: readonly string[],
  parts: readonly StockPart[],
  call: ReadRequest,
  services: StockServices,
): Promise<readonly string[]> {
  const withRecords = symbols.filter((_, at) => parts.some(({ bodies }) => hasRecords(bodies[at])));
  const withoutRecords = symbols.filter((symbol) => !withRecords.includes(symbol));
  const existing = await findKnownSymbols(withoutRecords, call, services);
  return symbols.filter((symbol) => withRecords.includes(symbol) || existing.has(symbol));
}

const hasRecords = (body: Body | undefined): boolean => body !== undefined && body.objects > 0;

/** A requested type; its name in the caller's spelling names the member of the answer. */
type StockRead =
  | { readonly kind: 'loaded'; readonly name: string; readonly type: StockType }
  | { readonly kind: 'computed'; readonly name: string; readonly type: MarketType }
  /** An existing type without data on this server. */
  | { readonly kind: 'nothing'; readonly name: string };

/** @throws Failure MaxTypes, TypeRequired. */
function parseTypes(
  { query }: ReadRequest,
  { lake }: Pick<ReadServices, 'lake'>,
): readonly StockRead[] {
  const requested = (listOf(query, 'types') ?? []).map((name) => name.trim());
  const names = new Map(requested.toReversed().map((name) => [name.toLowerCase(), name]));
  names.delete('');
  if (names.size > TYPES_MAX) throw new Failure('MaxTypes');
  const types = [...names.values()].toReversed().flatMap((name): readonly StockRead[] => {
    const computed = findComputedType(name, lake);
    if (computed !== undefined) return [{ kind: 'computed', name, type: computed }];
    const type = findServedType(name, lake);
    if (type !== undefined) return [{ kind: 'loaded', name, type }];
    return findEmptyAnswer(name, '') === undefined ? [] : [{ kind: 'nothing', name }];
  });
  if (types.length === 0) throw new Failure('TypeRequired');
  return types;
}

type Readable =
  | (Extract<StockRead, { kind: 'loaded' }> & { readonly dataset: Dataset })
  | Exclude<StockRead, { kind: 'loaded' }>;

/** Selects the types that the caller may read. @throws Failure of the first type if there is none. */
function selectEntitled(
  types: readonly StockRead[],
  call: ReadRequest,
  { lake }: Pick<ReadServices, 'lake'>,
): { readonly readableTypes: readonly Readable[]; readonly leftOut: readonly StockRead[] } {
  const readableTypes: Readable[] = [];
  const leftOut: StockRead[] = [];
  let accessFailure: unknown;
  for (const one of types) {
    try {
      readableTypes.push(checkAccess(one, call, lake));
    } catch (error) {
      if (!(error instanceof Failure && ACCESS_FAILURES.has(error.type))) throw error;
      accessFailure ??= error;
      leftOut.push(one);
    }
  }
  if (readableTypes.length === 0) throw accessFailure;
  return { readableTypes, leftOut };
}

/** @throws Failure if the caller may not read the type. */
function checkAccess(one: StockRead, call: ReadRequest, lake: ReadServices['lake']): Readable {
  if (one.kind === 'loaded') {
    return {
      ...one,
      dataset: findDataset(call.caller, CORE, one.type.dataset, lake),
    };
  }
  if (one.kind === 'computed') selectReadableInputs(one.type, [], call, lake);
  return one;
}

/** Whether a type has at least one of the filter's attributes; one filter applies to several types. */
function hasFilteredAttribute(one: Readable, call: ReadRequest, nowMs: number): boolean {
  const { query } = call;
  const names = listOf(query, 'filter');
  if (one.kind === 'nothing') return true;
  if (one.kind === 'computed')
    return hasFilteredMember(one.type, toTypeRequest(one.type, call, nowMs), names);
  const { properties } = one.dataset.schema;
  return names?.some((name) => Object.hasOwn(properties, name)) ?? true;
}

/** The request of a batch for a type, of no symbol. */
const toTypeRequest = (type: MarketType, { query }: ReadRequest, nowMs: number): TypeRequest =>
  buildTypeRequest('', parseOptions(type, query, false), nowMs);

function refuseEmptyFilter(
  readableTypes: readonly Readable[],
  call: ReadRequest,
  nowMs: number,
): void {
  if (readableTypes.some((one) => hasFilteredAttribute(one, call, nowMs))) return;
  refuse('filter', FILTER_RULE);
}

const buildEmpty = (one: Readable | undefined, symbol: string): Uint8Array => {
  if (one === undefined) return EMPTY;
  if (one.kind === 'nothing') return findEmptyAnswer(one.name, symbol) ?? EMPTY;
  return one.kind === 'loaded' ? renderEmptyLoaded(one.type, symbol) : renderEmptyType(one.type);
};

const EMPTY = Buffer.from('{}');

/** Computes one type for all symbols, with one price and one journal line. */
async function computePart(
  call: ReadRequest,
  services: StockServices,
  type: MarketType,
  { renderBodies, datasets, buildFare, moment, snapshot }: ComputedBatch,
  before: readonly StockPart[],
): Promise<StockPart> {
  let bodies: readonly Body[] = [];
  const run = async (): Promise<{ readonly objects: number }> => {
    bodies = await renderBodies(type);
    refuseOversized(sumLengths([...before.flatMap((part) => part.bodies), ...bodies]));
    return { objects: bodies.reduce((sum, { objects }) => sum + objects, 0) };
  };
  const { result: _counted, ...paid } = await chargePart(
    call,
    services,
    buildFare(type),
    before,
    run,
  );
  return { ...paid, datasets, bodies, snapshot, moment };
}

interface Loaded {
  readonly part: StockPart;
  readonly symbols: readonly string[];
  readonly at: Moment;
  readonly batchParts: readonly StockPart[];
}

/** Computes a loaded type from other inputs for symbols without records, and charges these separately. */
async function computeFallbackPart(
  call: ReadRequest,
  services: StockServices,
  type: StockType,
  { at, batchParts, part, symbols }: Loaded,
): Promise<StockPart | undefined> {
  const fallback = findComputedFallback(type, call, services);
  const withoutRecords = symbols.filter((_, place) => !hasRecords(part.bodies[place]));
  if (fallback === undefined || withoutRecords.length === 0) return undefined;
  const typeRequest = toTypeRequest(fallback, call, services.clock());
  if (!hasFilteredMember(fallback, typeRequest, listOf(call.query, 'filter'))) return undefined;
  const batch = await computeBatch(call, services, [fallback], withoutRecords, at);
  const paid = await computePart(call, services, fallback, batch, batchParts);
  const bodyOf = new Map(withoutRecords.map((symbol, place) => [symbol, paid.bodies[place]]));
  const bodies = symbols.flatMap((symbol, place) => bodyOf.get(symbol) ?? part.bodies[place] ?? []);
  return { ...paid, bodies };
}
