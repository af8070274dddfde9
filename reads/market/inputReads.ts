// Reads the inputs of market types from CORE at one moment: one plan for each input, with all keys.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { maxSeriesRecords } from '../../query/series/seriesRecords.ts';
import { numberOfDay } from '../../query/time/days.ts';
import { runSeries } from '../../query/series/series.ts';
import type { SeriesPlan, Visibility } from '../../query/plan/seriesPlan.ts';
import type { SeriesParameters } from '../../query/plan/seriesParameters.ts';
import type { Row } from '../../market/derive/values.ts';
import {
  isParsed,
  type KnownRecords,
  type MarketMemory,
  type Stamps,
} from '../../market/board/marketMemory.ts';
import { inputOf, servedNames } from '../../market/inputs/inputs.ts';
import type { Need, Read, Window } from '../../market/types/typeRequest.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import { accessDelayMs } from '../rights/access.ts';
import { maxPlanObjects, readDataset } from '../series/series.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import { type ReadGroup, groupNeeds } from '../../market/types/needGroups.ts';
import {
  addRows,
  type InputBody,
  normalizeKey,
  parseInputRows,
  type RowsByKey,
  selectRows,
} from '../../market/types/inputRows.ts';

export type MarketServices = Pick<
  ReadServices,
  'clock' | 'cursors' | 'lake' | 'ledger' | 'market' | 'pending' | 'series' | 'settings' | 'workers'
>;

/** Charged minutes of a day. */
const MINUTES_PAID = 50;

/** Maximum records of one key in one read. */
const ROWS_MAX = 30_000;
/** Maximum records of all keys in one read. */
const WIDE_ROWS_MAX = 200_000;

/** The inputs of CORE that a caller may read, by name. */
export type ReadableInputs = ReadonlyMap<Need['input'], Dataset>;

/** Records by the name of their group, then by key. */
type CachedRecords = ReadonlyMap<string, ReadonlyMap<string, KnownRecords>>;

/** The needs of a request: cached rows and planned reads; nothing is read yet. */
export interface ReadPlan {
  readonly reads: readonly PlannedRead[];
  readonly cachedRecords: CachedRecords;
  readonly groups: ReadonlyMap<string, ReadGroup>;
  readonly moment: Moment;
  readonly snapshot: number;
  readonly version: readonly (string | number)[];
  /** The cache for read rows; undefined if the read is not current, or not of unchanged data. */
  readonly memory: MarketMemory | undefined;
}

interface PlannedRead {
  readonly name: string;
  readonly group: ReadGroup;
  readonly dataset: Dataset;
  readonly plan: SeriesPlan;
  readonly remembered: boolean;
  /** The cache for read rows. */
  readonly memory: MarketMemory | undefined;
  readonly version: readonly (string | number)[];
  readonly stamps: Stamps;
}

export async function planNeeds(
  call: ReadRequest,
  services: MarketServices,
  readable: ReadableInputs,
  needs: readonly Need[],
  at: Moment,
): Promise<ReadPlan> {
  const reads: PlannedRead[] = [];
  const cachedGroups = new Map<string, ReadonlyMap<string, KnownRecords>>();
  const version: (string | number)[] = [];
  const memory = isCurrentRead(call) ? services.market : undefined;
  const groups = groupNeeds(needs);
  let snapshot = 0;
  /** The requested moment, as the reads found it. */
  let past: Moment | undefined;
  for (const [name, group] of groups) {
    const dataset = readable.get(group.input);
    if (dataset === undefined) continue;
    // Callers with a delay do not share cached rows with callers without one.
    const own = hasHiddenRecords(call, dataset, group, services) ? undefined : memory;
    const { cached, missing } = findCachedRows(own, name, group, dataset, services);
    cachedGroups.set(name, cached);
    for (const rows of cached.values()) {
      version.push(name, ...rows.version);
      snapshot = Math.max(snapshot, rows.snapshot);
    }
    if (missing === undefined) continue;
    const stamps = services.market.stampsOf([dataset.tableId], services);
    const read = await planRead(call, services, dataset, missing, at);
    if (read === undefined) continue;
    const { plan, remembered } = read;
    const { version: versionRead } = read;
    const common = { name, group: missing, dataset, plan, remembered, memory: own };
    reads.push({ ...common, version: versionRead, stamps });
    version.push(name, ...read.version);
    snapshot = Math.max(snapshot, plan.table.snapshot);
    const isPast = call.query['asOf'] !== undefined;
    if (isPast && (past === undefined || isLater(read.moment, past))) past = read.moment;
  }
  const moment = past ?? at;
  return { reads, cachedRecords: cachedGroups, groups, moment, snapshot, version, memory };
}

