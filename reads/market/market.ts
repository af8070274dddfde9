// Computes one market type of a symbol from CORE's inputs, alone or as a part of a batch.
import type { TypeRequest, Need, Options } from '../../market/types/typeRequest.ts';
import { listFilterMembers } from '../../market/types/example.ts';
import { type MarketType, marketType } from '../../market/types/marketTypes.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import type { Body, BodyFormat } from '../../store/duckdb/protocol.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure, type FailureType } from '../../store/base/failure.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { Lake } from '../../store/lake/lake.ts';
import { findDataset, accessDelayMs } from '../rights/access.ts';
import { meterCall } from '../answer/metering.ts';
import { currentMoment } from '../series/moments.ts';
import { selectFormat } from '../answer/format.ts';
import { buildEtag } from '../answer/etag.ts';
import { answerReading } from '../answer/answerReading.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { listOf, refuse } from '../request/parameters.ts';
import {
  buildTypeRequest,
  parseOptions,
  parsePathParts,
  refuseContradictions,
  refuseUnusedOptions,
} from './options.ts';
import { type AnswerRequest, cacheAnswer, findAnswer, toAnswerItem } from './answerCache.ts';
import { computeAnswers, requireAnswer } from './answers.ts';
import { EMPTY } from './answerTask.ts';
import { resolveAttribute } from './attributes.ts';
import { buildTypeFare, countMaxObjects } from './pricing.ts';
import {
  type MarketServices,
  planNeeds,
  type ReadPlan,
  type ReadableInputs,
} from './inputReads.ts';
import { exclusionRule } from '../../store/base/valueRules.ts';

/** Finds the computed type of a name; undefined if CORE has its answers loaded or none of its inputs. */
export function findComputedType(name: string, { directory }: Lake): MarketType | undefined {
  const type = marketType(name);
  if (type === undefined) return undefined;
  const hasInput = (id: string): boolean => directory.dataset(CORE, id)?.mapping.key !== undefined;
  const loaded = type.loadedAs === undefined ? undefined : directory.dataset(CORE, type.loadedAs);
  if (loaded !== undefined && hasAnswerRecords(loaded)) return undefined;
  return type.of.some(hasInput) ? type : undefined;
}

/** Whether records of a dataset answer the type of its name: the input BOOK stores book changes instead. */
export const hasAnswerRecords = ({ dataset, mapping, schema }: Dataset): boolean =>
  mapping.key !== undefined &&
  !(dataset.toUpperCase() === 'BOOK' && Object.hasOwn(schema.properties, 'side'));

/** Failures of a caller without access to a dataset. */
export const ACCESS_FAILURES: ReadonlySet<FailureType> = new Set<FailureType>([
  'Restricted',
  'FreeTierNotAllowed',
  'TierNotAllowed',
  'EnterprisePermissionRequired',
]);

/**
 * Selects the inputs that the caller may read.
 * @throws Failure of the type's first own input if the caller may read none of its own inputs.
 */
export function selectReadableInputs(
  type: MarketType,
  needs: readonly Need[],
  { caller }: ReadRequest,
  lake: Lake,
): ReadableInputs {
  const readable = new Map<Need['input'], Dataset>();
  let accessFailure: Failure | undefined;
  for (const input of new Set([...type.of, ...needs.map((need) => need.input)])) {
    if (lake.directory.dataset(CORE, input) === undefined) continue;
    try {
      readable.set(input, findDataset(caller, CORE, input, lake));
    } catch (error) {
      if (!(error instanceof Failure && ACCESS_FAILURES.has(error.type))) throw error;
      if (type.of.includes(input)) accessFailure ??= error;
    }
  }
  if (accessFailure !== undefined && !type.of.some((input) => readable.has(input)))
    throw accessFailure;
  return readable;
}

/** Throws for a symbol that does not exist, whose single answer is a failure. */
type RefuseUnknown = (symbol: string, call: ReadRequest) => Promise<void>;

/** Answers one type of one symbol. @param refuseUnknown throws UnknownSymbol */
export async function answerMarket(
  call: ReadRequest,
  services: MarketServices,
  type: MarketType,
  symbol: string,
  refuseUnknown: RefuseUnknown,
): Promise<Answer> {
  const { caller } = call;
  const format = selectFormat(call);
  const parts = parsePathParts(type, call.path['part'], call.path['detail']);
  refuseUnusedOptions(type, call.query);
  if (call.query['listLimit'] !== undefined) refuse('listLimit', exclusionRule(type.name));
  const options = { ...parseOptions(type, call.query, true), ...parts.options };
  refuseContradictions(type, options);
  const nowMs = services.clock();
  const currentRequest = buildPathRequest(
    symbol,
    options,
    nowMs,
    parts.options.range !== undefined,
  );
  const attributedType = resolveAttribute(type, parts.attribute);
  if (!hasFilteredMember(attributedType, currentRequest, listOf(call.query, 'filter')))
    refuse('filter', FILTER_RULE);
  const needs = type.needs(currentRequest);
  const readable = selectReadableInputs(type, needs, call, services.lake);
  const timedRequest = {
    ...currentRequest,
    untilMs: nowMs - findMaxDelayMs(caller, readable, services.lake),
  };
  const request: AnswerRequest = {
    call,
    services,
    requestedType: attributedType,
    typeRequest: timedRequest,
    readable,
    format,
  };
  const planned = findCachedAnswer(request) ?? (await planAnswer(request));
  const fare = buildTypeFare(
    call,
    caller,
    attributedType,
    [timedRequest],
    planned.most,
    readable,
    services,
  );
  const run = async (): Promise<Body> => {
    const body = await planned.body(fare.most);
    if (body.objects === 0) await refuseUnknown(symbol, call);
    return body;
  };
  const { moment, snapshot, tag } = planned;
  return answerReading(call, {
    format,
    snapshot,
    moment,
    tag: tag === undefined ? undefined : buildEtag(call, [tag]),
    datasets: [...readable.values()],
    meter: () => meterCall(call, services, caller, fare, run),
  });
}

