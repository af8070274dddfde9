// Computes one market type of a symbol from CORE's inputs, alone or as a part of a batch.
import type { TypeRequest, Need, Options, Read } from '../../market/types/typeRequest.ts';
import { listFilterMembers, listMembers } from '../../market/types/example.ts';
import { type MarketType, marketType } from '../../market/types/marketTypes.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import type { Body, BodyFormat } from '../../store/duckdb/protocol.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure, type FailureType } from '../../store/base/failure.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { Lake } from '../../store/lake/lake.ts';
import { requireCaller, findDataset, accessDelayMs } from '../rights/access.ts';
import { meterCall } from '../series/metering.ts';
import { currentMoment } from '../series/moments.ts';
import { selectFormat, matchesTag, buildRowsAnswer, buildEtag } from '../series/series.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { listOf, refuse, truthOf } from '../request/parameters.ts';
import {
  buildTypeRequest,
  parseOptions,
  parsePathParts,
  refuseContradictions,
  refuseUnusedOptions,
} from './options.ts';
import { type AnswerRequest, findAnswer, cacheAnswer } from './answerCache.ts';
import { buildTypeFare, countMaxObjects } from './pricing.ts';
import {
  type MarketServices,
  planNeeds,
  type ReadPlan,
  type ReadableInputs,
  runReadPlan,
} from './inputReads.ts';
import { renderLongBody, filterAttributes, findNestedRows } from '../request/rendering.ts';

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
      readable.set(input, findDataset(requireCaller(caller), CORE, input, lake));
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
  const caller = requireCaller(call.caller);
  const format = selectFormat(call);
  const parts = parsePathParts(type, call.path['part'], call.path['detail']);
  refuseUnusedOptions(type, call.query);
  if (call.query['listLimit'] !== undefined)
    refuse('listLimit', `is not allowed with ${type.name}`);
  const options = { ...parseOptions(type, call.query, true), ...parts.options };
  refuseContradictions(type, options);
  const nowMs = services.clock();
  const currentRequest = buildPathRequest(
    symbol,
    options,
    nowMs,
    parts.options.range !== undefined,
  );
  const needs = type.needs(currentRequest);
  const readable = selectReadableInputs(type, needs, call, services.lake);
  const timedRequest = {
    ...currentRequest,
    untilMs: nowMs - findMaxDelayMs(caller, readable, services.lake),
  };
  const attributedType = resolveAttribute(type, parts.attribute);
  const request: AnswerRequest = {
    call,
    services,
    requestedType: attributedType,
    typeRequest: timedRequest,
    readable,
    format,
  };
  const answer = findCachedAnswer(request) ?? (await planAnswer(request));
  const { moment, snapshot } = answer;
  const tag = answer.tag === undefined ? undefined : buildEtag(call, [answer.tag]);
  if (tag !== undefined && !truthOf(call.query, 'estimate') && matchesTag(call.ifNoneMatch, tag)) {
    return { kind: 'unchanged', snapshot, moment, tag };
  }
  const fare = buildTypeFare(
    call,
    caller,
    attributedType,
    [timedRequest],
    answer.most,
    readable,
    services,
  );
  const datasets = [...readable.values()];
  const metering = await meterCall(call, services, caller, fare, async () => {
    const body = await answer.body(fare.most);
    if (body.objects === 0) await refuseUnknown(symbol, call);
    return body;
  });
  if (metering.kind === 'unread') return { ...metering, format, snapshot, moment, tag, datasets };
  if (metering.kind === 'estimate') {
    return { kind: 'json', value: metering.price, metering: 'free' };
  }
  const { charge, result: body } = metering;
  return buildRowsAnswer(call, { body, format, snapshot, moment, tag, charge, datasets });
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
  const tag =
    typeRequest.untilMs < typeRequest.nowMs
      ? undefined
      : buildTag(call, requestedType, planned, format);
  return {
    moment,
    snapshot,
    tag,
    most: (foreign) => countMaxObjects(requestedType, [typeRequest], planned, foreign),
    body: async (most) => {
      const read = await runReadPlan(planned, services, call);
      const body = await renderAnswer(call, services, requestedType, typeRequest, read, format);
      cacheAnswer(
        answerRequest,
        {
          body,
          snapshot,
          tag,
          most,
        },
        read,
        stamps,
      );
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

/** Builds the tag of daily answers, which change only with data or at the end of the day. */
function buildTag(
  { query }: ReadRequest,
  type: MarketType,
  { groups, version }: ReadPlan,
  format: BodyFormat,
): string | undefined {
  const isOfDays = [...groups.values()].every(({ input }) => DAILY_INPUTS.has(input));
  const isSettled = (type.charge.kind === 'rows' || type.name === 'previous') && isOfDays;
  return isSettled && query['includeToday'] !== true
    ? [...version, format].join('.').replaceAll(/[^\w.-]/g, '-')
    : undefined;
}

const DAILY_INPUTS: ReadonlySet<Need['input']> = new Set<Need['input']>([
  'HISTORICAL_PRICES',
  'SPLITS',
  'DIVIDENDS',
] as const);

/** Messages charged for one attribute (INTERFACE.md 0.3). */
export const ATTRIBUTE_WEIGHT = 1;

/**
 * Finds or builds the type that answers one attribute of another type. An unknown attribute of stats returns
 * all of stats, as clients of the original expect (INTERFACE.md 0.2).
 * @throws Failure NotFound for an unknown attribute of another type.
 */
function resolveAttribute(type: MarketType, attribute: string | undefined): MarketType {
  if (attribute === undefined) return type;
  const cached = attributeTypes.get(type)?.get(attribute);
  if (cached !== undefined) return cached;
  const attributeType = buildAttributeType(type, attribute);
  const others = attributeTypes.get(type) ?? new Map<string, MarketType>();
  // A type has a few hundred attributes, in several spellings: the limit bounds the cache.
  if (others.size < ATTRIBUTE_TYPES_MAX)
    attributeTypes.set(type, others.set(attribute, attributeType));
  return attributeType;
}

const attributeTypes = new Map<MarketType, Map<string, MarketType>>();
const ATTRIBUTE_TYPES_MAX = 500;

function buildAttributeType(type: MarketType, attribute: string): MarketType {
  const name = listMembers(type).find((member) => member.toLowerCase() === attribute.toLowerCase());
  if (name === undefined && type.name === 'stats') return type;
  if (name === undefined) throw new Failure('NotFound');
  const { charge } = type;
  const key = charge.kind === 'answer' ? charge.usageKey : '';
  return {
    ...type,
    attribute: name,
    shape: 'value',
    charge: { kind: 'answer', weight: ATTRIBUTE_WEIGHT, usageKey: key },
    answer: (ask, read) => {
      const typeAnswer = type.answer(ask, read);
      return typeAnswer === undefined
        ? undefined
        : new Map(Object.entries(typeAnswer as object)).get(name);
    },
  };
}

/** Answers for a symbol without data of a type (INTERFACE.md 0.2). */
const EMPTY = { object: {}, list: [], value: null } as const;

async function computeAnswer(
  { caller, departure }: ReadRequest,
  { workers }: Pick<MarketServices, 'workers'>,
  { answer, attribute, threadWork }: MarketType,
  ask: TypeRequest,
  read: Read,
): Promise<unknown> {
  if (threadWork === undefined || attribute !== undefined) return answer(ask, read);
  const work = threadWork(ask, read);
  if ('answer' in work) return work.answer;
  const { accountId: account } = requireCaller(caller);
  const { input, task } = work;
  return work.finish(await workers.run(task, { account, input, signal: departure() }));
}

/** Renders one answer as bytes, with the number of charged objects. */
export async function renderAnswer(
  call: ReadRequest,
  services: Pick<MarketServices, 'workers'>,
  type: MarketType,
  ask: TypeRequest,
  read: Read,
  format: BodyFormat,
): Promise<Body> {
  const { query } = call;
  const value = await computeAnswer(call, services, type, ask, read);
  const names = listOf(query, 'filter');
  if (names !== undefined) refuseEmptyFilter(type, names);
  const visible =
    value === undefined ? EMPTY[type.shape] : (type.selectPart?.(ask, value) ?? value);
  const filteredValue = filterAttributes(visible, names);
  return renderLongBody(filteredValue, countChargedObjects(type, value), format);
}

/** Whether a filter names at least one attribute of a type. */
export function hasFilteredMember(type: MarketType, names: readonly string[] | undefined): boolean {
  const members = listFilterMembers(type);
  return (
    names === undefined || members.length === 0 || names.some((name) => members.includes(name))
  );
}

function refuseEmptyFilter(type: MarketType, names: readonly string[]): void {
  if (!hasFilteredMember(type, names)) refuse('filter', 'names no attribute of these records');
}

function countChargedObjects({ charge, rowsOf: rowsOfType }: MarketType, value: unknown): number {
  if (value === undefined) return 0;
  const rows = Array.isArray(value)
    ? (value as readonly unknown[])
    : (rowsOfType?.(value) ?? findNestedRows(value));
  if (charge.kind === 'answer') return rows?.length === 0 ? 0 : 1;
  return charge.paid(rows ?? []);
}

/** The answer of a batch for a symbol without data of a type. */
export const renderEmptyType = ({ shape }: MarketType): Uint8Array =>
  Buffer.from(JSON.stringify(EMPTY[shape]));
