// Plans of random requests agree with the oracle, and a cut of a page with pushed records over it has the
// oracle's records; without a server and without DuckDB.
import { readParameters } from '../../../../reads/request/parameters.ts';
import { parseSeries, SERIES_PARAMETERS } from '../../../../reads/series/queryParameters.ts';
import { type Cut, cutPage, type OverlayRecord } from '../../../../query/series/overlay.ts';
import { planSeries, type SeriesPlan } from '../../../../query/plan/seriesPlan.ts';
import type { Column } from '../../../../store/lake/versions/columns.ts';
import { DATASET_DEFAULTS } from '../../../../store/lake/datasets/datasets.ts';
import { Failure } from '../../../../store/base/failure.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { pickRequest, indexOf, MOMENTS, SHELVES, valuesOf, ZONE } from './seriesCases.ts';
import { wallDay } from './seriesDays.ts';
import {
  type SeriesRequest,
  expected,
  type StoredRecord,
  type Kind,
  meantBy,
  type Shelf,
} from './seriesOracle.ts';

const ROWS_MAX = 1_000;
const TYPES: Readonly<Record<Kind, Column['type']>> = {
  text: 'varchar',
  number: 'float64',
  integer: 'int64',
  boolean: 'boolean',
  date: 'date',
  time: 'timestamp',
};

interface PlansReport {
  readonly failures: readonly string[];
  readonly plans: number;
  readonly refused: number;
  /** Cuts of a page that were compared, and those that need the files. */
  readonly cuts: number;
  readonly left: number;
}

/** Plans `count` random requests from a seed. */
export function seriesPlansLaw(count: number, seed: number): PlansReport {
  const random = seeded(seed);
  const report = { failures: [] as string[], plans: 0, refused: 0, cuts: 0, left: 0 };
  for (let at = 0; at < count; at += 1) {
    const [now, shelf] = [random.pick(MOMENTS), random.pick(SHELVES)];
    const today = wallDay(Date.parse(now), ZONE);
    const records = heldOf(random, shelf, today, now);
    const seriesRequest = pickRequest(random, shelf, records, now);
    const plan = planOf(shelf, seriesRequest, today);
    const rows = expected(shelf, records, seriesRequest, { today, zone: ZONE, rowsMax: ROWS_MAX });
    const wrong = differences(plan, rows, seriesRequest, today);
    const cut =
      plan === undefined ? undefined : cutPart(plan, shelf, records, seriesRequest, random, today);
    report.plans += 1;
    if (plan === undefined) report.refused += 1;
    if (cut === 'left') report.left += 1;
    else if (cut !== undefined) report.cuts += 1;
    const texts = [...wrong, ...(cut === undefined || cut === 'left' || cut === '' ? [] : [cut])];
    const request = `request ${at} at ${now}: ${shelf.id} ${JSON.stringify(seriesRequest)}`;
    if (texts.length > 0) report.failures.push(`${request}: ${texts.join('; ')}`);
  }
  return report;
}

/** Random records, mostly few: plans matter more here than records. */
function heldOf(random: Seeded, shelf: Shelf, today: string, now: string): readonly StoredRecord[] {
  const valueSets = Array.from({ length: random.pick([0, 6, 12, 60]) }, () =>
    valuesOf(random, shelf, today),
  );
  const rows = new Map(valueSets.map((values) => [indexOf(shelf, values), values]));
  return [...rows.values()].map((values) => ({ ...values, _updated: now }));
}

/** Undefined: refused. */
function planOf(shelf: Shelf, request: SeriesRequest, today: string): SeriesPlan | undefined {
  const { date, id, key, keys, properties, subkey, weight } = { ...shelf, keys: request.keys };
  const entries = Object.entries(properties);
  const columns = [...entries, ['_system_updated', 'time'] as const].map(([name, kind], at) => ({
    id: at + 1,
    name,
    type: TYPES[kind],
    nullable: true,
  }));
  const schema = {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name]) => [name, { type: 'string' } as const])),
    required: [],
  } as const;
  const mapping = {
    ...(key === undefined ? {} : { key }),
    ...(subkey === undefined ? {} : { subkey }),
    date,
  };
  const named = { ...DATASET_DEFAULTS, weight, createdMs: 0, updatedMs: 0 };
  const dataset = { tableId: 2, workspace: 'WS', dataset: id, schema, mapping, ...named };
  const counted = { files: [], records: 0, bytes: 0 };
  const table = { tableId: 2, snapshot: 3, folder: '', columns, ...counted };
  const visibility = { kind: 'all' } as const;
  const context = { dataset, table, visibility, rowsMax: ROWS_MAX, today, zone: ZONE };
  try {
    const query = readParameters({ parameters: SERIES_PARAMETERS }, request.query);
    const path = { key: keys ?? '', subkey: request.subkey ?? '' };
    const parameters = parseSeries({ path, query }, ZONE);
    return planSeries(parameters, { ...context, shape: request.door });
  } catch (error) {
    if (error instanceof Failure && error.type === 'InvalidParameter') return undefined;
    throw error;
  }
}

