// The stock door (SPEC.md "Batch", "Other stock endpoints"): types of CORE's datasets by symbol, read
// and charged as every series is. What a symbol, or a right to one type, lacks never fails the rest.
import { dayIn } from '../../query/time/dates.ts';
import { runSeries } from '../../query/series/series.ts';
import { CORE, type Dataset } from '../../store/datasets/datasets.ts';
import type { Body } from '../../store/duckdb/protocol.ts';
import type { Moment } from '../../store/history/history.ts';
import { Failure, type FailureType } from '../../store/base/failure.ts';
import { callerOf, datasetOf, readableDatasets } from '../auth/access.ts';
import { answerOf, paidFor, type Part, unchargedOnFailure } from '../read/batch.ts';
import type { Answer, Call, Services } from '../request/endpoint.ts';
import { lastMoment, momentNow } from '../read/moments.ts';
import { listOf, refuse } from '../request/parameters.ts';
import { answerSeries, fareOf, formatOf, readDataset } from '../read/series.ts';
import { type Asking, recordsOf, refuseUseless, withPart } from './stockParameters.ts';
import { servedType, STOCK_TYPES, type StockType } from './stockTypes.ts';

type StockServices = Pick<
  Services,
  'clock' | 'cursors' | 'lake' | 'ledger' | 'pending' | 'series' | 'settings'
>;

/** SPEC.md "Limits". */
const TYPES_MAX = 10;
const SYMBOLS_MAX = 100;

/** One type of one symbol. */
export async function answerStock(given: Call, services: StockServices): Promise<Answer> {
  const { path } = given;
  const symbol = symbolOf(path['symbol'] ?? '');
  if (symbol === '') throw new Failure('NoSymbol');
  const type = servedType(path['type'] ?? '', services.lake);
  if (type === undefined) throw new Failure('NotFound');
  const call = { ...given, query: withPart(type, path['part'], given.query) };
  const dataset = datasetOf(callerOf(call.caller), CORE, type.dataset, services.lake);
  refuseUseless(type, call.query);
  const records = recordsOf(type, dataset, askingOf(call, services, true));
  const dress = async (body: Body, format: string): Promise<Body> => {
    if (body.objects === 0) await refuseUnknown(symbol, call, services);
    return format === 'json' ? { ...body, bytes: shapedAs(type, symbol, body) } : body;
  };
  const parameters = { ...records, keys: [symbol] };
  return answerSeries(call, services, dataset, 'data', { parameters, dress });
}

/** Several types of one symbol, or by the word `market` of several symbols. */
export async function answerStockBatch(call: Call, services: StockServices): Promise<Answer> {
  if (formatOf(call) !== 'json') refuse('format', 'must be json in a batch: its types differ');
  const named = symbolOf(call.path['symbol'] ?? '');
  const market = named === 'MARKET';
  const symbols = symbolsOf(market ? (listOf(call.query, 'symbols') ?? []) : [named]);
  const { asked, leftOut } = entitledTo(typesOf(call, services), call, services);
  refuseEmptyFilter(asked, call);
  const parts: StockPart[] = [];
  const at = momentNow(services);
  return unchargedOnFailure(call, services, parts, async () => {
    for (const one of asked) {
      if (!filterLeaves(one, call)) continue;
      parts.push(await partOf(call, services, one, symbols, at, parts));
    }
    // Nothing was read: nothing is known of any symbol.
    if (call.bodiless) return answerOf(call, parts, at, 'json', NOTHING.bytes);
    const found = symbols.filter((_, at) => parts.some(({ bodies }) => hasRecords(bodies[at])));
    const silent = symbols.filter((symbol) => !found.includes(symbol));
    const known = await knownOf(silent, call, services);
    const shown = symbols.filter((symbol) => found.includes(symbol) || known.has(symbol));
    if (symbols.length === 1 && shown.length === 0) throw new Failure('UnknownSymbol');
    const ofSymbol = (symbol: string): Uint8Array =>
      typesAsJson(asked, symbol, symbols.indexOf(symbol), parts);
    const [only = ''] = shown;
    const bytes = market ? asObject(shown.map((name) => [name, ofSymbol(name)])) : ofSymbol(only);
    const names = leftOut.map(({ name }) => name);
    return answerOf(call, parts, at, 'json', bytes, names);
  });
}

const symbolOf = (text: string): string => text.trim().toUpperCase();

