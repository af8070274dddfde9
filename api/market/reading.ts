// What market types need, read from CORE at one moment: for each input one plan of all keys.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { recordsMost } from '../../query/series/seriesRecords.ts';
import { numberOfDay } from '../../query/time/days.ts';
import { runSeries } from '../../query/series/series.ts';
import type { SeriesPlan, Visibility } from '../../query/plan/seriesPlan.ts';
import type { SeriesParameters } from '../../query/plan/seriesParameters.ts';
import type { Row } from '../../market/derive/values.ts';
import type { KnownRows, MarketMemory, Stamps } from '../../market/board/marketMemory.ts';
import { inputOf, servedNames } from '../../market/inputs/inputs.ts';
import type { Need, Read, Window } from '../../market/types/ask.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import { delayOf } from '../auth/access.ts';
import { objectsMax, readDataset } from '../read/series.ts';
import type { Call, Services } from '../request/endpoint.ts';
import { cutOf, type Group, groupNameOf, groupsOf } from './windows.ts';

export type MarketServices = Pick<
  Services,
  'clock' | 'cursors' | 'lake' | 'ledger' | 'market' | 'pending' | 'series' | 'settings'
>;

/** Minutes of a day that are paid. */
const MINUTES_PAID = 50;

/** Records of one key in one read. */
const ROWS_MAX = 30_000;
/** Records of all keys in one read. */
const WIDE_ROWS_MAX = 200_000;

/** The inputs of CORE that a caller reads, by their names. */
export type Readable = ReadonlyMap<Need['input'], Dataset>;

/** What is needed: known already, or planned; nothing is read yet. */
export interface Planned {
  readonly reads: readonly PlannedRead[];
  /** Records by the name of their group, then by key. */
  readonly known: ReadonlyMap<string, ReadonlyMap<string, KnownRows>>;
  readonly groups: ReadonlyMap<string, Group>;
  readonly moment: Moment;
  readonly snapshot: number;
  readonly version: readonly (string | number)[];
  /** Where what is read may be kept; undefined when it is not of now, or not as it is. */
  readonly memory: MarketMemory | undefined;
}

interface PlannedRead {
  readonly name: string;
  readonly group: Group;
  readonly dataset: Dataset;
  readonly plan: SeriesPlan;
  readonly remembered: boolean;
  /** Where what is read may be kept. */
  readonly memory: MarketMemory | undefined;
  readonly version: readonly (string | number)[];
  readonly stamps: Stamps;
}

export async function planNeeds(
  call: Call,
  services: MarketServices,
  readable: Readable,
  needs: readonly Need[],
  at: Moment,
): Promise<Planned> {
  const reads: PlannedRead[] = [];
  const known = new Map<string, ReadonlyMap<string, KnownRows>>();
  const version: (string | number)[] = [];
  const memory = isOfNow(call) ? services.market : undefined;
  const groups = groupsOf(needs);
  let [moment, snapshot] = [at, 0];
  for (const [name, group] of groups) {
    const dataset = readable.get(group.input);
    if (dataset === undefined) continue;
    // What others may not see yet is no answer for them, and theirs none for others.
    const own = hidesSome(call, dataset, group, services) ? undefined : memory;
    const { found, missing } = lookUp(own, name, group, dataset, services);
    known.set(name, found);
    for (const rows of found.values()) {
      version.push(name, ...rows.version);
      snapshot = Math.max(snapshot, rows.snapshot);
    }
    if (missing === undefined) continue;
    const stamps = services.market.stampsOf([dataset.tableId], services);
    const read = await planned(call, services, dataset, missing, at);
    if (read === undefined) continue;
    const { plan, remembered } = read;
    const { version: versionRead } = read;
    const made = { name, group: missing, dataset, plan, remembered, memory: own };
    reads.push({ ...made, version: versionRead, stamps });
    version.push(name, ...read.version);
    snapshot = Math.max(snapshot, plan.table.snapshot);
    if (memory === undefined && later(read.moment, moment)) moment = read.moment;
  }
  return { reads, known, groups, moment, snapshot, version, memory };
}

/**
 * Minutes are dated by their day: those that may not be seen yet are left out of what is computed, by
 * their own time (market/derive).
 */
const MINUTES: ReadonlySet<Need['input']> = new Set<Need['input']>([
  'INTRADAY_PRICES',
  'SENTIMENT_MINUTES',
] as const);

const hidesSome = (
  { caller }: Call,
  dataset: Dataset,
  { input }: Group,
  { lake }: MarketServices,
): boolean => !MINUTES.has(input) && caller !== undefined && delayOf(caller, dataset, lake) > 0;

