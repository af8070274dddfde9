// Types whose answers are loaded: the records of one dataset of CORE, read and charged as every series is.
import type { SeriesPlan } from '../../query/plan/seriesPlan.ts';
import { dayAt } from '../../market/derive/words.ts';
import { listIn } from '../../market/derive/values.ts';
import { INPUTS } from '../../market/inputs/inputs.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Body } from '../../store/duckdb/protocol.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import { callerOf, datasetOf } from '../auth/access.ts';
import { paidFor, type Part } from '../read/batch.ts';
import { lastMoment } from '../read/moments.ts';
import { answerSeries, fareOf, readDataset } from '../read/series.ts';
import type { Answer, Call, Services } from '../request/endpoint.ts';
import { listOf } from '../request/parameters.ts';
import { refuseUnknown, symbolOf, type StockServices } from './knownSymbols.ts';
import { lengthOfAll, readAll } from './loadedReads.ts';
import { newestDay } from './newestDay.ts';
import { viewOf } from './offeringView.ts';
import { asObject } from './objectText.ts';
import {
  type Asking,
  partsOf,
  type PathParts,
  recordsOf,
  refuseUseless,
  wholeWithout,
} from './stockParameters.ts';
import { isOfMarket, isToldTwice, type StockType } from './stockTypes.ts';

/** Of what comes for some of the market's symbols; further ones are not answered, as in a batch. */
const MARKET_SYMBOLS_MAX = 100;

/** One type of one symbol, or of all of them. */
export async function answerLoaded(
  given: Call,
  services: StockServices,
  type: StockType,
  symbol: string,
): Promise<Answer> {
  const dataset = datasetOf(callerOf(given.caller), CORE, type.dataset, services.lake);
  const isMarket = isOfMarket(type, symbol);
  const told = wholeWithout(dataset, type, partsOf(type, given.path, given.query));
  refuseUseless(type, told.query);
  // Of all symbols those of one day are a list; of one symbol its newest record is.
  const isList = type.shape === 'listed' && isMarket && told.query['on'] === undefined;
  const on = isList ? await newestDay(dataset, given, services) : undefined;
  const parts = on === undefined ? told : { ...told, query: { ...told.query, on } };
  const call = { ...given, query: parts.query };
  const some = isMarket ? listOf(call.query, 'symbols') : undefined;
  const records = recordsOf(type, dataset, { ...askingOf(call, services, true), parts });
  const dress = async (body: Body, format: string): Promise<Body> => {
    if (body.objects === 0 && !isMarket) await refuseUnknown(symbol, call, services);
    if (format !== 'json') return body;
    const bytes = dressed(type, symbol, body, parts);
    const isTwice = some === undefined && isToldTwice(type);
    return { ...body, bytes: isTwice ? toldTwice(bytes, dayAt(services.clock())) : bytes };
  };
  const keys = isMarket ? some?.map(symbolOf).slice(0, MARKET_SYMBOLS_MAX) : [symbol];
  const parameters = keys === undefined || keys.length === 0 ? records : { ...records, keys };
  return answerSeries(call, services, dataset, 'data', { parameters, dress });
}

/** An answer as its path wants it: one value, one record, or as its type is. */
function dressed(
  type: StockType,
  symbol: string,
  body: Body,
  { attribute, isNext }: PathParts,
): Uint8Array {
  if (attribute !== undefined) {
    const [record = {}] = recordsIn(asShown(type, body));
    return Buffer.from(JSON.stringify(Object.values(record)[0] ?? null));
  }
  if (isNext !== true) return shapedAs(type, symbol, body);
  return body.objects === 0 ? Buffer.from('{}') : body.bytes.subarray(1, -1);
}

const recordsIn = ({ bytes }: Pick<Body, 'bytes'>): readonly Readonly<Record<string, unknown>>[] =>
  JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly Readonly<Record<string, unknown>>[];

/** A type's part of a batch. */
export interface StockPart extends Part {
  /** Of each symbol, in their order: the type's answer, `{}` or `[]` where it has no records. */
  readonly bodies: readonly Body[];
}

interface Loaded {
  readonly dataset: Dataset;
  readonly type: StockType;
  /** Of the whole market, by no symbol. */
  readonly ofAll: boolean;
}

