// One market type of a symbol, computed from CORE's inputs, or its part of a batch.
import type { Ask, Need, Options, Read } from '../../market/types/ask.ts';
import { filterMembersOf, membersOf } from '../../market/types/example.ts';
import { type MarketType, marketType } from '../../market/types/marketTypes.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import type { Body, BodyFormat } from '../../store/duckdb/protocol.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure, type FailureType } from '../../store/base/failure.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { Lake } from '../../store/lake/lake.ts';
import { callerOf, datasetOf, delayOf } from '../auth/access.ts';
import { metered } from '../read/metering.ts';
import { momentNow } from '../read/moments.ts';
import { formatOf, has, rowsOf, tagFor } from '../read/series.ts';
import type { Answer, Call } from '../request/endpoint.ts';
import { listOf, refuse, truthOf } from '../request/parameters.ts';
import { askOf, optionsOf, partsOf, refuseContradictions, refuseUselessOf } from './options.ts';
import { type Asked, findAnswer, keepAnswer } from './answers.ts';
import { fareOfType, mostOf } from './pricing.ts';
import {
  type MarketServices,
  planNeeds,
  type Planned,
  type Readable,
  readPlanned,
} from './reading.ts';
import { bodyInTurns, filtered, rowsWithin } from '../request/rendering.ts';

/**
 * The type of a name where this server's CORE has what it is computed from; undefined where it has its
 * answers loaded, or none of its inputs.
 */
export function computedType(name: string, { directory }: Lake): MarketType | undefined {
  const type = marketType(name);
  if (type === undefined) return undefined;
  const isThere = (id: string): boolean => directory.dataset(CORE, id)?.mapping.key !== undefined;
  const loaded = type.loadedAs === undefined ? undefined : directory.dataset(CORE, type.loadedAs);
  if (loaded !== undefined && areAnswers(loaded)) return undefined;
  return type.of.some(isThere) ? type : undefined;
}

/** Whether records of a dataset answer the type of its name: the input BOOK has changes of books instead. */
export const areAnswers = ({ dataset, mapping, schema }: Dataset): boolean =>
  mapping.key !== undefined &&
  !(dataset.toUpperCase() === 'BOOK' && Object.hasOwn(schema.properties, 'side'));

/** What a caller lacks for a dataset, whatever it asks of it. */
export const LACKING: ReadonlySet<FailureType> = new Set<FailureType>([
  'Restricted',
  'FreeTierNotAllowed',
  'TierNotAllowed',
  'EnterprisePermissionRequired',
]);

/**
 * The inputs among those that types read which the caller may read.
 * @throws Failure of the first input that a type is made of, when it may read none of them.
 */
export function readableFor(
  type: MarketType,
  needs: readonly Need[],
  { caller }: Call,
  lake: Lake,
): Readable {
  const readable = new Map<Need['input'], Dataset>();
  let lacking: Failure | undefined;
  for (const input of new Set([...type.of, ...needs.map((need) => need.input)])) {
    if (lake.directory.dataset(CORE, input) === undefined) continue;
    try {
      readable.set(input, datasetOf(callerOf(caller), CORE, input, lake));
    } catch (error) {
      if (!(error instanceof Failure && LACKING.has(error.type))) throw error;
      if (type.of.includes(input)) lacking ??= error;
    }
  }
  if (lacking !== undefined && !type.of.some((input) => readable.has(input))) throw lacking;
  return readable;
}

/** Whether a symbol is known at all: else its lone answer is a failure. */
type RefuseUnknown = (symbol: string, call: Call) => Promise<void>;