/** Minutes are dated by their day: market/derive leaves delayed ones out by their time. */
const MINUTE_INPUTS: ReadonlySet<Need['input']> = new Set<Need['input']>([
  'INTRADAY_PRICES',
  'SENTIMENT_MINUTES',
] as const);

const hasHiddenRecords = (
  { caller }: ReadRequest,
  dataset: Dataset,
  { input }: ReadGroup,
  { lake }: MarketServices,
): boolean => !MINUTE_INPUTS.has(input) && accessDelayMs(caller, dataset, lake) > 0;

/** Whether an answer may be shared: answers as of a past time and of the test environment may not. */
export const isCurrentRead = ({ caller, environment, query }: ReadRequest): boolean =>
  environment !== 'test' &&
  caller.token.test !== true &&
  query['asOf'] === undefined &&
  query['cache'] !== false;

/** Finds the cached rows of a group, and the group of missing keys; undefined if no key is missing. */
function findCachedRows(
  memory: MarketMemory | undefined,
  name: string,
  group: ReadGroup,
  { tableId }: Dataset,
  services: MarketServices,
): { readonly cached: ReadonlyMap<string, KnownRecords>; readonly missing: ReadGroup | undefined } {
  const cached = new Map<string, KnownRecords>();
  const keys = group.keys.length === 0 ? [''] : group.keys;
  for (const key of keys) {
    const records = memory?.records.find(cacheKey(tableId, name, key), services);
    if (records !== undefined) cached.set(normalizeKey(key), records);
  }
  if (cached.size === keys.length) return { cached, missing: undefined };
  const missing = group.keys.filter((key) => !cached.has(normalizeKey(key)));
  return { cached, missing: { ...group, keys: missing } };
}

const cacheKey = (tableId: number, group: string, key: string): string =>
  `${tableId} ${group} ${normalizeKey(key)}`;

const isLater = (one: Moment, other: Moment): boolean =>
  one.snapshot > other.snapshot ||
  (one.snapshot === other.snapshot && one.sequence > other.sequence);

/** Plans one read; undefined if the input did not exist yet at the requested moment. */
async function planRead(
  call: ReadRequest,
  services: MarketServices,
  dataset: Dataset,
  group: ReadGroup,
  at: Moment,
): Promise<Awaited<ReturnType<typeof readDataset>> | undefined> {
  const own = buildParameters(dataset, group);
  const rowsMax = group.keys.length === 0 ? WIDE_ROWS_MAX : ROWS_MAX;
  const isMinutes = MINUTE_INPUTS.has(group.input);
  const findMinuteVisibility = (): Visibility | undefined =>
    isMinutes && call.environment !== 'test' ? { kind: 'all' } : undefined;
  try {
    const shape = group.input === UPDATED_INPUT ? 'time-series' : 'data';
    return await readDataset(call, services, dataset, shape, {
      own,
      at,
      rowsMax,
      findVisibility: findMinuteVisibility,
    });
  } catch (error) {
    if (error instanceof Failure && error.type === 'NotFound') return undefined;
    throw error;
  }
}

/** The input whose answers include when a record was written. */
const UPDATED_INPUT = 'HISTORICAL_PRICES';

function buildParameters(dataset: Dataset, { input, keys, window }: ReadGroup): SeriesParameters {
  return {
    ...(keys.length === 0 ? {} : { keys }),
    ...toWindowParameters(window, dataset, keys.length === 0 ? WIDE_ROWS_MAX : ROWS_MAX),
    filter: [
      ...mapSpellings(dataset, input).keys(),
      ...(input === UPDATED_INPUT ? ['updated'] : []),
    ],
  };
}

function toWindowParameters(
  window: Window,
  { mapping }: Dataset,
  rowsMax: number,
): SeriesParameters {
  // Records without a date have the day they arrived, so only the latest can be requested.
  const dated = mapping.date !== undefined;
  if (window.kind === 'newest') return { last: window.count, sort: 'asc' };
  if (window.kind === 'oldest') return { first: 1 };
  if (window.kind === 'at') return dated ? { to: window.day, last: 1 } : { last: 1 };
  const days = dated ? { from: window.from, to: window.to } : {};
  if (window.kind === 'page') {
    const { count, offset } = window;
    // Records without a date cannot be paged by day; the first records are returned.
    return { ...days, ...(dated ? { limit: count } : { first: count }), offset, sort: 'asc' };
  }
  return { ...days, last: rowsMax, sort: 'asc' };
}