/** All symbols of one type: one price, one line of the journal. */
export async function loadedPart(
  call: Call,
  services: StockServices,
  { dataset, ofAll, type }: Loaded,
  symbols: readonly string[],
  at: Moment,
  before: readonly StockPart[],
): Promise<StockPart> {
  const records = recordsOf(type, dataset, askingOf(call, services, false));
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
    const lengthBefore = lengthOfAll(before.flatMap((part) => part.bodies));
    bodies = await readAll({ reads, symbols, join }, call, services, lengthBefore);
    return { objects: bodies.reduce((sum, { objects }) => sum + objects, 0) };
  };
  const fare = fareOf(call, services, dataset, reads);
  const { result: _counted, ...paid } = await paidFor(call, services, fare, before, run);
  const snapshot = Math.max(...reads.map(({ plan }) => plan.table.snapshot));
  const moment = lastMoment(reads.map((read) => read.moment));
  const today = dayAt(services.clock());
  const shaped = bodies.map((body, at) => {
    const bytes = shapedAs(type, symbols[at] ?? '', body);
    return { objects: body.objects, bytes: isToldTwice(type) ? toldTwice(bytes, today) : bytes };
  });
  return { ...paid, datasets: [dataset], bodies: shaped, snapshot, moment };
}

const askingOf = (
  { caller, query }: Call,
  { clock, settings }: Pick<Services, 'clock' | 'settings'>,
  alone: boolean,
): Asking => ({
  query,
  alone,
  today: dayAt(clock()),
  zone: settings.zone,
  rowsMax: callerOf(caller).tier.rowsMax,
});

/** A type's records of one symbol in the shape of its type; what has none is `{}` or `[]`. */
function shapedAs(type: StockType, symbol: string, given: Body): Uint8Array {
  const body = asShown(type, given);
  if (type.shape === 'record' || type.shape === 'day') {
    return body.objects === 0 ? Buffer.from('{}') : body.bytes.subarray(1, -1);
  }
  if (type.shape !== 'newest') return body.bytes;
  const { bare, beside, only, within } = type;
  if (within !== undefined && body.objects === 0) return Buffer.from('{}');
  const records = bare === true ? withoutSymbol(body) : body.bytes;
  const bytes = only === undefined ? records : valuesOf(only, body);
  if (within === undefined) return bytes;
  const members = Object.entries(beside ?? { symbol }).map(
    ([name, value]) => [name, Buffer.from(JSON.stringify(value))] as const,
  );
  return asObject([...members, [within, bytes]]);
}

/** How values of an input's properties are answered where that is not how they stand. */
const SHOWN: ReadonlyMap<string, ReadonlyMap<string, (value: unknown) => unknown>> = new Map(
  INPUTS.map(({ id, properties }) => [
    id,
    new Map(
      properties.flatMap(({ name, type }) => {
        // A list came as a text where its file has no lists: as JSON, or as words with commas between.
        if (type === 'list') return [[name, listIn] as const];
        return type === 'instant' ? [[name, millisecondsIn] as const] : [];
      }),
    ),
  ]),
);

/** Epoch ms of a time; what is none stays as it is. */
function millisecondsIn(value: unknown): unknown {
  const ms = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(ms) ? value : ms;
}

function asShown({ dataset }: StockType, body: Body): Body {
  const shown = SHOWN.get(dataset);
  if (shown === undefined || shown.size === 0 || body.objects === 0) return body;
  const records = recordsIn(body).map((record) =>
    Object.fromEntries(
      Object.entries(record).map(([name, value]) => [name, shown.get(name)?.(value) ?? value]),
    ),
  );
  return { ...body, bytes: Buffer.from(JSON.stringify(records)) };
}

/** The member beside the records tells it. */
function withoutSymbol(body: Body): Uint8Array {
  const rows = recordsIn(body).map((record) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => name.toLowerCase() !== 'symbol')),
  );
  return Buffer.from(JSON.stringify(rows));
}

/** One property of each record; records in another spelling are told by it too. */
function valuesOf(property: string, body: Body): Uint8Array {
  const values = recordsIn(body).map((record) => {
    const name = Object.keys(record).find((one) => one.toLowerCase() === property);
    return name === undefined ? null : record[name];
  });
  return Buffer.from(JSON.stringify(values));
}

/** What a type answers for a symbol of which it has nothing. */
export const nothingOf = (type: StockType, symbol: string): Uint8Array =>
  isToldTwice(type)
    ? Buffer.from('{}')
    : shapedAs(type, symbol, { objects: 0, bytes: Buffer.from('[]') });

/** INTERFACE.md 1 "market": as they are, and as they are to be shown. */
const toldTwice = (bytes: Uint8Array, today: string): Uint8Array =>
  asObject([
    ['rawData', bytes],
    ['viewData', Buffer.from(JSON.stringify(recordsIn({ bytes }).map(viewOf)))],
    ['lastUpdate', Buffer.from(JSON.stringify(today))],
  ]);