/** One type of one symbol. @param refuseUnknown throws UnknownSymbol */
export async function answerMarket(
  call: Call,
  services: MarketServices,
  type: MarketType,
  symbol: string,
  refuseUnknown: RefuseUnknown,
): Promise<Answer> {
  const caller = callerOf(call.caller);
  const format = formatOf(call);
  const parts = partsOf(type, call.path['part'], call.path['detail']);
  refuseUselessOf(type, call.query);
  if (call.query['listLimit'] !== undefined)
    refuse('listLimit', `is not allowed with ${type.name}`);
  const options = { ...optionsOf(type, call.query, true), ...parts.options };
  refuseContradictions(type, options);
  const nowMs = services.clock();
  const now = asked(symbol, options, nowMs, parts.options.range !== undefined);
  const needs = type.needs(now);
  const readable = readableFor(type, needs, call, services.lake);
  const ask = { ...now, untilMs: nowMs - delayFor(caller, readable, services.lake) };
  const wanted = attributed(type, parts.attribute);
  const request = { call, services, wanted, ask, readable, format };
  const answer = knownAnswer(request) ?? (await plannedAnswer(request));
  const { moment, snapshot } = answer;
  const tag = answer.tag === undefined ? undefined : tagFor(call, [answer.tag]);
  if (tag !== undefined && !truthOf(call.query, 'estimate') && has(call.ifNoneMatch, tag)) {
    return { kind: 'unchanged', snapshot, moment, tag };
  }
  const fare = fareOfType(call, caller, wanted, [ask], answer.most, readable, services);
  const datasets = [...readable.values()];
  const metering = await metered(call, services, caller, fare, async () => {
    const body = await answer.body(fare.most);
    if (body.objects === 0) await refuseUnknown(symbol, call);
    return body;
  });
  if (metering.kind === 'unread') return { ...metering, format, snapshot, moment, tag, datasets };
  if (metering.kind === 'estimate') {
    return { kind: 'json', value: metering.price, metering: 'free' };
  }
  const { charge, result: body } = metering;
  return rowsOf(call, { body, format, snapshot, moment, tag, charge, datasets });
}

/** An answer that can be given; what it costs and which version it is of is known before. */
interface Given {
  readonly moment: Moment;
  readonly snapshot: number;
  /** Versions of the inputs, and the format; undefined where the answer moves with the clock. */
  readonly tag: string | undefined;
  readonly most: (foreign: boolean) => number;
  readonly body: (most: number) => Promise<Body>;
}

/** From memory. */
function knownAnswer(asked: Asked): Given | undefined {
  const known = findAnswer(asked);
  if (known === undefined) return undefined;
  const { body, most, snapshot, tag } = known;
  return {
    snapshot,
    tag,
    moment: momentNow(asked.services),
    most: (foreign) => (foreign ? most : body.objects),
    body: () => Promise.resolve(body),
  };
}

