// Several types of one symbol, or by the word `market` of several symbols (SPEC.md "Batch"). What a symbol,
// or a right to one type, lacks never fails the rest.
import { type ComputedBatch, computedBatch } from '../market/batch.ts';
import {
  computedType,
  filterLeavesOf,
  LACKING,
  nothingOfType,
  readableFor,
} from '../market/market.ts';
import type { MarketType } from '../../market/types/marketTypes.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Body } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import { callerOf, datasetOf } from '../auth/access.ts';
import { answerOf, paidFor, unchargedOnFailure } from '../read/batch.ts';
import type { Answer, Call, Services } from '../request/endpoint.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import { momentNow } from '../read/moments.ts';
import { listOf, refuse } from '../request/parameters.ts';
import { formatOf } from '../read/series.ts';
import { knownOf, type StockServices, symbolOf } from './knownSymbols.ts';
import { loadedPart, nothingOf, type StockPart } from './loaded.ts';
import { lengthOfAll, refuseLong } from './loadedReads.ts';
import { nothingNamed } from './nothing.ts';
import { asObject, textOfSymbols } from './objectText.ts';
import { tickersOf } from './symbology.ts';
import { MARKET, servedType, type StockType } from './stockTypes.ts';
import { otherwise } from './toldOtherwise.ts';

/** SPEC.md "Limits". */
const TYPES_MAX = 10;
const SYMBOLS_MAX = 100;

/** @param ofAll types of the whole market, which have no symbol */
export async function answerStockBatch(
  call: Call,
  services: StockServices,
  ofAll = false,
): Promise<Answer> {
  if (formatOf(call) !== 'json') refuse('format', 'must be json in a batch: its types differ');
  const named = symbolOf(call.path['symbol'] ?? '');
  const market = named === MARKET && !ofAll;
  const names = symbolsOf(market ? (listOf(call.query, 'symbols') ?? []) : [named]);
  const { asked, leftOut } = entitledTo(typesOf(call, services), call, services);
  refuseEmptyFilter(asked, call);
  const parts = new Map<Readable, StockPart>();
  const made: StockPart[] = [];
  // Each is answered by the name that it was asked by.
  const tickers = await tickersOf(names, call, services);
  const symbols = [...new Set(tickers)];
  const at = momentNow(services);
  return unchargedOnFailure(call, services, made, async () => {
    const wanted = asked.filter((one) => filterLeaves(one, call));
    const computed = wanted.flatMap((one) => (one.kind === 'computed' ? [one.type] : []));
    const together = await computedBatch(call, services, computed, symbols, at);
    for (const one of wanted) {
      if (one.kind === 'nothing') continue;
      const part =
        one.kind === 'loaded'
          ? await loadedPart(call, services, { ...one, ofAll }, symbols, at, made)
          : await computedPart(call, services, one.type, together, made);
      parts.set(one, part);
      made.push(part);
      if (one.kind !== 'loaded') continue;
      const rest = await besidesPart(call, services, one.type, { part, symbols, at, made });
      if (rest === undefined) continue;
      parts.set(one, rest);
      made.push(rest);
    }
    // Nothing was read: nothing is known of any symbol.
    if (call.bodiless) return answerOf(call, made, at, 'json', { bytes: new Uint8Array() });
    const shown = ofAll ? symbols : await shownOf(symbols, made, call, services);
    if (symbols.length === 1 && shown.length === 0) throw new Failure('UnknownSymbol');
    const types = asked.map(({ name }) => name);
    const bodies = asked.map((one) => parts.get(one)?.bodies);
    const placeOf = new Map(symbols.map((symbol, place) => [symbol, place]));
    const bytesOf = (type: number, symbol: string): Uint8Array =>
      bodies[type]?.[placeOf.get(symbol) ?? -1]?.bytes ?? emptyOf(asked[type], symbol);
    const [only = ''] = shown;
    const told = names.flatMap((name, place) => {
      const ticker = tickers[place] ?? name;
      return shown.includes(ticker) ? [{ name, ticker }] : [];
    });
    const text = market
      ? textOfSymbols(
          told.map(({ name }) => name),
          types,
          (type, at) => bytesOf(type, told[at]?.ticker ?? ''),
        )
      : { bytes: asObject(types.map((name, type) => [name, bytesOf(type, only)])) };
    const missing = leftOut.map(({ name }) => name);
    return answerOf(call, made, at, 'json', text, missing);
  });
}

/** @throws Failure NoSymbol. */
function symbolsOf(texts: readonly string[]): readonly string[] {
  const symbols = new Set(texts.map(symbolOf).filter((symbol) => symbol !== ''));
  if (symbols.size === 0) throw new Failure('NoSymbol');
  return [...symbols].slice(0, SYMBOLS_MAX);
}

/** Those that any type has something of, or that are known at all. */
async function shownOf(
  symbols: readonly string[],
  parts: readonly StockPart[],
  call: Call,
  services: StockServices,
): Promise<readonly string[]> {
  const found = symbols.filter((_, at) => parts.some(({ bodies }) => hasRecords(bodies[at])));
  const silent = symbols.filter((symbol) => !found.includes(symbol));
  const known = await knownOf(silent, call, services);
  return symbols.filter((symbol) => found.includes(symbol) || known.has(symbol));
}

const hasRecords = (body: Body | undefined): boolean => body !== undefined && body.objects > 0;