/** The caller that waits for the records. */
interface Waiter {
  readonly departure: () => AbortSignal;
}

/** Maximum bytes of all inputs of an answer, which is computed in memory. */
const BYTES_MAX = 64 * 1024 ** 2;

/** Keys of a read from which on a second lane in its account's queue is worthwhile. */
const MANY_KEYS = 20;

/**
 * Concurrent reads of one request: with all of them at once, thirteen quotes filled their account's queue. A
 * batch runs two at a time.
 */
const countLanes = (reads: readonly PlannedRead[]): number =>
  reads.some(({ group }) => group.keys.length >= MANY_KEYS) ? 2 : 1;

/** The records of one read, not parsed yet. */
export interface ReadBody {
  readonly read: PlannedRead;
  readonly bytes: Uint8Array;
  readonly records: number;
}

/** @throws Failure TooLarge, TimedOut, ChildLost, Busy. */
export async function readInputBodies(
  { reads }: ReadPlan,
  { series }: Pick<ReadServices, 'series'>,
  waiting: Waiter,
): Promise<readonly ReadBody[]> {
  let length = 0;
  const bodies: ReadBody[] = [];
  const left = reads.values();
  const lane = async (): Promise<void> => {
    for (const read of left) {
      const body = await runSeries(read.plan, 'jsonl', series, waiting, read.remembered);
      length += body.bytes.byteLength;
      refuseOversized(length);
      bodies.push({ read, bytes: body.bytes, records: body.objects });
    }
  };
  await Promise.all(Array.from({ length: countLanes(reads) }, lane));
  return bodies;
}

/** Parses records in steps between which others use the event loop, and caches them. */
export async function parseInputBodies(
  { cachedRecords }: ReadPlan,
  bodies: readonly ReadBody[],
): Promise<Read> {
  const cached = splitCached(cachedRecords);
  const groups = new Map(cached.groups);
  for (const body of cached.bodies) addRows(groups, body.name, await groupByKey(body));
  for (const { bytes, read } of bodies) {
    const rows = await groupByKey(toInputBody(read, bytes));
    addRows(groups, read.name, rows);
    cacheRows(read, rows, bytes.byteLength);
  }
  return (need) => selectRows(groups, need);
}

/** Reads and parses the records of a plan. @throws Failure TooLarge, TimedOut, ChildLost, Busy. */
export const runReadPlan = async (
  plan: ReadPlan,
  services: Pick<ReadServices, 'series'>,
  waiting: Waiter,
): Promise<Read> => parseInputBodies(plan, await readInputBodies(plan, services, waiting));

/** Splits cached records into parsed ones, by group and key, and bodies of one key each. */
function splitCached(cachedRecords: CachedRecords): {
  readonly groups: ReadonlyMap<string, RowsByKey>;
  readonly bodies: readonly InputBody[];
} {
  const groups = new Map<string, RowsByKey>();
  const bodies: InputBody[] = [];
  for (const [name, keys] of cachedRecords) {
    const rows = new Map<string, readonly Row[]>();
    for (const [key, { records }] of keys) {
      if (isParsed(records)) rows.set(key, records);
      else bodies.push(records);
    }
    groups.set(name, rows);
  }
  return { groups, bodies };
}

/** A body whose buffer has its bytes alone. */
interface OwnBody extends InputBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** All records of a plan, for a worker thread; those that were read are cached as bytes. */
export function collectInputs(
  { cachedRecords }: ReadPlan,
  bodies: readonly ReadBody[],
): { readonly groups: ReadonlyMap<string, RowsByKey>; readonly bodies: readonly OwnBody[] } {
  const cached = splitCached(cachedRecords);
  for (const body of bodies) cacheBody(body);
  const read = bodies.map((body) => toInputBody(body.read, body.bytes));
  return { groups: cached.groups, bodies: [...cached.bodies, ...read].map(copyBody) };
}

/** Bytes of a cache are not moved into a thread. */
const copyBody = (body: InputBody): OwnBody => ({ ...body, bytes: new Uint8Array(body.bytes) });

/**
 * Reads the records of a plan without parsing them, for a computation in a worker thread.
 * @param plan without cached rows: its request does not use memory
 * @throws Failure TooLarge, TimedOut, ChildLost, Busy.
 */
export const readPlanBodies = async (
  plan: ReadPlan,
  services: Pick<ReadServices, 'series'>,
  waiting: Waiter,
): Promise<readonly OwnBody[]> => {
  const bodies = await readInputBodies(plan, services, waiting);
  return bodies.map(({ bytes, read }) => copyBody(toInputBody(read, bytes)));
};

