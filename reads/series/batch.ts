// Answers several datasets in one request, one after the other (INTERFACE.md 3.5 "Batch"). A failure of one
// dataset is reported at the end and does not fail the others. A request that is invalid or not allowed fails
// before anything is spent. Batches of the stock endpoints (stock.ts) charge and join parts the same way.
import { runSeries } from '../../query/series/series.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { type Body, jsonFraming, type TextFormat } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { Charge } from '../../store/ledger/metering.ts';
import { randomHex } from '../../store/base/random.ts';
import { findDataset } from '../rights/access.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { FAILURES } from '../request/failures.ts';
import {
  type Fare,
  meterCall,
  PaidFailure,
  toPaidFailure,
  sumCharges,
} from '../answer/metering.ts';
import { latestMoment, currentMoment } from './moments.ts';
import { numberOf, refuse, truthOf } from '../request/parameters.ts';
import { parseChartFormat } from '../answer/charts.ts';
import { buildFare, readDataset, type SeriesServices } from './series.ts';
import { selectFormat } from '../answer/format.ts';
import { buildRowsAnswer } from '../answer/answerReading.ts';
import { QUERIES_MAX, parseSeries } from './queryParameters.ts';
import { exclusionRule } from '../../store/base/valueRules.ts';

export async function answerBatch(
  call: ReadRequest,
  services: SeriesServices,
  workspace: string,
  ids: readonly string[],
): Promise<Answer> {
  const picture = parseChartFormat(call.query);
  if (picture !== undefined) refuse('format', `${picture} renders the records of one dataset`);
  const format = selectFormat(call);
  if (format === 'arrow' || format === 'parquet' || jsonFraming(format) === undefined) {
    return refuse('format', 'must be json or jsonl with several datasets: their columns differ');
  }
  const unsupported = ['queryId', 'schema'].find((name) => call.query[name] !== undefined);
  if (unsupported !== undefined) refuse(unsupported, exclusionRule('several datasets'));
  const queries = ids.length * (parseSeries(call, services.settings.zone).keys?.length ?? 1);
  if (queries > QUERIES_MAX) refuse('key', `and datasets must be at most ${QUERIES_MAX} queries`);
  const { caller } = call;
  const parts: BodyPart[] = [];
  const failures: string[] = [];
  const at = currentMoment(services);
  return unchargedOnFailure(call, services, parts, async () => {
    for (const id of ids) {
      try {
        const dataset = findDataset(caller, workspace, id, services.lake);
        parts.push(await readPart(call, services, dataset, format, at, parts));
      } catch (error) {
        failures.push(describeFailure(error, id));
        if (error instanceof PaidFailure) parts.push(failedPart(error, at));
      }
    }
    return joinAnswer(call, parts, at, format, { bytes: joinParts(parts, failures, format) });
  });
}

/** The part of one dataset in an answer of several. */
export interface Part {
  /** The datasets that it was read from. */
  readonly datasets: readonly Dataset[];
  readonly snapshot: number;
  readonly moment: Moment;
  /** Undefined when only the price was requested. */
  readonly charge: Charge | undefined;
  readonly price: Price;
  /** Undefined for a failed part, which has only a charge. */
  readonly fare: Fare | undefined;
  /** Messages counted against `maxMessages`: over data of others the bound of the catalog. */
  readonly countedMessages: number;
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
 * Runs work that builds an answer of `parts`. If it fails, no part is charged except the minimum charge of
 * parts that read data of others.
 */
export async function unchargedOnFailure(
  call: ReadRequest,
  services: SeriesServices,
  parts: readonly Part[],
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    for (const { charge } of parts) charge?.cancel();
    // An invalid request is invalid independent of the data read.
    const isInvalidRequest = error instanceof Failure && error.type === 'InvalidParameter';
    if (call.environment === 'test' || isInvalidRequest) throw error;
    const fares = parts.flatMap(({ fare }) => (fare === undefined ? [] : [fare]));
    throw toPaidFailure(error, services, call.caller, fares);
  }
}

const EMPTY_BODY: Body = { objects: 0, bytes: new Uint8Array() };

async function readPart(
  call: ReadRequest,
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
  const fare = buildFare(call, services, dataset, [read]);
  const { result = EMPTY_BODY, ...paid } = await chargePart(call, services, fare, before, run);
  return { ...paid, datasets: [dataset], body: result, snapshot, moment };
}

interface PaidPart<T> extends Omit<Part, 'datasets' | 'snapshot' | 'moment'> {
  /** Undefined when only the price was requested. */
  readonly result?: T;
}