/** Answers of the past and of the test environment are not those of everyone. */
export const isOfNow = ({ caller, environment, query }: Call): boolean =>
  environment !== 'test' &&
  caller?.token.test !== true &&
  query['asOf'] === undefined &&
  query['cache'] !== false;

/** The keys of a group that are known, and a group of those that are not; undefined when all are. */
function lookUp(
  memory: MarketMemory | undefined,
  name: string,
  group: Group,
  { tableId }: Dataset,
  services: MarketServices,
): { readonly found: ReadonlyMap<string, KnownRows>; readonly missing: Group | undefined } {
  const found = new Map<string, KnownRows>();
  const keys = group.keys.length === 0 ? [''] : group.keys;
  for (const key of keys) {
    const rows = memory?.rows.find(nameOf(tableId, name, key), services);
    if (rows !== undefined) found.set(keyOf(key), rows);
  }
  if (found.size === keys.length) return { found, missing: undefined };
  const missing = group.keys.filter((key) => !found.has(keyOf(key)));
  return { found, missing: { ...group, keys: missing } };
}

const nameOf = (tableId: number, group: string, key: string): string =>
  `${tableId} ${group} ${keyOf(key)}`;

const later = (one: Moment, other: Moment): boolean =>
  one.snapshot > other.snapshot ||
  (one.snapshot === other.snapshot && one.sequence > other.sequence);

/** Undefined when the input was not there yet at the moment that is asked for. */
async function planned(
  call: Call,
  services: MarketServices,
  dataset: Dataset,
  group: Group,
  at: Moment,
): Promise<Awaited<ReturnType<typeof readDataset>> | undefined> {
  const own = parametersOf(dataset, group);
  const rowsMax = group.keys.length === 0 ? WIDE_ROWS_MAX : ROWS_MAX;
  const isMinutes = MINUTES.has(group.input);
  const seenOf = (): Visibility | undefined =>
    isMinutes && call.environment !== 'test' ? { kind: 'all' } : undefined;
  try {
    const shape = group.input === UPDATED ? 'time-series' : 'data';
    return await readDataset(call, services, dataset, shape, { own, at, rowsMax, seenOf });
  } catch (error) {
    if (error instanceof Failure && error.type === 'NotFound') return undefined;
    throw error;
  }
}

/** Its answers tell when a record was written. */
const UPDATED = 'HISTORICAL_PRICES';

function parametersOf(dataset: Dataset, { input, keys, window }: Group): SeriesParameters {
  return {
    ...(keys.length === 0 ? {} : { keys }),
    ...windowed(window, dataset, keys.length === 0 ? WIDE_ROWS_MAX : ROWS_MAX),
    filter: [...spellingsOf(dataset, input).keys(), ...(input === UPDATED ? ['updated'] : [])],
  };
}

function windowed(window: Window, { mapping }: Dataset, rowsMax: number): SeriesParameters {
  // Without a date records have the day of their coming: the newest is all there is to ask for.
  const dated = mapping.date !== undefined;
  if (window.kind === 'newest') return { last: window.count, sort: 'asc' };
  if (window.kind === 'oldest') return { first: 1 };
  if (window.kind === 'at') return dated ? { to: window.day, last: 1 } : { last: 1 };
  const days = dated ? { from: window.from, to: window.to } : {};
  if (window.kind === 'page') {
    const { count, offset } = window;
    // Records without a date of their own have no pages of days: those that there are come first.
    return { ...days, ...(dated ? { limit: count } : { first: count }), offset, sort: 'asc' };
  }
  return { ...days, last: rowsMax, sort: 'asc' };
}

/** Who waits for the records. */
interface Waiting {
  readonly departure: () => AbortSignal;
}

/** An answer is made in memory: what it is made of has no more bytes together. */
const BYTES_MAX = 64 * 1024 ** 2;

/** Keys of a read from which on it is worth a place more in its account's queue. */
const MANY_KEYS = 20;

/**
 * Reads of one request, however many inputs it has: with all of them at once, thirteen quotes filled their
 * account's queue. A batch waits for two at a time.
 */
const lanesOf = (reads: readonly PlannedRead[]): number =>
  reads.some(({ group }) => group.keys.length >= MANY_KEYS) ? 2 : 1;

