// Runs a metered read of a dataset: plan, hold, run, settle. The price bound is known before anything is read
// (limit x weight), and only returned records are charged.
import { tryParseDay, dayIn, endOfDay, parseInstant } from '../../query/time/dates.ts';
import { countRecords, runSeries } from '../../query/series/series.ts';
import {
  aggregatesRecords,
  maxSeriesRecords,
  testsValues,
} from '../../query/series/seriesRecords.ts';
import type { SeriesShape } from '../../query/plan/seriesMembers.ts';
import {
  planSeries,
  type SeriesPlan,
  type Since,
  type Visibility,
} from '../../query/plan/seriesPlan.ts';
import { isRelative } from '../../query/plan/seriesRules.ts';
import { toProperty } from '../../store/lake/versions/columns.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { PictureFormat } from '../../query/charts/drawing.ts';
import type { Body, BodyFormat } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import type { AsOf, Moment } from '../../store/lake/history/history.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import type { ChargeOrder, Metering } from '../../store/ledger/metering.ts';
import type { PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import type { QueryName } from '../../store/lake/history/queryCursors.ts';
import { isForeign, paysPremium, recordVisibility } from '../rights/access.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import { type Fare, meterCall } from '../answer/metering.ts';
import { readPast } from './moments.ts';
import { answerReading } from '../answer/answerReading.ts';
import { buildEtag } from '../answer/etag.ts';
import { refuseCallback, selectFormat } from '../answer/format.ts';
import { refuse, textOf, truthOf } from '../request/parameters.ts';
import { parseSeries } from './queryParameters.ts';
import type { SeriesParameters } from '../../query/plan/seriesParameters.ts';

export type SeriesServices = Pick<
  ReadServices,
  'clock' | 'cursors' | 'lake' | 'pending' | 'series' | 'settings'
> & { readonly ledger: Metering };

/** Adapts the read for another endpoint: its own parameters, chart format, and rendering of the records. */
export interface SeriesAdapter {
  readonly parameters?: SeriesParameters;
  readonly picture?: PictureFormat;
  /** May throw a refusal, which is free of charge. */
  readonly render: (body: Body, format: BodyFormat) => Promise<Body>;
}

export async function answerSeries(
  call: ReadRequest,
  services: SeriesServices,
  dataset: Dataset,
  shape: SeriesShape,
  door?: SeriesAdapter,
): Promise<Answer> {
  const { caller } = call;
  const format = selectFormat(call);
  if (format === 'arrow' || format === 'parquet') refuseCallback(call, format);
  const queryId = textOf(call.query, 'queryId');
  if (queryId === undefined) return answerPlanned(call, services, dataset, shape, format, door);
  const name = { accountId: caller.accountId, tableId: dataset.tableId, queryId };
  const named = await beginNamedQuery(call, name, services);
  try {
    return await answerPlanned(call, services, dataset, shape, format, door, named);
  } catch (error) {
    named.fail();
    throw error;
  }
}

async function answerPlanned(
  call: ReadRequest,
  services: SeriesServices,
  dataset: Dataset,
  shape: SeriesShape,
  format: BodyFormat,
  door: SeriesAdapter | undefined,
  named?: NamedQuery,
): Promise<Answer> {
  const { caller } = call;
  const { parameters: own, picture } = door ?? {};
  const planned = await readDataset(call, services, dataset, shape, { own, named });
  const { moment, plan, remembered, version } = planned;
  if (truthOf(call.query, 'schema')) {
    return { kind: 'json', value: describePlan(plan), metering: 'free' };
  }
  const { snapshot } = plan.table;
  // An answer of delayed data changes with time, without any write.
  const isCacheable = named === undefined && plan.visibility.kind !== 'before';
  const read = (): Promise<Body> => runSeries(plan, format, services.series, call, remembered);
  const run = door === undefined ? read : async () => door.render(await read(), format);
  const fare = buildFare(call, services, dataset, [planned]);
  const answer = await answerReading(call, {
    format,
    picture,
    snapshot,
    moment,
    tag: isCacheable ? buildEtag(call, [...version, picture ?? format]) : undefined,
    datasets: [dataset],
    meter: () => meterCall(call, services, caller, fare, run),
  });
  if (answer.kind === 'rows') named?.setCovered(moment);
  return answer;
}

/** The maximum number of records that a plan can return. */
export const maxPlanObjects = ({ limit, takes }: SeriesPlan): number =>
  limit * Math.max(1, takes.length);

/**
 * Builds the fare of reads of one dataset. Over data of others, conditions on values are charged even if no
 * record matches, and so are all records that an answer aggregates (DESIGN.md "Rules of price and ledger").
 */
export function buildFare(
  call: ReadRequest,
  services: SeriesServices,
  dataset: Dataset,
  reads: readonly Pick<DatasetRead, 'plan'>[],
): Fare {
  const { caller } = call;
  const order = buildChargeOrder(call, caller, dataset, services);
  const sum = (count: (plan: SeriesPlan) => number): number =>
    reads.reduce((total, { plan }) => total + count(plan), 0);
  if (!isForeign(caller, dataset, services.lake))
    return { order, most: sum(maxPlanObjects), least: 0 };
  const aggregatedReads = reads.filter(({ plan }) => aggregatesRecords(plan));
  const most = (plan: SeriesPlan): number =>
    aggregatesRecords(plan) ? maxSeriesRecords(plan) : maxPlanObjects(plan);
  const bound = (): number =>
    Math.max(
      1,
      sum((plan) => Math.min(most(plan), maxSeriesRecords(plan))),
    );
  const counts = async (): Promise<number> => {
    let objects = 0;
    for (const { plan } of aggregatedReads)
      objects += await countRecords(plan, services.series, call);
    return Math.max(1, objects);
  };
  const isCounted = aggregatedReads.length > 0 || reads.some(({ plan }) => testsValues(plan));
  return {
    order,
    most: sum(most),
    least: 1,
    upperBound: bound,
    counted: isCounted ? counts : undefined,
  };
}

/** Builds the charge order of a read of a dataset. */
const buildChargeOrder = (
  { endpoint, requestId }: ReadRequest,
  caller: Caller,
  dataset: Dataset,
  { lake }: Pick<ReadServices, 'lake'>,
): ChargeOrder => ({
  requestId,
  endpoint,
  usageKey: `${dataset.workspace}.${dataset.dataset}`,
  weight: dataset.weight,
  premium: paysPremium(caller, dataset, lake),
});

interface DatasetRead {
  readonly plan: SeriesPlan;
  readonly moment: Moment;
  /** The answer may come from memory. */
  readonly remembered: boolean;
  /** Identifies the version of this answer. */
  readonly version: readonly (string | number)[];
}

interface ReadOptions {
  /** Parameters of another endpoint; its days may change with the date. */
  readonly own?: SeriesParameters | undefined;
  /** The moment of an answer of several parts, if none is requested. */
  readonly at?: Moment | undefined;
  readonly named?: NamedQuery | undefined;
  /** Maximum records of a key, if another endpoint computes its answer from more than the tier allows. */
  readonly rowsMax?: number | undefined;
  /** Only records written since. */
  readonly since?: Since | undefined;
  /** Visibility of another endpoint that leaves out delayed records on its own. */
  readonly findVisibility?: ((dataset: Dataset) => Visibility | undefined) | undefined;
}

/** Plans the read of a request over one dataset. */
export async function readDataset(
  call: ReadRequest,
  services: SeriesServices,
  dataset: Dataset,
  shape: SeriesShape,
  { at, named, own, rowsMax, findVisibility, since }: ReadOptions = {},
): Promise<DatasetRead> {
  const { clock, lake, settings } = services;
  const { zone } = settings;
  const { caller } = call;
  const today = dayIn(clock(), zone);
  const parameters = own ?? parseSeries(call, zone);
  const asOf = parseAsOf(textOf(call.query, 'asOf'), zone);
  const { tableId } = dataset;
  const past = asOf === undefined ? undefined : await readPast(tableId, asOf, services);
  const table = asOf === undefined ? await readCurrentTable(tableId, at, lake) : past?.table;
  if (table === undefined) throw new Failure('NotFound');
  const visibility = findVisibility?.(dataset) ?? recordVisibility(caller, dataset, services);
  // Nothing awaits from here to the end of the plan, so the plan is of one moment.
  const moment = past?.moment ??
    at ?? { snapshot: lake.latestVersionOf(table), sequence: services.pending.sequence };
  const pending = (keys?: readonly string[]): readonly PendingRow[] =>
    past === undefined
      ? services.pending.rowsBeside(tableId, table.snapshot, keys, moment.sequence)
      : past.pending(keys);
  const plan = planSeries(parameters, {
    dataset,
    table,
    pending,
    since: since ?? named?.since,
    visibility,
    rowsMax: rowsMax ?? caller.tier.rowsMax,
    today,
    zone,
    shape,
  });
  const newest = past?.moment.sequence ?? services.pending.latestSequence(tableId);
  const days = own !== undefined || isRelative(parameters) ? [today] : [];
  const version = [tableId, table.snapshot, newest, dataset.updatedMs, ...days];
  const remembered = past === undefined && call.query['cache'] !== false;
  return { plan, moment, remembered, version };
}

const readCurrentTable = (
  tableId: number,
  at: Moment | undefined,
  lake: Lake,
): Promise<Table | undefined> =>
  at === undefined ? lake.table(tableId) : lake.recentTable(tableId, at.snapshot);

interface NamedQuery {
  /** The position after its last answer; undefined on its first run. */
  readonly since: Since | undefined;
  /** Records the moment that the current answer covers. */
  readonly setCovered: (moment: Moment) => void;
  readonly fail: () => void;
}

/** Begins a named query, which returns records that are new or changed since its last delivered answer. */
async function beginNamedQuery(
  { atEnd, bodiless, testCursors }: ReadRequest,
  name: QueryName,
  { cursors, lake, pending }: Pick<ReadServices, 'cursors' | 'lake' | 'pending'>,
): Promise<NamedQuery> {
  const { cursor, end } = await (testCursors ?? cursors).begin(name);
  let covered: Moment | undefined;
  atEnd((whole) => end(whole && !bodiless ? covered : undefined));
  return {
    since:
      cursor === undefined ? undefined : await readSince(name.tableId, cursor, { lake, pending }),
    setCovered: (moment) => {
      covered = moment;
    },
    fail: () => end(undefined),
  };
}

/** Reads the position of a cursor; undefined if its version has expired: the query starts again. */
export async function readSince(
  tableId: number,
  { sequence, snapshot }: Moment,
  { lake, pending }: Pick<ReadServices, 'lake' | 'pending'>,
): Promise<Since | undefined> {
  const table = await lake.tableAt(tableId, snapshot);
  if (table === undefined) return undefined;
  try {
    const past = await pending.rowsAt(tableId, snapshot, { kind: 'sequence', sequence });
    return { table, visibleRecords: past.rows };
  } catch (error) {
    if (error instanceof Failure && error.type === 'Gone') return undefined;
    throw error;
  }
}

/** Lists names and types of the answer's attributes, as JSON schema. */
export function describePlan({ members, table }: SeriesPlan): readonly object[] {
  const columns = new Map(table.columns.map((column) => [column.name, column.type]));
  return members.map((member) => {
    if (member.kind === 'text') return { name: member.name, type: 'string' };
    if (member.kind === 'epoch') return { name: member.name, type: 'integer' };
    if (member.kind === 'object') return { name: member.name, type: 'object' };
    return { name: member.name, ...toProperty(columns.get(member.column) ?? 'varchar') };
  });
}

/**
 * Parses `asOf`. A date, also as eight digits, means the end of that day. Other digits are a snapshot id,
 * optionally with a colon and the sequence of the last push.
 */
export function parseAsOf(
  text: string | undefined,
  zone: string,
  parameter = 'asOf',
): AsOf | undefined {
  if (text === undefined) return undefined;
  const day = tryParseDay(text);
  if (day !== undefined) return { kind: 'time', ms: endOfDay(day, zone) - 1 };
  const [, snapshot, sequence = '0'] = /^(\d{1,11})(?::(\d{1,15}))?$/.exec(text) ?? [];
  if (snapshot !== undefined) {
    return { kind: 'snapshot', snapshot: Number(snapshot), sequence: Number(sequence) };
  }
  const ms = parseInstant(text, zone);
  if (ms !== undefined) return { kind: 'time', ms };
  const rule =
    'must be a snapshot id, a value of svccloud-as-of, a date, an ISO 8601 time or epoch ms; got ' +
    JSON.stringify(text.slice(0, 64));
  return refuse(parameter, rule);
}