/**
 * Reads one dataset's part of an answer of several, at its own price.
 * @param before the parts before it: `maxMessages` is for all of them
 * @throws Failure as `metered`.
 */
export async function chargePart<T extends { readonly objects: number }>(
  call: ReadRequest,
  services: SeriesServices,
  fare: Fare,
  before: readonly Part[],
  run: () => Promise<T>,
): Promise<PaidPart<T>> {
  const { caller } = call;
  const most = numberOf(call.query, 'maxMessages');
  const left = most === undefined ? {} : { maxMessages: Math.max(0, most - sumMessages(before)) };
  const partCall = { ...call, query: { ...call.query, ...left } };
  // Journal lines are identified by request id: the parts of one request need different ids.
  const requestId = before.length === 0 ? call.requestId : `${call.requestId}.${before.length + 1}`;
  const partFare = { ...fare, order: { ...fare.order, requestId } };
  const { least, most: objectsMost, upperBound, order } = partFare;
  const messageBound =
    upperBound === undefined ? undefined : Math.min(objectsMost, upperBound()) * order.weight;
  const common = { fare: least === 0 ? undefined : partFare, charge: undefined };
  try {
    const metering = await meterCall(partCall, services, caller, partFare, run);
    if (metering.kind === 'unread') return { ...common, price: FREE, countedMessages: 0 };
    if (metering.kind === 'estimate') {
      return { ...common, price: metering.price, countedMessages: 0 };
    }
    const { charge, result } = metering;
    const { messages, premium: premiumMessages } = charge;
    const price = { messages, premiumMessages, objects: result.objects };
    return {
      ...common,
      result,
      charge,
      price,
      countedMessages: messageBound ?? messages + premiumMessages,
    };
  } catch (error) {
    if (!(error instanceof Failure) || error.type !== 'PriceTooHigh') throw error;
    throw new Failure('PriceTooHigh', `"maxMessages" is ${most}, and the datasets cost more`);
  }
}

const FREE: Price = { messages: 0, premiumMessages: 0, objects: 0 };

const sumMessages = (parts: readonly Part[]): number =>
  parts.reduce((sum, { countedMessages }) => sum + countedMessages, 0);

/** Builds the part of a dataset that failed with a charge. */
function failedPart({ charge }: PaidFailure, moment: Moment): BodyPart {
  const price = { messages: charge.messages, premiumMessages: charge.premium, objects: 0 };
  const empty = { body: EMPTY_BODY, snapshot: 0, moment, fare: undefined, datasets: [] };
  return { ...empty, charge, price, countedMessages: price.messages + price.premiumMessages };
}

/** Describes the failure of one dataset; rethrows a failure of the whole request. */
function describeFailure(error: unknown, id: string): string {
  const failure = error instanceof Failure ? error : new Failure('SystemError');
  const { status, text } = FAILURES[failure.type];
  if (failure.type === 'NotFound') return `${text}: ${id.slice(0, 128)}`;
  if (status < 500 && status !== 413) throw error;
  return `internal error occurred, code ${randomHex(7).toUpperCase()}`;
}

/** Builds the answer of all parts, or their price; `at` is the moment when the call began. */
export function joinAnswer(
  call: ReadRequest,
  parts: readonly Part[],
  at: Moment,
  format: TextFormat,
  content: Pick<Body, 'bytes' | 'pieces'>,
  leftOut: readonly string[] = [],
): Answer {
  const snapshot = Math.max(0, ...parts.map((part) => part.snapshot));
  const datasets = parts.flatMap((part) => part.datasets);
  if (call.bodiless) {
    return { kind: 'unread', format, snapshot, moment: at, tag: undefined, datasets };
  }
  if (truthOf(call.query, 'estimate')) return toPriceAnswer(parts);
  const charges = parts.flatMap(({ charge }) => (charge === undefined ? [] : [charge]));
  const objects = parts.reduce((sum, { price }) => sum + price.objects, 0);
  return buildRowsAnswer(call, {
    body: { objects, ...content },
    format,
    snapshot,
    moment: parts.length === 0 ? at : latestMoment(parts.map(({ moment }) => moment)),
    tag: undefined,
    charge: sumCharges(charges),
    datasets,
    leftOut,
  });
}

function toPriceAnswer(parts: readonly Part[]): Answer {
  const sum = (member: keyof Price): number =>
    parts.reduce((total, { price }) => total + price[member], 0);
  const value = {
    messages: sum('messages'),
    premiumMessages: sum('premiumMessages'),
    objects: sum('objects'),
  };
  return { kind: 'json', value, metering: 'free' };
}

function joinParts(
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
