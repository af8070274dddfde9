// A metered read of a dataset, whole: plan, hold, run, settle. The price is known before anything
// is read (limit x weight), and only what was returned is charged.
import { dayIn, endOfDay, parseDay, parseInstant } from '../query/dates.ts';
import { runSeries } from '../query/series.ts';
import type { SeriesShape } from '../query/seriesMembers.ts';
import { planSeries, type SeriesParameters, type SeriesPlan } from '../query/seriesPlan.ts';
import { isRelative } from '../query/seriesRules.ts';
import { propertyOf } from '../store/columns.ts';
import type { Caller } from '../store/callers.ts';
import type { Dataset } from '../store/datasets.ts';
import type { Body, BodyFormat } from '../store/duckdb/protocol.ts';
import { Failure } from '../store/failure.ts';
import type { AsOf } from '../store/history.ts';
import type { Table } from '../store/lakeRead.ts';
import type { Order } from '../store/ledger.ts';
import type { PendingRow } from '../store/pending.ts';
import { findCursor, saveCursor } from '../store/queryCursors.ts';
import { callerOf, paysPremium, visibilityOf } from './access.ts';
import { escapedFormat } from './csvFormulas.ts';
import type { Answer, Call, Services } from './endpoint.ts';
import { metered } from './metering.ts';
import { numberOf, refuse, textOf, truthOf } from './parameters.ts';
import { readSeries } from './seriesParameters.ts';

/** How another door asks for the same records, and what it makes of them. */
interface OtherDoor {
  readonly parameters: SeriesParameters;
  /** May refuse: nothing is charged then. */
  readonly dress: (body: Body, format: BodyFormat) => Promise<Body>;
}

export async function answerSeries(
  call: Call,
  services: Services,
  dataset: Dataset,
  shape: SeriesShape,
  door?: OtherDoor,
): Promise<Answer> {
  const caller = callerOf(call.caller);
  const format = formatOf(call);
  if (format === 'arrow' || format === 'parquet') refuseBeside(call, format);
  const planned = await readDataset(call, services, dataset, shape, door?.parameters);
  const { plan, named, remembered, version } = planned;
  if (truthOf(call.query, 'schema')) {
    return { kind: 'json', value: describePlan(plan), metering: 'free' };
  }
  const { snapshot } = plan.table;
  const tag = named === undefined ? `"${[...version, format].join('.')}"` : undefined;
  const priced = truthOf(call.query, 'estimate');
  if (tag !== undefined && !priced && has(call.ifNoneMatch, tag)) {
    return { kind: 'unchanged', snapshot, tag };
  }
  const read = (): Promise<Body> => runSeries(plan, format, services.series, call, remembered);
  const run = door === undefined ? read : async () => door.dress(await read(), format);
  const order = orderOf(call, caller, dataset, services);
  const metering = await metered(call, services, caller, order, objectsMax(plan), run);
  if (metering.kind === 'estimate') {
    return { kind: 'json', value: metering.price, metering: 'free' };
  }
  await named?.save(snapshot);
  const { result: body, charge } = metering;
  return rowsOf(call, { body, format, snapshot, tag, charge, dataset });
}

/** An answer of records, as the query wants it dressed. */
export function rowsOf(
  { query }: Call,
  rows: Omit<Extract<Answer, { kind: 'rows' }>, 'kind' | 'plain' | 'callback' | 'cacheSeconds'>,
): Answer {
  const { body, format, snapshot, tag, charge, dataset, leftOut } = rows;
  return {
    kind: 'rows',
    body,
    format,
    plain: textOf(query, 'format') === 'text',
    callback: format === 'json' ? textOf(query, 'callback') : undefined,
    snapshot,
    cacheSeconds: numberOf(query, 'cacheTTL'),
    tag,
    charge,
    dataset,
    leftOut,
  };
}

/** The most records that a plan can answer. */
export const objectsMax = ({ limit, takes }: SeriesPlan): number =>
  limit * Math.max(1, takes.length);

/** What a read of a dataset costs, and whom. */
export const orderOf = (
  { endpoint, requestId }: Call,
  caller: Caller,
  dataset: Dataset,
  { lake }: Services,
): Order => ({
  requestId,
  endpoint,
  usageKey: `${dataset.workspace}.${dataset.dataset}`,
  weight: dataset.weight,
  premium: paysPremium(caller, dataset, lake),
});

interface DatasetRead {
  readonly plan: SeriesPlan;
  readonly named: NamedQuery | undefined;
  /** Memory may answer. */
  readonly remembered: boolean;
  /** Tells this answer from that of another time. */
  readonly version: readonly (string | number)[];
}

/**
 * The plan of a request over one dataset.
 * @param own what another door makes of its parameters; its days may be others tomorrow
 */
