// Several datasets in one request: the answer of each, one after the other (INTERFACE.md 3.5
// "Batch"). What fails for one of them alone is told at the end and never fails the others; what the
// caller may not do, or asks wrongly, fails the request before anything is spent. How parts are paid
// for and become one answer is the same for a batch of the stock door (stock.ts).
import { runSeries } from '../../query/series/series.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { type Body, jsonFraming, type TextFormat } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { Charge } from '../../store/ledger/metering.ts';
import { randomHex } from '../../store/base/random.ts';
import { callerOf, datasetOf } from '../auth/access.ts';
import type { Answer, Call } from '../request/endpoint.ts';
import { FAILURES } from '../request/failures.ts';
import { type Fare, metered, PaidFailure, paidFailure, summed } from './metering.ts';
import { lastMoment, momentNow } from './moments.ts';
import { numberOf, refuse, truthOf } from '../request/parameters.ts';
import { pictureOf } from './pictures.ts';
import { fareOf, formatOf, readDataset, rowsOf, type SeriesServices } from './series.ts';
import { QUERIES_MAX, readSeries } from './seriesParameters.ts';

export async function answerBatch(
  call: Call,
  services: SeriesServices,
  workspace: string,
  ids: readonly string[],
): Promise<Answer> {
  const picture = pictureOf(call.query);
  if (picture !== undefined) refuse('format', `${picture} draws the records of one dataset`);
  const format = formatOf(call);
  if (format === 'arrow' || format === 'parquet' || jsonFraming(format) === undefined) {
    return refuse('format', 'must be json or jsonl with several datasets: their columns differ');
  }
  const given = ['queryId', 'schema'].find((name) => call.query[name] !== undefined);
  if (given !== undefined) refuse(given, 'is not allowed with several datasets');
  const queries = ids.length * (readSeries(call, services.settings.zone).keys?.length ?? 1);
  if (queries > QUERIES_MAX) refuse('key', `and datasets must be at most ${QUERIES_MAX} queries`);
  const caller = callerOf(call.caller);
  const parts: BodyPart[] = [];
  const failures: string[] = [];
  const at = momentNow(services);
  return unchargedOnFailure(call, services, parts, async () => {
    for (const id of ids) {
      try {
        const dataset = datasetOf(caller, workspace, id, services.lake);
        parts.push(await partOf(call, services, dataset, format, at, parts));
      } catch (error) {
        failures.push(told(error, id));
        if (error instanceof PaidFailure) parts.push(failedPart(error, at));
      }
    }
    return answerOf(call, parts, at, format, { bytes: joined(parts, failures, format) });
  });
}

/** What one dataset gave to an answer of several. */
export interface Part {
  /** Those that it was read from. */
  readonly datasets: readonly Dataset[];
  readonly snapshot: number;
  readonly moment: Moment;
  /** Undefined when only the price was asked for. */
  readonly charge: Charge | undefined;
  readonly price: Price;
  /** Undefined of a part that failed: its charge is all there is. */
  readonly fare: Fare | undefined;
  /** Messages that count against `maxMessages`: over data of others what the catalog tells. */
  readonly messagesTold: number;
}

interface BodyPart extends Part {
  readonly body: Body;
}

interface Price {
  readonly messages: number;
  readonly premiumMessages: number;
  readonly objects: number;
}

/**
 * Work that makes an answer of `parts` and fails as a whole: then none of them is charged, but for
 * the least of those that read data of others.
 */
export async function unchargedOnFailure(
  call: Call,
  services: SeriesServices,
  parts: readonly Part[],
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    for (const { charge } of parts) charge?.undelivered();
    // What is asked wrongly is so whatever was read.
    const isAsked = error instanceof Failure && error.type === 'InvalidParameter';
    if (call.environment === 'test' || isAsked) throw error;
    const fares = parts.flatMap(({ fare }) => (fare === undefined ? [] : [fare]));
    throw paidFailure(error, services, callerOf(call.caller), fares);
  }
}

const NOTHING: Body = { objects: 0, bytes: new Uint8Array() };

async function partOf(
  call: Call,
  services: SeriesServices,
  dataset: Dataset,
  format: TextFormat,
  at: Moment,
  before: readonly Part[],
): Promise<BodyPart> {
  const read = await readDataset(call, services, dataset, 'data', { at });
  const { moment, plan, remembered } = read;
  const { snapshot } = plan.table;
  const run = (): Promise<Body> => runSeries(plan, format, services.series, call, remembered);
  const fare = fareOf(call, services, dataset, [read]);
  const { result = NOTHING, ...paid } = await paidFor(call, services, fare, before, run);
  return { ...paid, datasets: [dataset], body: result, snapshot, moment };
}

interface Paid<T> extends Omit<Part, 'datasets' | 'snapshot' | 'moment'> {
  /** Undefined when only the price was asked for. */
  readonly result?: T;
}

/**
 * Reads one dataset's part of an answer of several, at its own price.
 * @param before the parts before it: `maxMessages` is for all of them
 * @throws Failure as `metered`.
 */