async function plannedAnswer(asked: Asked): Promise<Given> {
  const { ask, call, format, readable, services, wanted } = asked;
  const needs = wanted.needs(ask);
  const at = momentNow(services);
  const tableIds = [...readable.values()].map(({ tableId }) => tableId);
  const stamps = services.market.stampsOf(tableIds, services);
  const planned = await planNeeds(call, services, readable, needs, at);
  const { moment, snapshot } = planned;
  const tag = ask.untilMs < ask.nowMs ? undefined : tagOf(call, wanted, planned, format);
  return {
    moment,
    snapshot,
    tag,
    most: (foreign) => mostOf(wanted, [ask], planned, foreign),
    body: async (most) => {
      const read = await readPlanned(planned, services, call);
      const body = await rendered(call, wanted, ask, read, format);
      keepAnswer(
        asked,
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

/** Milliseconds that a caller is behind: as the one of all inputs that is delayed most for it. */
export const delayFor = (caller: Caller, readable: Readable, lake: Lake): number =>
  Math.max(0, ...[...readable.values()].map((dataset) => delayOf(caller, dataset, lake)));

/** @throws Failure InvalidParameter; InvalidKey for a range that a path names and that is none. */
function asked(symbol: string, options: Options, nowMs: number, inPath: boolean): Ask {
  try {
    return askOf(symbol, options, nowMs);
  } catch (error) {
    if (inPath && error instanceof Failure) throw new Failure('InvalidKey');
    throw error;
  }
}

/** Answers of days are the same until something changes or the day ends; what a clock moves has no tag. */
function tagOf(
  { query }: Call,
  type: MarketType,
  { groups, version }: Planned,
  format: BodyFormat,
): string | undefined {
  const isOfDays = [...groups.values()].every(({ input }) => OF_DAYS.has(input));
  const isSettled = (type.charge.kind === 'rows' || type.name === 'previous') && isOfDays;
  return isSettled && query['includeToday'] !== true
    ? [...version, format].join('.').replaceAll(/[^\w.-]/g, '-')
    : undefined;
}

const OF_DAYS: ReadonlySet<Need['input']> = new Set<Need['input']>([
  'HISTORICAL_PRICES',
  'SPLITS',
  'DIVIDENDS',
] as const);

/** Messages of one attribute (INTERFACE.md 0.3). */
export const ATTRIBUTE_WEIGHT = 1;

/**
 * The type that answers one attribute of another. One that stats do not have is all of them, as clients
 * of the original know it (INTERFACE.md 0.2).
 * @throws Failure NotFound for one that no other type has.
 */
function attributed(type: MarketType, attribute: string | undefined): MarketType {
  if (attribute === undefined) return type;
  const known = ATTRIBUTED.get(type)?.get(attribute);
  if (known !== undefined) return known;
  const made = attributeOf(type, attribute);
  const others = ATTRIBUTED.get(type) ?? new Map<string, MarketType>();
  // Of each type a few hundred, in some spellings: what nobody would ask for is not kept.
  if (others.size < ATTRIBUTED_MOST) ATTRIBUTED.set(type, others.set(attribute, made));
  return made;
}

const ATTRIBUTED = new Map<MarketType, Map<string, MarketType>>();
const ATTRIBUTED_MOST = 500;

function attributeOf(type: MarketType, attribute: string): MarketType {
  const name = membersOf(type).find((member) => member.toLowerCase() === attribute.toLowerCase());
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
      const found = type.answer(ask, read);
      return found === undefined ? undefined : new Map(Object.entries(found as object)).get(name);
    },
  };
}

/** What a symbol without data of a type is answered (INTERFACE.md 0.2). */
const EMPTY = { object: {}, list: [], value: null } as const;

/** One answer as bytes, with what is paid of it. */
export async function rendered(
  { query }: Call,
  type: MarketType,
  ask: Ask,
  read: Read,
  format: BodyFormat,
): Promise<Body> {
  const value = type.answer(ask, read);
  const names = listOf(query, 'filter');
  if (names !== undefined) refuseEmptyFilter(type, names);
  const wanted = value === undefined ? EMPTY[type.shape] : (type.shownOf?.(ask, value) ?? value);
  const shown = filtered(wanted, names);
  return bodyInTurns(shown, objectsOf(type, value), format);
}

/** Whether a filter names any attribute of a type. */
export function filterLeavesOf(type: MarketType, names: readonly string[] | undefined): boolean {
  const members = filterMembersOf(type);
  return (
    names === undefined || members.length === 0 || names.some((name) => members.includes(name))
  );
}

function refuseEmptyFilter(type: MarketType, names: readonly string[]): void {
  if (!filterLeavesOf(type, names)) refuse('filter', 'names no attribute of these records');
}

function objectsOf({ charge, rowsOf: rowsOfType }: MarketType, value: unknown): number {
  if (value === undefined) return 0;
  const rows = Array.isArray(value)
    ? (value as readonly unknown[])
    : (rowsOfType?.(value) ?? rowsWithin(value));
  if (charge.kind === 'answer') return rows?.length === 0 ? 0 : 1;
  return charge.paid(rows ?? []);
}

/** What a batch answers for a symbol of which a type has nothing. */
export const nothingOfType = ({ shape }: MarketType): Uint8Array =>
  Buffer.from(JSON.stringify(EMPTY[shape]));