/** An answer whose price and version are known before its body is computed. */
interface PlannedAnswer {
  readonly moment: Moment;
  readonly snapshot: number;
  /** Versions of the inputs, and the format; undefined where the answer moves with the clock. */
  readonly tag: string | undefined;
  readonly most: (foreign: boolean) => number;
  readonly body: (most: number) => Promise<Body>;
}

/** Builds an answer from the cache. */
function findCachedAnswer(answerRequest: AnswerRequest): PlannedAnswer | undefined {
  const cached = findAnswer(answerRequest);
  if (cached === undefined) return undefined;
  const { body, most, snapshot, tag } = cached;
  // A batch caches answers without their tags.
  if (tag === undefined && hasTag(answerRequest)) return undefined;
  return {
    snapshot,
    tag,
    moment: currentMoment(answerRequest.services),
    most: (foreign) => (foreign ? most : body.objects),
    body: () => Promise.resolve(body),
  };
}

async function planAnswer(answerRequest: AnswerRequest): Promise<PlannedAnswer> {
  const { typeRequest, call, format, readable, services, requestedType } = answerRequest;
  const needs = requestedType.needs(typeRequest);
  const at = currentMoment(services);
  const tableIds = [...readable.values()].map(({ tableId }) => tableId);
  const stamps = services.market.stampsOf(tableIds, services);
  const planned = await planNeeds(call, services, readable, needs, at);
  const { moment, snapshot } = planned;
  const tag = hasTag(answerRequest) ? buildTag(planned, format) : undefined;
  return {
    moment,
    snapshot,
    tag,
    most: (foreign) => countMaxObjects(requestedType, [typeRequest], planned, foreign),
    body: async (most) => {
      const [computed] = await computeAnswers(call, services, planned, [
        toAnswerItem(answerRequest),
      ]);
      const { steadyUntilMs, ...body } = requireAnswer(computed);
      cacheAnswer(answerRequest, { body, snapshot, tag, most, steadyUntilMs }, stamps);
      return body;
    },
  };
}

/** The longest delay of the inputs for a caller, in milliseconds. */
export const findMaxDelayMs = (caller: Caller, readable: ReadableInputs, lake: Lake): number =>
  Math.max(0, ...[...readable.values()].map((dataset) => accessDelayMs(caller, dataset, lake)));

/** @throws Failure InvalidParameter; InvalidKey for an invalid range in the path. */
function buildPathRequest(
  symbol: string,
  options: Options,
  nowMs: number,
  inPath: boolean,
): TypeRequest {
  try {
    return buildTypeRequest(symbol, options, nowMs);
  } catch (error) {
    if (inPath && error instanceof Failure) throw new Failure('InvalidKey');
    throw error;
  }
}

/** Whether an answer is of days alone, which change only with data or at the end of the day. */
function hasTag({ call, requestedType, typeRequest }: AnswerRequest): boolean {
  const { charge, name, needs } = requestedType;
  if (typeRequest.untilMs < typeRequest.nowMs || call.query['includeToday'] === true) return false;
  const isSettled = charge.kind === 'rows' || name === 'previous';
  return isSettled && needs(typeRequest).every(({ input }) => DAILY_INPUTS.has(input));
}

const buildTag = ({ version }: ReadPlan, format: BodyFormat): string =>
  [...version, format].join('.').replaceAll(/[^\w.-]/g, '-');

const DAILY_INPUTS: ReadonlySet<Need['input']> = new Set<Need['input']>([
  'HISTORICAL_PRICES',
  'SPLITS',
  'DIVIDENDS',
] as const);

export const FILTER_RULE = 'names no attribute of these records';

/** Whether a filter names at least one attribute of the answer to a request. */
export function hasFilteredMember(
  type: MarketType,
  ask: TypeRequest,
  names: readonly string[] | undefined,
): boolean {
  const members = listFilterMembers(type, ask);
  return (
    names === undefined || members.length === 0 || names.some((name) => members.includes(name))
  );
}

/** The answer of a batch for a symbol without data of a type. */
export const renderEmptyType = ({ shape }: MarketType): Uint8Array =>
  Buffer.from(JSON.stringify(EMPTY[shape]));
