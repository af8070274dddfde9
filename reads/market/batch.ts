// Computes the types of a batch: cached answers, and one plan and one read for all others.
import type { Need } from '../../market/types/typeRequest.ts';
import type { MarketType } from '../../market/types/marketTypes.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Body } from '../../store/duckdb/protocol.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { Fare } from '../answer/metering.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { type AnswerRequest, cacheAnswer, findAnswer, toAnswerItem } from './answerCache.ts';
import { computeAnswers, requireAnswer } from './answers.ts';
import type { ComputedAnswer } from './answerTask.ts';
import { findMaxDelayMs, selectReadableInputs } from './market.ts';
import { buildTypeRequest, parseOptions, refuseContradictions } from './options.ts';
import { buildTypeFare, countMaxObjects } from './pricing.ts';
import { type MarketServices, planNeeds, type ReadableInputs } from './inputReads.ts';

export interface ComputedBatch {
  readonly snapshot: number;
  readonly moment: Moment;
  /** All datasets that are read for the answer. */
  readonly datasets: readonly Dataset[];
  readonly buildFare: (type: MarketType) => Fare;
  /** The answer of a type for each symbol, in the order of the symbols. */
  readonly renderBodies: (type: MarketType) => Promise<readonly Body[]>;
}

/** One type for all symbols, with the answers that are cached. */
interface TypeBatch {
  readonly requests: readonly AnswerRequest[];
  readonly cachedAnswers: ReadonlyMap<AnswerRequest, NonNullable<ReturnType<typeof findAnswer>>>;
}

export async function computeBatch(
  call: ReadRequest,
  services: MarketServices,
  types: readonly MarketType[],
  symbols: readonly string[],
  at: Moment,
): Promise<ComputedBatch> {
  const nowMs = services.clock();
  const { caller } = call;
  const all = new Map(
    types.map((type) => [type, buildTypeBatch(type, symbols, call, services, nowMs)] as const),
  );
  const readable = mergeReadable([...all.values()].flatMap(({ requests }) => requests.slice(0, 1)));
  const tableIds = [...readable.values()].map(({ tableId }) => tableId);
  const stamps = services.market.stampsOf(tableIds, services);
  const uncachedRequests = [...all.values()].flatMap(({ requests, cachedAnswers }) =>
    requests.filter((one) => !cachedAnswers.has(one)),
  );
  const needs = uncachedRequests.flatMap(({ typeRequest, requestedType }) =>
    requestedType.needs(typeRequest),
  );
  const planned = await planNeeds(call, services, readable, needs, at);
  const cached = [...all.values()].flatMap((batch) => [...batch.cachedAnswers.values()]);
  const snapshot = Math.max(planned.snapshot, ...cached.map((answer) => answer.snapshot));
  let pendingAnswers: Promise<readonly ComputedAnswer[]> | undefined;
  const answerOne = async (one: AnswerRequest, batch: TypeBatch): Promise<Body> => {
    const before = batch.cachedAnswers.get(one);
    if (before !== undefined) return before.body;
    pendingAnswers ??= computeAnswers(call, services, planned, uncachedRequests.map(toAnswerItem));
    const computed = (await pendingAnswers)[uncachedRequests.indexOf(one)];
    const { steadyUntilMs, ...body } = requireAnswer(computed);
    const most = countMaxObjects(one.requestedType, [one.typeRequest], planned, true);
    const answer = { body, snapshot: planned.snapshot, tag: undefined, most, steadyUntilMs };
    cacheAnswer(one, answer, stamps);
    return body;
  };
  return {
    snapshot,
    moment: planned.moment,
    datasets: [...readable.values()],
    buildFare: (type) => {
      const batch = all.get(type) ?? NONE;
      const typeRequests = batch.requests.map(({ typeRequest }) => typeRequest);
      const uncached = batch.requests
        .filter((one) => !batch.cachedAnswers.has(one))
        .map(({ typeRequest }) => typeRequest);
      const most = (foreign: boolean): number =>
        countCachedObjects(batch, foreign) + countMaxObjects(type, uncached, planned, foreign);
      return buildTypeFare(call, caller, type, typeRequests, most, readable, services);
    },
    renderBodies: async (type) => {
      const batch = all.get(type) ?? NONE;
      const bodies: Body[] = [];
      for (const one of batch.requests) bodies.push(await answerOne(one, batch));
      return bodies;
    },
  };
}

const NONE: TypeBatch = { requests: [], cachedAnswers: new Map() };

function buildTypeBatch(
  type: MarketType,
  symbols: readonly string[],
  call: ReadRequest,
  services: MarketServices,
  nowMs: number,
): TypeBatch {
  const options = parseOptions(type, call.query, false);
  refuseContradictions(type, options);
  // The needs of a type differ between symbols only in the key.
  const readable = selectReadableInputs(
    type,
    type.needs(buildTypeRequest('', options, nowMs)),
    call,
    services.lake,
  );
  const untilMs = nowMs - findMaxDelayMs(call.caller, readable, services.lake);
  const requests = symbols.map((symbol): AnswerRequest => ({
    call,
    services,
    requestedType: type,
    typeRequest: buildTypeRequest(symbol, options, nowMs, untilMs),
    readable,
    format: 'json',
  }));
  const cached = requests.flatMap((one) => {
    const answer = findAnswer(one);
    return answer === undefined ? [] : [[one, answer] as const];
  });
  return { requests, cachedAnswers: new Map(cached) };
}

function mergeReadable(requests: readonly AnswerRequest[]): ReadableInputs {
  const all = new Map<Need['input'], Dataset>();
  for (const { readable } of requests) {
    for (const [input, dataset] of readable) all.set(input, dataset);
  }
  return all;
}

const countCachedObjects = ({ cachedAnswers }: TypeBatch, foreign: boolean): number =>
  [...cachedAnswers.values()].reduce(
    (sum, { body, most }) => sum + (foreign ? most : body.objects),
    0,
  );