/** Differences between the plan and the oracle. */
function differences(
  plan: SeriesPlan | undefined,
  rows: readonly object[] | undefined,
  request: SeriesRequest,
  today: string,
): readonly string[] {
  const selection = meantBy(request, { today, zone: ZONE, rowsMax: ROWS_MAX });
  if (plan === undefined || rows === undefined || selection === undefined) {
    return (plan === undefined) === (rows === undefined) ? [] : ['only one of them refuses it'];
  }
  const spans = spanText(plan);
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['span', spans, `${selection.span.from ?? ''} ${selection.span.to ?? ''}`],
    ['take', plan.take, selection.take],
    ['order', plan.order, selection.order],
    ['limit', plan.limit, selection.limit],
    ['offset', plan.offset, selection.offset],
    ['interval', plan.interval, selection.interval],
  ];
  return pairs
    .filter(([, is, should]) => is !== should)
    .map(([name, is, should]) => `${name} is ${String(is)}, not ${String(should)}`);
}

/** A range as days; its instants must be edges of local days. */
function spanText({ range }: SeriesPlan): string {
  if (range.kind === 'days') return `${range.from ?? ''} ${range.to ?? ''}`;
  const { fromMs, untilMs } = range;
  const from = fromMs === undefined ? '' : edge(fromMs, fromMs);
  return `${from} ${untilMs === undefined ? '' : edge(untilMs, untilMs - 1)}`;
}

function edge(ms: number, within: number): string {
  // Local days of years before 1000 are formatted differently, and no request uses them.
  if (ms < Date.parse('1000-01-02')) return '0001-01-01';
  const isEdge = wallDay(ms, ZONE) !== wallDay(ms - 1, ZONE);
  return `${isEdge ? '' : 'inside of '}${wallDay(within, ZONE)}`;
}

/** Checks the cut of a page: '' if right, its fault, or `left` if it needs the files; undefined: no page. */
function cutPart(
  plan: SeriesPlan,
  shelf: Shelf,
  records: readonly StoredRecord[],
  request: SeriesRequest,
  random: Seeded,
  today: string,
): string | undefined {
  const { collapse, dateColumn, indexDate, interval, takes, tests, transform } = plan;
  const plain = [collapse, transform, request.query['filter']].every((item) => item === undefined);
  if (!plain || interval > 1 || takes.length > 0 || tests.length > 0) return undefined;
  if (dateColumn !== indexDate || plan.equals.length === 0) return undefined;
  const all = { today, zone: ZONE, rowsMax: ROWS_MAX };
  const everything = { ...request, query: { range: 'max' } };
  const series = expected(shelf, records, everything, all) ?? [];
  const stored: object[] = [];
  const over: OverlayRecord[] = [];
  const uniqueDates = shelf.subkey === undefined || request.subkey !== undefined;
  for (const row of series) {
    const kind = random.between(0, 9);
    if (kind > 1) stored.push(row);
    else over.push(laidOver(row, shelf, true));
    if (kind === 1 && uniqueDates) stored.push(marked(row));
    if (kind === 9 && uniqueDates) over.push(laidOver(marked(row), shelf, false));
  }
  const covered = { ...pageOf(stored, shelf, random), uniqueDates, isNumbered: false };
  const cut = cutPage(covered, over, cutBy(plan));
  if (cut === undefined) return 'left';
  const rows = expected(shelf, records, request, all) ?? [];
  const want = rows.map((row) => textOf(row)).join('');
  const have = Buffer.concat(cut.parts).toString();
  if (have === want && cut.objects === rows.length) return '';
  return `cut ${JSON.stringify(cutBy(plan))} of ${series.length} is ${have}, not ${want}`;
}

/** A record of the same date that must not be returned. */
const marked = (row: object): object => ({ ...row, hidden: true });

const textOf = (row: object): string => `${JSON.stringify(row)},`;

function numberOf(row: object, { date, properties }: Shelf): number {
  // Under `/time-series` an attribute `date` is epoch milliseconds.
  const value = (row as Readonly<Record<string, string | number>>)[date] ?? '';
  const ms = typeof value === 'number' ? value : Date.parse(value);
  return properties[date] === 'date' ? ms / 86_400_000 : ms * 1_000;
}

const laidOver = (row: object, shelf: Shelf, replaces: boolean): OverlayRecord => ({
  date: numberOf(row, shelf),
  replaces,
  bytes: Buffer.from(textOf(row)),
});

/** A page of the newest records, down to a floor: it has all records of a date or none. */
function pageOf(
  rows: readonly object[],
  shelf: Shelf,
  random: Seeded,
): Pick<Parameters<typeof cutPage>[0], 'page' | 'floor'> {
  const dates = rows.map((row) => numberOf(row, shelf));
  const floor = random.chance(0.5) ? -Infinity : (dates[random.between(0, 12)] ?? -Infinity);
  const texts = rows.filter((_, at) => (dates[at] ?? 0) > floor).map((row) => textOf(row));
  let bytes = 0;
  const ends = texts.map((text) => (bytes += Buffer.byteLength(text)));
  const page = {
    bytes: Buffer.from(texts.join('')),
    ends: Uint32Array.from(ends),
    dates: Float64Array.from(dates.filter((date) => date > floor)),
    ascending: undefined,
  };
  return { floor, page };
}

function cutBy({ limit, offset, order, range, take }: SeriesPlan): Cut {
  const day = (text: string | undefined, open: number): number =>
    text === undefined ? open : Date.parse(`${text}T00:00:00Z`) / 86_400_000;
  const micros = (ms: number | undefined, open: number): number =>
    ms === undefined ? open : ms * 1_000;
  const ends =
    range.kind === 'days'
      ? { least: day(range.from, -Infinity), greatest: day(range.to, Infinity) }
      : { least: micros(range.fromMs, -Infinity), greatest: micros(range.untilMs, Infinity) - 1 };
  return { ...ends, take, order, offset, limit };
}