/** @throws Failure NoSymbol. */
function symbolsOf(texts: readonly string[]): readonly string[] {
  const symbols = new Set(texts.map(symbolOf).filter((symbol) => symbol !== ''));
  if (symbols.size === 0) throw new Failure('NoSymbol');
  return [...symbols].slice(0, SYMBOLS_MAX);
}

/** A type as it was asked for: its name in the caller's spelling is its member's. */
interface StockRead {
  readonly name: string;
  readonly type: StockType;
}

/** @throws Failure MaxTypes, TypeRequired. */
function typesOf({ query }: Call, { lake }: Pick<Services, 'lake'>): readonly StockRead[] {
  const given = (listOf(query, 'types') ?? []).map((name) => name.trim());
  const names = new Map(given.toReversed().map((name) => [name.toLowerCase(), name]));
  names.delete('');
  if (names.size > TYPES_MAX) throw new Failure('MaxTypes');
  const asked = [...names.values()].toReversed().flatMap((name): readonly StockRead[] => {
    const type = servedType(name, lake);
    return type === undefined ? [] : [{ name, type }];
  });
  if (asked.length === 0) throw new Failure('TypeRequired');
  return asked;
}

interface Readable extends StockRead {
  readonly dataset: Dataset;
}

/** What a caller lacks for a dataset, whatever it asks of it. */
const LACKING: ReadonlySet<FailureType> = new Set<FailureType>([
  'Restricted',
  'FreeTierNotAllowed',
  'TierNotAllowed',
  'EnterprisePermissionRequired',
]);

/** The types that the caller may read. @throws Failure of the first one when there is none. */
function entitledTo(
  types: readonly StockRead[],
  { caller }: Call,
  { lake }: Pick<Services, 'lake'>,
): { readonly asked: readonly Readable[]; readonly leftOut: readonly StockRead[] } {
  const asked: Readable[] = [];
  const leftOut: StockRead[] = [];
  let lacking: unknown;
  for (const one of types) {
    try {
      asked.push({ ...one, dataset: datasetOf(callerOf(caller), CORE, one.type.dataset, lake) });
    } catch (error) {
      if (!(error instanceof Failure && LACKING.has(error.type))) throw error;
      lacking ??= error;
      leftOut.push(one);
    }
  }
  if (asked.length === 0) throw lacking;
  return { asked, leftOut };
}

/** Whether a type has any of the attributes to answer; one filter serves several types. */
function filterLeaves({ dataset }: Readable, { query }: Call): boolean {
  const { properties } = dataset.schema;
  return listOf(query, 'filter')?.some((name) => Object.hasOwn(properties, name)) ?? true;
}

function refuseEmptyFilter(asked: readonly Readable[], call: Call): void {
  if (asked.some((one) => filterLeaves(one, call))) return;
  refuse('filter', 'names no attribute of these records');
}

interface StockPart extends Part {
  readonly asked: Readable;
  /** Of each symbol, in their order. */
  readonly bodies: readonly Body[];
}

/** All symbols of one type: one price, one line of the journal. */
async function partOf(
  call: Call,
  services: StockServices,
  asked: Readable,
  symbols: readonly string[],
  at: Moment,
  before: readonly StockPart[],
): Promise<StockPart> {
  const { dataset, type } = asked;
  const records = recordsOf(type, dataset, askingOf(call, services, false));
  const reads = await Promise.all(
    symbols.map((symbol) =>
      readDataset(call, services, dataset, 'data', {
        own: { ...records, keys: [symbol] },
        at,
      }),
    ),
  );
  let bodies: readonly Body[] = [];
  const run = async (): Promise<{ readonly objects: number }> => {
    bodies = await readAll(reads, call, services, lengthOf(before.flatMap((part) => part.bodies)));
    return { objects: bodies.reduce((sum, { objects }) => sum + objects, 0) };
  };
  const fare = fareOf(call, services, dataset, reads);
  const { result: _counted, ...paid } = await paidFor(call, services, fare, before, run);
  const snapshot = Math.max(...reads.map(({ plan }) => plan.table.snapshot));
  const moment = lastMoment(reads.map((read) => read.moment));
  return { ...paid, asked, bodies, snapshot, moment };
}

type Read = Awaited<ReturnType<typeof readDataset>>;

/** Reads of one call that run beside each other: others wait for the same processes. */
const READS_AT_ONCE = 8;