/** @throws Failure TooLarge, TimedOut, ChildLost, Busy. */
export async function readPlanned(
  { known, reads }: Planned,
  { series }: Pick<Services, 'series'>,
  waiting: Waiting,
): Promise<Read> {
  let length = 0;
  const groups = new Map<string, Map<string, readonly Row[]>>();
  for (const [name, keys] of known) {
    groups.set(name, new Map([...keys].map(([key, { rows }]) => [key, rows])));
  }
  const left = reads.values();
  const lane = async (): Promise<void> => {
    for (const read of left) {
      const body = await runSeries(read.plan, 'jsonl', series, waiting, read.remembered);
      length += body.bytes.byteLength;
      refuseLong(length);
      const keys = groups.get(read.name) ?? new Map<string, readonly Row[]>();
      groups.set(read.name, keys);
      for (const [key, rows] of await byKey(body.bytes, read)) keys.set(key, rows);
      keepRows(read, keys, body.bytes.byteLength);
    }
  };
  await Promise.all(Array.from({ length: lanesOf(reads) }, lane));
  return (need) => cutOf(groups.get(groupNameOf(need))?.get(keyOf(need.key)) ?? NONE, need);
}

function refuseLong(length: number): void {
  if (length <= BYTES_MAX) return;
  const rule = 'ask for fewer symbols, types or days';
  throw new Failure('TooLarge', `the records are over ${BYTES_MAX} bytes: ${rule}`);
}

/** Of each key that was read, also that there is nothing. */
function keepRows(
  read: PlannedRead,
  found: ReadonlyMap<string, readonly Row[]>,
  length: number,
): void {
  const { dataset, group, memory, name, plan, stamps, version } = read;
  if (memory === undefined) return;
  const { snapshot } = plan.table;
  const most = Math.min(rowsMost(read), rowsOfWindow(group));
  const keys = group.keys.length === 0 ? [''] : group.keys;
  const all = keys.reduce((sum, key) => sum + (found.get(keyOf(key))?.length ?? 0), 0);
  for (const key of keys) {
    const rows = found.get(keyOf(key)) ?? NONE;
    const bytes = all === 0 ? 0 : (length * rows.length) / all;
    const known = { rows, snapshot, version, bytes, most };
    memory.rows.keep(nameOf(dataset.tableId, name, key), known, stamps);
  }
}

const NONE: readonly Row[] = [];

export const keyOf = (key: string): string => key.toUpperCase();

/** Records that are parsed in one turn of the loop: 3 ms. */
const TURN_RECORDS = 1_000;

/** Records by their key, with the input's own names of properties. @param bytes a record a line */
async function byKey(
  bytes: Uint8Array,
  { dataset, group }: PlannedRead,
): Promise<ReadonlyMap<string, readonly Row[]>> {
  const { key } = dataset.mapping;
  const spellings = spellingsOf(dataset, group.input);
  const isSpelled = [...spellings].every(([theirs, own]) => theirs === own);
  const keys = new Map<string, Row[]>();
  const lines = Buffer.from(bytes).toString('utf8').split('\n');
  for (const [at, line] of lines.entries()) {
    if (line === '') continue;
    if (at % TURN_RECORDS === TURN_RECORDS - 1) await othersTurn();
    const record = JSON.parse(line) as Row;
    const name = key === undefined || group.keys.length === 0 ? '' : keyOf(String(record[key]));
    const rows = keys.get(name) ?? [];
    rows.push(isSpelled ? record : renamed(record, spellings));
    keys.set(name, rows);
  }
  return keys;
}

const renamed = (record: Row, spellings: ReadonlyMap<string, string>): Row =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [spellings.get(name) ?? name, value]),
  );

const spellings = new WeakMap<Dataset, ReadonlyMap<string, string>>();

/** Properties of a dataset that its input knows, by the owner's spelling, with the input's. */
function spellingsOf(dataset: Dataset, id: Need['input']): ReadonlyMap<string, string> {
  const known = spellings.get(dataset);
  if (known !== undefined) return known;
  const { mapping, schema } = dataset;
  const names = servedNames(id);
  const made = new Map<string, string>();
  for (const name of Object.keys(schema.properties)) {
    const own = names.get(name.toLowerCase());
    if (own !== undefined) made.set(name, own);
  }
  const index = inputOf(id)?.mapping;
  for (const part of ['key', 'subkey', 'date'] as const) {
    const [theirs, own] = [mapping[part], index?.[part]];
    if (theirs !== undefined && own !== undefined) made.set(theirs, own);
  }
  spellings.set(dataset, made);
  return made;
}

/** The most records of a read, by the catalog's statistics and by the days there are. */
export const rowsMost = ({ group, plan }: PlannedRead): number =>
  Math.min(
    objectsMax(plan),
    recordsMost(plan),
    rowsOfWindow(group) * Math.max(1, group.keys.length),
  );

/** Records that one key can have in a window. */
export function rowsOfWindow({ input, window }: Group): number {
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
