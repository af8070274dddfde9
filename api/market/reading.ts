// What market types need, read from CORE at one moment: for each input one plan of all keys.
import { runSeries } from '../../query/series/series.ts';
import type { SeriesPlan } from '../../query/plan/seriesPlan.ts';
import type { SeriesParameters } from '../../query/plan/seriesParameters.ts';
import type { Row } from '../../market/derive/values.ts';
import { inputOf, servedNames } from '../../market/inputs/inputs.ts';
import type { Need, Read, Window } from '../../market/types/ask.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Dataset } from '../../store/datasets/datasets.ts';
import type { Moment } from '../../store/history/history.ts';
import { readDataset } from '../read/series.ts';
import type { Call, Services } from '../request/endpoint.ts';
import { cutOf, type Group, groupNameOf, groupsOf } from './windows.ts';

export type MarketServices = Pick<
  Services,
  'clock' | 'cursors' | 'lake' | 'ledger' | 'pending' | 'series' | 'settings'
>;

/** Records of one key in one read. */
const ROWS_MAX = 30_000;

/** The inputs of CORE that a caller reads, by their names. */
export type Readable = ReadonlyMap<Need['input'], Dataset>;

/** Plans of what is needed; nothing is read yet. */
export interface Planned {
  readonly reads: readonly PlannedRead[];
  readonly moment: Moment;
  readonly snapshot: number;
  /** Tells answers of these records from those of others. */
  readonly version: readonly (string | number)[];
}

export interface PlannedRead {
  readonly name: string;
  readonly group: Group;
  readonly dataset: Dataset;
  readonly plan: SeriesPlan;
  readonly remembered: boolean;
}

export async function planNeeds(
  call: Call,
  services: MarketServices,
  readable: Readable,
  needs: readonly Need[],
  at: Moment,
): Promise<Planned> {
  const reads: PlannedRead[] = [];
  const version: (string | number)[] = [];
  let moment: Moment | undefined;
  for (const [name, group] of groupsOf(needs)) {
    const dataset = readable.get(group.input);
    if (dataset === undefined) continue;
    const read = await planned(call, services, dataset, group, at);
    if (read === undefined) continue;
    const { plan, remembered } = read;
    reads.push({ name, group, dataset, plan, remembered });
    version.push(name, ...read.version);
    if (moment === undefined || later(read.moment, moment)) moment = read.moment;
  }
  const snapshot = Math.max(0, ...reads.map(({ plan }) => plan.table.snapshot));
  return { reads, moment: moment ?? at, snapshot, version };
}

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
  try {
    const shape = group.input === UPDATED ? 'time-series' : 'data';
    return await readDataset(call, services, dataset, shape, { own, at, rowsMax: ROWS_MAX });
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
    ...windowed(window, dataset),
    filter: [...spellingsOf(dataset, input).keys(), ...(input === UPDATED ? ['updated'] : [])],
  };
}

function windowed(window: Window, { mapping }: Dataset): SeriesParameters {
  // Without a date records have the day of their coming: the newest is all there is to ask for.
  const dated = mapping.date !== undefined;
  if (window.kind === 'newest') return { last: window.count, sort: 'asc' };
  if (window.kind === 'oldest') return { first: 1 };
  if (window.kind === 'at') return dated ? { to: window.day, last: 1 } : { last: 1 };
  const days = dated ? { from: window.from, to: window.to } : {};
  return { ...days, last: ROWS_MAX, sort: 'asc' };
}

/** Who waits for the records. */
interface Waiting {
  readonly departure: () => AbortSignal;
}

/** An answer is made in memory: what it is made of has no more bytes together. */
const BYTES_MAX = 64 * 1024 ** 2;

/** @throws Failure TooLarge, TimedOut, ChildLost, Busy. */
export async function readPlanned(
  { reads }: Planned,
  { series }: Pick<Services, 'series'>,
  waiting: Waiting,
): Promise<Read> {
  let length = 0;
  const found = await Promise.all(
    reads.map(async (read) => {
      const body = await runSeries(read.plan, 'json', series, waiting, read.remembered);
      length += body.bytes.byteLength;
      if (length > BYTES_MAX) {
        const rule = 'ask for fewer symbols, types or days';
        throw new Failure('TooLarge', `the records are over ${BYTES_MAX} bytes: ${rule}`);
      }
      return [read.name, byKey(body.bytes, read)] as const;
    }),
  );
  const groups = new Map(found);
  return (need) => cutOf(groups.get(groupNameOf(need))?.get(keyOf(need.key)) ?? NONE, need);
}

const NONE: readonly Row[] = [];

const keyOf = (key: string): string => key.toUpperCase();

/** Records by their key, with the input's own names of properties. */
function byKey(
  bytes: Uint8Array,
  { dataset, group }: PlannedRead,
): ReadonlyMap<string, readonly Row[]> {
  const records = JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly Row[];
  const { key } = dataset.mapping;
  const spellings = spellingsOf(dataset, group.input);
  const keys = new Map<string, Row[]>();
  for (const record of records) {
    const name = key === undefined || group.keys.length === 0 ? '' : keyOf(String(record[key]));
    const rows = keys.get(name) ?? [];
    rows.push(renamed(record, spellings));
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