/** An answer is made in memory: it has no more bytes than that of one dataset may have. */
const BYTES_MAX = 64 * 1024 ** 2;

async function readAll(
  reads: readonly Read[],
  call: Call,
  { series }: Pick<Services, 'series'>,
  lengthBefore: number,
): Promise<readonly Body[]> {
  const bodies: Body[] = [];
  for (let from = 0; from < reads.length; from += READS_AT_ONCE) {
    const some = reads.slice(from, from + READS_AT_ONCE);
    const read = ({ plan, remembered }: Read): Promise<Body> =>
      runSeries(plan, 'json', series, call, remembered);
    bodies.push(...(await Promise.all(some.map(read))));
    if (lengthBefore + lengthOf(bodies) > BYTES_MAX) {
      throw new Failure('TooLarge', `the answer is over ${BYTES_MAX} bytes: ask for less of it`);
    }
  }
  return bodies;
}

const lengthOf = (bodies: readonly Body[]): number =>
  bodies.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);

const hasRecords = (body: Body | undefined): boolean => body !== undefined && body.objects > 0;

/** @throws Failure UnknownSymbol. */
async function refuseUnknown(symbol: string, call: Call, services: StockServices): Promise<void> {
  const known = await knownOf([symbol], call, services);
  if (!known.has(symbol)) throw new Failure('UnknownSymbol');
}

const SERVING: ReadonlySet<string> = new Set(STOCK_TYPES.map(({ dataset }) => dataset));

/** Those of the symbols that any of the door's datasets has, among those that the caller reads. */
async function knownOf(
  symbols: readonly string[],
  call: Call,
  services: StockServices,
): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  const { asOf } = call.query;
  const bare = { ...call, path: {}, query: asOf === undefined ? {} : { asOf } };
  const readable =
    symbols.length === 0 ? [] : readableDatasets(callerOf(call.caller), services.lake, CORE);
  for (const dataset of readable.filter(({ dataset: id }) => SERVING.has(id.toUpperCase()))) {
    const { key } = dataset.mapping;
    const keys = symbols.filter((symbol) => !known.has(symbol));
    if (key === undefined || keys.length === 0) continue;
    const wanted = { keys, last: 1, filter: [key] };
    const { plan, remembered } = await readDataset(bare, services, dataset, 'data', {
      own: wanted,
    });
    const { bytes } = await runSeries(plan, 'json', services.series, call, remembered);
    const records = JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly object[];
    for (const record of records) known.add(String(new Map(Object.entries(record)).get(key)));
  }
  return known;
}

const askingOf = (
  { caller, query }: Call,
  { clock, settings }: Pick<Services, 'clock' | 'settings'>,
  alone: boolean,
): Asking => ({
  query,
  alone,
  today: dayIn(clock(), settings.zone),
  zone: settings.zone,
  rowsMax: callerOf(caller).tier.rowsMax,
});

/** A type's records of one symbol in the shape of its type; what has none is `{}` or `[]`. */
function shapedAs(type: StockType, symbol: string, { bytes, objects }: Body): Uint8Array {
  const within = type.shape === 'newest' ? type.within : undefined;
  if (type.shape !== 'record' && within === undefined) return bytes;
  if (objects === 0) return Buffer.from('{}');
  if (type.shape === 'record') return bytes.subarray(1, -1);
  return asObject([
    ['symbol', Buffer.from(JSON.stringify(symbol))],
    [within ?? '', bytes],
  ]);
}

const NOTHING: Body = { objects: 0, bytes: Buffer.from('[]') };

/** Of one symbol, the answer of each type. */
function typesAsJson(
  asked: readonly Readable[],
  symbol: string,
  at: number,
  parts: readonly StockPart[],
): Uint8Array {
  const bodyOf = (one: Readable): Body =>
    parts.find((part) => part.asked === one)?.bodies[at] ?? NOTHING;
  return asObject(asked.map((one) => [one.name, shapedAs(one.type, symbol, bodyOf(one))]));
}

/** Members as an object: values are JSON already, and stay as they are to the last digit. */
function asObject(members: readonly (readonly [name: string, value: Uint8Array])[]): Uint8Array {
  const pieces = members.flatMap(([name, value], at) => [
    Buffer.from(`${at === 0 ? '' : ','}${JSON.stringify(name)}:`),
    value,
  ]);
  return Buffer.concat([Buffer.from('{'), ...pieces, Buffer.from('}')]);
}