/** A type as it was asked for: its name in the caller's spelling is its member's. */
type StockRead =
  | { readonly kind: 'loaded'; readonly name: string; readonly type: StockType }
  | { readonly kind: 'computed'; readonly name: string; readonly type: MarketType }
  /** A type that there is, of which this server has nothing. */
  | { readonly kind: 'nothing'; readonly name: string };

/** @throws Failure MaxTypes, TypeRequired. */
function typesOf({ query }: Call, { lake }: Pick<Services, 'lake'>): readonly StockRead[] {
  const given = (listOf(query, 'types') ?? []).map((name) => name.trim());
  const names = new Map(given.toReversed().map((name) => [name.toLowerCase(), name]));
  names.delete('');
  if (names.size > TYPES_MAX) throw new Failure('MaxTypes');
  const asked = [...names.values()].toReversed().flatMap((name): readonly StockRead[] => {
    const computed = computedType(name, lake);
    if (computed !== undefined) return [{ kind: 'computed', name, type: computed }];
    const type = servedType(name, lake);
    if (type !== undefined) return [{ kind: 'loaded', name, type }];
    return nothingNamed(name, '') === undefined ? [] : [{ kind: 'nothing', name }];
  });
  if (asked.length === 0) throw new Failure('TypeRequired');
  return asked;
}

type Readable =
  | (Extract<StockRead, { kind: 'loaded' }> & { readonly dataset: Dataset })
  | Exclude<StockRead, { kind: 'loaded' }>;

/** The types that the caller may read. @throws Failure of the first one when there is none. */
function entitledTo(
  types: readonly StockRead[],
  call: Call,
  { lake }: Pick<Services, 'lake'>,
): { readonly asked: readonly Readable[]; readonly leftOut: readonly StockRead[] } {
  const asked: Readable[] = [];
  const leftOut: StockRead[] = [];
  let lacking: unknown;
  for (const one of types) {
    try {
      asked.push(entitled(one, call, lake));
    } catch (error) {
      if (!(error instanceof Failure && LACKING.has(error.type))) throw error;
      lacking ??= error;
      leftOut.push(one);
    }
  }
  if (asked.length === 0) throw lacking;
  return { asked, leftOut };
}

/** @throws Failure of what the caller lacks. */
function entitled(one: StockRead, call: Call, lake: Services['lake']): Readable {
  if (one.kind === 'loaded') {
    return { ...one, dataset: datasetOf(callerOf(call.caller), CORE, one.type.dataset, lake) };
  }
  if (one.kind === 'computed') readableFor(one.type, [], call, lake);
  return one;
}

/** Whether a type has any of the attributes to answer; one filter serves several types. */
function filterLeaves(one: Readable, { query }: Call): boolean {
  const names = listOf(query, 'filter');
  if (one.kind === 'nothing') return true;
  if (one.kind === 'computed') return filterLeavesOf(one.type, names);
  const { properties } = one.dataset.schema;
  return names?.some((name) => Object.hasOwn(properties, name)) ?? true;
}

function refuseEmptyFilter(asked: readonly Readable[], call: Call): void {
  if (asked.some((one) => filterLeaves(one, call))) return;
  refuse('filter', 'names no attribute of these records');
}

const emptyOf = (one: Readable | undefined, symbol: string): Uint8Array => {
  if (one === undefined) return EMPTY;
  if (one.kind === 'nothing') return nothingNamed(one.name, symbol) ?? EMPTY;
  return one.kind === 'loaded' ? nothingOf(one.type, symbol) : nothingOfType(one.type);
};

const EMPTY = Buffer.from('{}');

/** All symbols of one computed type: one price, one line of the journal. */
async function computedPart(
  call: Call,
  services: StockServices,
  type: MarketType,
  { bodiesOf, datasets, fareOf, moment, snapshot }: ComputedBatch,
  before: readonly StockPart[],
): Promise<StockPart> {
  let bodies: readonly Body[] = [];
  const run = async (): Promise<{ readonly objects: number }> => {
    bodies = await bodiesOf(type);
    refuseLong(lengthOfAll([...before.flatMap((part) => part.bodies), ...bodies]));
    return { objects: bodies.reduce((sum, { objects }) => sum + objects, 0) };
  };
  const { result: _counted, ...paid } = await paidFor(call, services, fareOf(type), before, run);
  return { ...paid, datasets, bodies, snapshot, moment };
}

interface Loaded {
  readonly part: StockPart;
  readonly symbols: readonly string[];
  readonly at: Moment;
  readonly made: readonly StockPart[];
}

/** With symbols of which a type has nothing loaded, told from other inputs: these are paid here. */
async function besidesPart(
  call: Call,
  services: StockServices,
  type: StockType,
  { at, made, part, symbols }: Loaded,
): Promise<StockPart | undefined> {
  const other = otherwise(type, call, services);
  const silent = symbols.filter((_, place) => !hasRecords(part.bodies[place]));
  if (other === undefined || silent.length === 0) return undefined;
  if (!filterLeavesOf(other, listOf(call.query, 'filter'))) return undefined;
  const together = await computedBatch(call, services, [other], silent, at);
  const paid = await computedPart(call, services, other, together, made);
  const bodyOf = new Map(silent.map((symbol, place) => [symbol, paid.bodies[place]]));
  const bodies = symbols.flatMap((symbol, place) => bodyOf.get(symbol) ?? part.bodies[place] ?? []);
  return { ...paid, bodies };
}