export async function readDataset(
  call: Call,
  services: Services,
  dataset: Dataset,
  shape: SeriesShape,
  own?: SeriesParameters,
): Promise<DatasetRead> {
  const { clock, lake, settings } = services;
  const { zone } = settings;
  const caller = callerOf(call.caller);
  const today = dayIn(clock(), zone);
  const parameters = own ?? readSeries(call, zone);
  const asOf = readAsOf(textOf(call.query, 'asOf'), zone);
  const isNamed = call.query['queryId'] !== undefined;
  const named = isNamed ? await namedQuery(call, caller, dataset, services) : undefined;
  const table = await lake.table(dataset.tableId, asOf);
  if (table === undefined) throw new Failure('NotFound');
  const visibility = visibilityOf(caller, dataset);
  // What is known then is what snapshots held: pushed records join with their flush.
  const now = asOf === undefined;
  const pending = (keys?: readonly string[]): readonly PendingRow[] =>
    now ? services.pending.beside(dataset.tableId, table.snapshot, keys) : [];
  const plan = planSeries(parameters, {
    dataset,
    table,
    pending,
    since: named?.since,
    visibility,
    rowsMax: caller.tier.rowsMax,
    today,
    zone,
    shape,
  });
  const newest = now ? services.pending.newest(dataset.tableId) : 0;
  const days = own !== undefined || isRelative(parameters) ? [today] : [];
  const version = [dataset.tableId, table.snapshot, newest, dataset.updatedMs, ...days];
  const remembered = now && call.query['cache'] !== false;
  return { plan, named, remembered, version };
}

/** Whether an If-None-Match names a tag; a weak one is good enough for a GET. */
export const has = (ifNoneMatch: string, tag: string): boolean =>
  ifNoneMatch.split(',').some((item) => item.trim().replace(/^W\//, '') === tag);

interface NamedQuery {
  /** The version of its last answer; undefined on its first run. */
  readonly since: Table | undefined;
  readonly save: (snapshot: number) => Promise<void>;
}

/**
 * A query with a name answers what is new or changed since its last run. What is pending becomes
 * a file first, so that a snapshot says exactly what was answered.
 */
async function namedQuery(
  { query }: Call,
  { accountId }: Caller,
  dataset: Dataset,
  { clock, database, lake, pending, runner }: Services,
): Promise<NamedQuery | undefined> {
  const queryId = textOf(query, 'queryId');
  if (queryId === undefined) return undefined;
  const { tableId, workspace, dataset: name } = dataset;
  if (pending.rows(tableId).length > 0) {
    await runner.inTurn(workspace, name, async () => undefined);
  }
  const key = { accountId, tableId, queryId };
  const snapshot = await findCursor(database, key, clock());
  // Where it stood may have ended: then it begins again.
  const since = snapshot === undefined ? undefined : await lake.tableAt(tableId, snapshot);
  return { since, save: (at) => saveCursor(database, key, at, clock()) };
}

/** Names and types of the answer's attributes, in the words of JSON schema. */
export function describePlan({ members, table }: SeriesPlan): readonly object[] {
  const columns = new Map(table.columns.map((column) => [column.name, column.type]));
  return members.map((member) => {
    if (member.kind === 'text') return { name: member.name, type: 'string' };
    if (member.kind === 'epoch') return { name: member.name, type: 'integer' };
    if (member.kind === 'object') return { name: member.name, type: 'object' };
    return { name: member.name, ...propertyOf(columns.get(member.column) ?? 'varchar') };
  });
}

/** @throws Failure InvalidParameter when bytes are asked for where only text can be answered. */
export function refuseBeside({ environment, query }: Call, format: BodyFormat): void {
  if (environment === 'test')
    refuse('format', `${format} is not available in the test environment`);
  if (query['callback'] !== undefined) refuse('callback', `is not allowed with format ${format}`);
}

const FORMATS: readonly BodyFormat[] = ['json', 'jsonl', 'csv', 'psv', 'arrow', 'parquet'];

/** `format`, else the Accept header (INTERFACE.md 3.5), else JSON. */
export const formatOf = (call: Pick<Call, 'query' | 'accept' | 'navigates'>): BodyFormat =>
  escapedFormat(askedFormat(call), call.query, call.navigates);

function askedFormat({ query, accept }: Pick<Call, 'query' | 'accept'>): BodyFormat {
  const format = textOf(query, 'format');
  if (format === 'text') return 'csv';
  const known = FORMATS.find((item) => item === format);
  if (known !== undefined) return known;
  if (accept.includes('application/x-ndjson')) return 'jsonl';
  if (accept.includes('application/vnd.apache.arrow.stream')) return 'arrow';
  if (accept.includes('application/vnd.apache.parquet')) return 'parquet';
  return accept.includes('text/csv') && !accept.includes('application/json') ? 'csv' : 'json';
}

/** Digits are a snapshot id; a date means the end of that day: what was known then. */
export function readAsOf(text: string | undefined, zone: string): AsOf | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,11}$/.test(text)) return { kind: 'snapshot', snapshot: Number(text) };
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    return { kind: 'time', ms: endOfDay(parseDay('asOf', text), zone) - 1 };
  }
  const ms = /^\d{12,14}$/.test(text) ? Number(text) : parseInstant(text);
  if (ms !== undefined) return { kind: 'time', ms };
  return refuse('asOf', 'must be a snapshot id, a date, an ISO 8601 time or epoch milliseconds');
}