function refuseOversized(length: number): void {
  if (length <= BYTES_MAX) return;
  const rule = 'request fewer symbols, types or days';
  throw new Failure('TooLarge', `the records are over ${BYTES_MAX} bytes: ${rule}`);
}

/** Caches the rows of each read key, including keys without rows. */
function cacheRows(
  read: PlannedRead,
  rowsByKey: ReadonlyMap<string, readonly Row[]>,
  length: number,
): void {
  const { group, memory, plan, version } = read;
  if (memory === undefined) return;
  const { snapshot } = plan.table;
  const most = Math.min(maxReadRows(read), maxWindowRows(group));
  const keys = group.keys.length === 0 ? [''] : group.keys;
  const all = keys.reduce((sum, key) => sum + (rowsByKey.get(normalizeKey(key))?.length ?? 0), 0);
  for (const key of keys) {
    const records = rowsByKey.get(normalizeKey(key)) ?? NONE;
    const count = records.length;
    const bytes = all === 0 ? 0 : (length * count) / all;
    keepRecords(read, key, { records, count, snapshot, version, bytes, most });
  }
}

/** Caches the bytes of a read of one key. */
function cacheBody({ bytes, read, records: count }: ReadBody): void {
  const { group, plan, version } = read;
  if (group.keys.length > 1) return;
  const { snapshot } = plan.table;
  const most = Math.min(maxReadRows(read), maxWindowRows(group));
  const records = toInputBody(read, bytes);
  const entry = { records, count, snapshot, version, bytes: bytes.byteLength, most };
  keepRecords(read, group.keys[0] ?? '', entry);
}

function keepRecords(
  { dataset, memory, name, stamps }: PlannedRead,
  key: string,
  entry: KnownRecords,
): void {
  memory?.records.keep(cacheKey(dataset.tableId, name, key), entry, stamps);
}

const NONE: readonly Row[] = [];

/** Groups the records of a read by key, in steps between which others use the event loop. */
async function groupByKey(body: InputBody): Promise<RowsByKey> {
  const steps = parseInputRows(body);
  let step = steps.next();
  while (step.done !== true) {
    await yieldToEventLoop();
    step = steps.next();
  }
  return step.value;
}

const toInputBody = ({ dataset, group, name }: PlannedRead, bytes: Uint8Array): InputBody => ({
  name,
  bytes,
  key: group.keys.length === 0 ? undefined : dataset.mapping.key,
  spellings: mapSpellings(dataset, group.input),
});

const spellingCache = new WeakMap<Dataset, ReadonlyMap<string, string>>();

/** Maps property names of a dataset in the owner's spelling to the input's spelling. */
function mapSpellings(dataset: Dataset, id: Need['input']): ReadonlyMap<string, string> {
  const cached = spellingCache.get(dataset);
  if (cached !== undefined) return cached;
  const { mapping, schema } = dataset;
  const names = servedNames(id);
  const inputNames = new Map<string, string>();
  for (const name of Object.keys(schema.properties)) {
    const own = names.get(name.toLowerCase());
    if (own !== undefined) inputNames.set(name, own);
  }
  const index = inputOf(id)?.mapping;
  for (const part of ['key', 'subkey', 'date'] as const) {
    const [theirs, own] = [mapping[part], index?.[part]];
    if (theirs !== undefined && own !== undefined) inputNames.set(theirs, own);
  }
  spellingCache.set(dataset, inputNames);
  return inputNames;
}

/** The maximum number of stored records of a read, by the catalog's statistics. */
export const maxStoredRows = ({ plan }: Pick<PlannedRead, 'plan'>): number =>
  Math.min(maxPlanObjects(plan), maxSeriesRecords(plan));

/** The maximum number of charged records of a read: also by the days of the window. */
export const maxReadRows = ({ group, plan }: PlannedRead): number =>
  Math.min(maxStoredRows({ plan }), maxWindowRows(group) * Math.max(1, group.keys.length));

/** The maximum number of records of one key in a window. */
export function maxWindowRows({ input, window }: ReadGroup): number {
  if (window.kind === 'newest' || window.kind === 'page') return window.count;
  if (window.kind !== 'days') return 1;
  if (window.from === undefined || window.to === undefined) return ROWS_MAX;
  const days = Math.max(0, numberOfDay(window.to) - numberOfDay(window.from) + 1);
  return input === 'HISTORICAL_PRICES'
    ? days
    : input === 'INTRADAY_PRICES'
      ? days * MINUTES_PAID
      : ROWS_MAX;
}
