// Types whose answers are loaded: the records of one dataset of CORE, read and charged as every series is.
import { runSeries } from '../../query/series/series.ts';
import { CORE, type Dataset } from '../../store/datasets/datasets.ts';
import type { Body } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Moment } from '../../store/history/history.ts';
import { callerOf, datasetOf } from '../auth/access.ts';
import { paidFor, type Part } from '../read/batch.ts';
import { lastMoment } from '../read/moments.ts';
import { answerSeries, fareOf, readDataset } from '../read/series.ts';
import type { Answer, Call, Services } from '../request/endpoint.ts';
import { refuseUnknown, type StockServices } from './knownSymbols.ts';
import { type Asking, recordsOf, refuseUseless, withPart } from './stockParameters.ts';
import type { StockType } from './stockTypes.ts';

/** One type of one symbol. */
export async function answerLoaded(
  given: Call,
  services: StockServices,
  type: StockType,
  symbol: string,
): Promise<Answer> {
  const call = { ...given, query: withPart(type, given.path['part'], given.query) };
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

/** A type's part of a batch. */
export interface StockPart extends Part {
  /** Of each symbol, in their order: the type's answer, `{}` or `[]` where it has no records. */
  readonly bodies: readonly Body[];
}

/** All symbols of one type: one price, one line of the journal. */
export async function loadedPart(
  call: Call,
  services: StockServices,
  { dataset, type }: { readonly dataset: Dataset; readonly type: StockType },
  symbols: readonly string[],
  at: Moment,
  before: readonly StockPart[],
): Promise<StockPart> {
  const records = recordsOf(type, dataset, askingOf(call, services, false));
  const reads = await Promise.all(
    symbols.map((symbol) => {
      const own = { ...records, keys: [symbol] };
      return readDataset(call, services, dataset, 'data', { own, at });
    }),
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
  const shaped = bodies.map((body, at) => {
    const bytes = shapedAs(type, symbols[at] ?? '', body);
    return { objects: body.objects, bytes };
  });
  return { ...paid, bodies: shaped, snapshot, moment };
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
    refuseLong(lengthBefore + lengthOf(bodies));
  }
  return bodies;
}

/** @throws Failure TooLarge. */
export function refuseLong(bytes: number): void {
  if (bytes <= BYTES_MAX) return;
  throw new Failure('TooLarge', `the answer is over ${BYTES_MAX} bytes: ask for less of it`);
}

export const lengthOf = (bodies: readonly Body[]): number =>
  bodies.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);

const askingOf = (
  { caller, query }: Call,
  { settings }: Pick<Services, 'settings'>,
  alone: boolean,
): Asking => ({
  query,
  alone,
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

/** Members as an object: values are JSON already, and stay as they are to the last digit. */
export function asObject(
  members: readonly (readonly [name: string, value: Uint8Array])[],
): Uint8Array {
  const pieces = members.flatMap(([name, value], at) => [
    Buffer.from(`${at === 0 ? '' : ','}${JSON.stringify(name)}:`),
    value,
  ]);
  return Buffer.concat([Buffer.from('{'), ...pieces, Buffer.from('}')]);
}

/** What a type answers for a symbol of which it has nothing. */
export const nothingOf = (type: StockType, symbol: string): Uint8Array =>
  shapedAs(type, symbol, { objects: 0, bytes: Buffer.from('[]') });