export async function paidFor<T extends { readonly objects: number }>(
  call: Call,
  services: SeriesServices,
  fare: Fare,
  before: readonly Part[],
  run: () => Promise<T>,
): Promise<Paid<T>> {
  const caller = callerOf(call.caller);
  const most = numberOf(call.query, 'maxMessages');
  const left = most === undefined ? {} : { maxMessages: Math.max(0, most - costOf(before)) };
  const within = { ...call, query: { ...call.query, ...left } };
  // A line of the journal is told by its request: those of one request must differ.
  const requestId = before.length === 0 ? call.requestId : `${call.requestId}.${before.length + 1}`;
  const own = { ...fare, order: { ...fare.order, requestId } };
  const { least, most: objectsMost, told, order } = own;
  const messagesTold =
    told === undefined ? undefined : Math.min(objectsMost, told()) * order.weight;
  const of = { fare: least === 0 ? undefined : own, charge: undefined };
  try {
    const metering = await metered(within, services, caller, own, run);
    if (metering.kind === 'unread') return { ...of, price: FREE, messagesTold: 0 };
    if (metering.kind === 'estimate') {
      return { ...of, price: metering.price, messagesTold: 0 };
    }
    const { charge, result } = metering;
    const { messages, premium: premiumMessages } = charge;
    const price = { messages, premiumMessages, objects: result.objects };
    return {
      ...of,
      result,
      charge,
      price,
      messagesTold: messagesTold ?? messages + premiumMessages,
    };
  } catch (error) {
    if (!(error instanceof Failure) || error.type !== 'PriceTooHigh') throw error;
    throw new Failure('PriceTooHigh', `"maxMessages" is ${most}, and the datasets cost more`);
  }
}

const FREE: Price = { messages: 0, premiumMessages: 0, objects: 0 };

const costOf = (parts: readonly Part[]): number =>
  parts.reduce((sum, { messagesTold }) => sum + messagesTold, 0);

/** What failed for one dataset and costs: its charge goes with the rest of the answer. */
function failedPart({ charge }: PaidFailure, moment: Moment): BodyPart {
  const price = { messages: charge.messages, premiumMessages: charge.premium, objects: 0 };
  const messagesTold = price.messages + price.premiumMessages;
  const nothing = { body: NOTHING, snapshot: 0, moment, fare: undefined, datasets: [] };
  return { ...nothing, charge, price, messagesTold };
}

/** The sentence for one dataset that failed; what concerns the whole request is thrown again. */
function told(error: unknown, id: string): string {
  const failure = error instanceof Failure ? error : new Failure('SystemError');
  const { status, text } = FAILURES[failure.type];
  if (failure.type === 'NotFound') return `${text}: ${id.slice(0, 128)}`;
  if (status < 500 && status !== 413) throw error;
  return `internal error occurred, code ${randomHex(7).toUpperCase()}`;
}

/** The answer of all parts, or what they cost; `at` is the moment that it was begun at. */
export function answerOf(
  call: Call,
  parts: readonly Part[],
  at: Moment,
  format: TextFormat,
  made: Pick<Body, 'bytes' | 'pieces'>,
  leftOut: readonly string[] = [],
): Answer {
  const snapshot = Math.max(0, ...parts.map((part) => part.snapshot));
  const datasets = parts.flatMap((part) => part.datasets);
  if (call.bodiless) {
    return { kind: 'unread', format, snapshot, moment: at, tag: undefined, datasets };
  }
  if (truthOf(call.query, 'estimate')) return priceOf(parts);
  const charges = parts.flatMap(({ charge }) => (charge === undefined ? [] : [charge]));
  const objects = parts.reduce((sum, { price }) => sum + price.objects, 0);
  return rowsOf(call, {
    body: { objects, ...made },
    format,
    snapshot,
    moment: parts.length === 0 ? at : lastMoment(parts.map(({ moment }) => moment)),
    tag: undefined,
    charge: summed(charges),
    datasets,
    leftOut,
  });
}

function priceOf(parts: readonly Part[]): Answer {
  const sum = (member: keyof Price): number =>
    parts.reduce((total, { price }) => total + price[member], 0);
  const value = {
    messages: sum('messages'),
    premiumMessages: sum('premiumMessages'),
    objects: sum('objects'),
  };
  return { kind: 'json', value, metering: 'free' };
}

function joined(
  parts: readonly BodyPart[],
  failures: readonly string[],
  format: TextFormat,
): Uint8Array {
  const errors = failures.map((text) => JSON.stringify({ _system_error: text }));
  const bodies = parts.filter(({ body }) => body.objects > 0).map(({ body }) => body.bytes);
  return jsonFraming(format) === 'json' ? joinArrays(bodies, errors) : joinLines(bodies, errors);
}

function joinArrays(arrays: readonly Uint8Array[], errors: readonly string[]): Uint8Array {
  const inner = arrays.map((bytes) => bytes.subarray(1, -1));
  const all = [...inner, ...errors.map((text) => Buffer.from(text))];
  const comma = Buffer.from(',');
  const pieces = all.flatMap((bytes, at) => (at === 0 ? [bytes] : [comma, bytes]));
  return Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')]);
}

const joinLines = (bodies: readonly Uint8Array[], errors: readonly string[]): Uint8Array =>
  Buffer.concat([...bodies, ...errors.map((text) => Buffer.from(`${text}\n`))]);
