// A metered read of a dataset, whole: plan, hold, run, settle. The price is known before anything
// is read (limit x weight), and only what was returned is charged.
import { endOfDay, parseDay, parseInstant } from '../query/dates.ts';
import { runSeries } from '../query/series.ts';
import {
  planSeries,
  type SeriesParameters,
  type SeriesPlan,
  type SeriesShape,
} from '../query/seriesPlan.ts';
import { propertyOf } from '../store/columns.ts';
import type { Caller } from '../store/callers.ts';
import type { Dataset } from '../store/datasets.ts';
import type { Body, BodyFormat } from '../store/duckdb/protocol.ts';
import { Failure } from '../store/failure.ts';
import type { AsOf } from '../store/lake.ts';
import type { Table } from '../store/lakeRead.ts';
import { findCursor, saveCursor } from '../store/queryCursors.ts';
import { callerOf, paysPremium, visibilityOf } from './access.ts';
import type { Answer, Call, Services } from './endpoint.ts';
import { metered, METERING_PARAMETERS } from './metering.ts';
import {
  dayOf,
  listOf,
  numberOf,
  type Parameter,
  refuse,
  textOf,
  truthOf,
  type Values,
} from './parameters.ts';

const COUNT_MAX = 1_000_000_000;
const count = (name: string, help: string): Parameter => ({
  kind: 'integer',
  name,
  help,
  least: 1,
  most: COUNT_MAX,
});

/** Query parameters of both series doors (SPEC.md "Time series"; INTERFACE.md 3.5). */
export const SERIES_PARAMETERS: readonly Parameter[] = [
  { kind: 'day', name: 'from', help: 'Records on or after this date.' },
  { kind: 'day', name: 'to', help: 'Records on or before this date.' },
  { kind: 'day', name: 'on', help: 'Records on this date.' },
  count('last', 'The latest n records, newest first.'),
  count('first', 'The first n records, oldest first.'),
  count('limit', 'At most n records; 1 when no date is given. first and last go before it.'),
  {
    kind: 'choice',
    name: 'sort',
    choices: ['asc', 'desc'],
    help: 'Order by date; desc by default.',
  },
  { kind: 'list', name: 'filter', help: 'Comma list of the attributes to answer.' },
  {
    kind: 'choice',
    name: 'format',
    choices: ['json', 'jsonl', 'csv', 'psv', 'text'],
    help: 'Format of the answer; json by default. text is csv to look at, not to save.',
  },
  {
    kind: 'text',
    name: 'callback',
    help: 'JSONP: name of the function that gets the answer.',
    pattern: /^[A-Za-z_$][\w$]{0,63}(\.[A-Za-z_$][\w$]{0,63}){0,4}$/,
    rule: 'must be a JavaScript identifier, or several joined by dots',
  },
  {
    kind: 'boolean',
    name: 'calendar',
    help: 'false, as client libraries always send; true asks for ranges of the future.',
  },
  { kind: 'boolean', name: 'schema', help: 'Only the names and types of the attributes; free.' },
  {
    kind: 'text',
    name: 'asOf',
    help: 'The data as it was known: a snapshot id, or a time (ISO 8601, or a date: its end).',
  },
  {
    kind: 'text',
    name: 'queryId',
    help: 'Name of a query: only records that are new or changed since its last run.',
    pattern: /^[A-Za-z0-9]{1,3}$/,
    rule: 'must be 1 to 3 letters or digits',
  },
  ...METERING_PARAMETERS,
];

export async function answerSeries(
  call: Call,
  services: Services,
  dataset: Dataset,
  shape: SeriesShape,
): Promise<Answer> {
  const { lake, settings, series } = services;
  const caller = callerOf(call.caller);
  if (truthOf(call.query, 'calendar')) refuse('calendar', 'is not allowed without "range"');
  const asOf = readAsOf(textOf(call.query, 'asOf'), settings.zone);
  const format = formatOf(call);
  const named = await namedQuery(call, caller, dataset, services);
  const table = await lake.table(dataset.tableId, asOf);
  if (table === undefined) throw new Failure('NotFound');
  const visibility = visibilityOf(caller, dataset);
  const rowsMax = caller.tier.rowsMax;
  // What was known then is what snapshots held: pushed records join with their flush.
  const pending =
    asOf === undefined ? services.pending.beside(dataset.tableId, table.snapshot) : [];
  const since = named?.since;
  const seen = { dataset, table, pending, since, visibility };
  const context = { ...seen, rowsMax, zone: settings.zone, shape };
  const plan = planSeries(readSeries(call), context);
  if (truthOf(call.query, 'schema')) {
    return { kind: 'json', value: describePlan(plan), metering: 'free' };
  }
  const newest = asOf === undefined ? services.pending.newest(dataset.tableId) : 0;
  const version = [dataset.tableId, table.snapshot, newest, dataset.updatedMs, format];
  const tag = named === undefined ? `"${version.join('.')}"` : undefined;
  const priced = truthOf(call.query, 'estimate');
  if (tag !== undefined && !priced && has(call.ifNoneMatch, tag)) {
    return { kind: 'unchanged', snapshot: table.snapshot, tag };
  }
  const order = {
    requestId: call.requestId,
    endpoint: call.endpoint,
    usageKey: `${dataset.workspace}.${dataset.dataset}`,
    weight: dataset.weight,
    premium: paysPremium(caller, dataset, lake),
  };
  const run = (): Promise<Body> => runSeries(plan, format, series, call.signal);
  const metering = await metered(call, services, caller, order, plan.limit, run);
  if (metering.kind === 'estimate') return metering.answer;
  await named?.save(table.snapshot);
  const { result: body, charge } = metering;
  const callback = format === 'json' ? textOf(call.query, 'callback') : undefined;
  const plain = textOf(call.query, 'format') === 'text';
  return {
    kind: 'rows',
    body,
    format,
    plain,
    callback,
    snapshot: table.snapshot,
    tag,
    charge,
    dataset,
  };
}

/** Whether an If-None-Match names a tag; a weak one is good enough for a GET. */
const has = (ifNoneMatch: string, tag: string): boolean =>
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
  if (query['asOf'] !== undefined) refuse('queryId', 'is not allowed beside "asOf"');
  const { tableId, workspace, dataset: name } = dataset;
  if (pending.rows(tableId).length > 0) {
    await runner.inTurn(workspace, name, async () => undefined);
  }
  const key = { accountId, tableId, queryId };
  const snapshot = await findCursor(database, key, clock());
  const since =
    snapshot === undefined ? undefined : await lake.table(tableId, { kind: 'snapshot', snapshot });
  return { since, save: (at) => saveCursor(database, key, at, clock()) };
}

/** Names and types of the answer's attributes, in the words of JSON schema. */
function describePlan({ members, table }: SeriesPlan): readonly object[] {
  const columns = new Map(table.columns.map((column) => [column.name, column.type]));
  return members.map((member) => {
    if (member.kind === 'text') return { name: member.name, type: 'string' };
    if (member.kind === 'epoch') return { name: member.name, type: 'integer' };
    return { name: member.name, ...propertyOf(columns.get(member.column) ?? 'varchar') };
  });
}

function readSeries({ path, query }: Call): SeriesParameters {
  const { key, subkey } = path;
  const [from, to, on] = [dayOf(query, 'from'), dayOf(query, 'to'), dayOf(query, 'on')];
  const sort = textOf(query, 'sort');
  return defined({
    key: key === '' ? undefined : key,
    subkey: subkey === '' ? undefined : subkey,
    from,
    to,
    on,
    first: numberOf(query, 'first'),
    last: numberOf(query, 'last'),
    limit: numberOf(query, 'limit'),
    sort: sort === 'asc' || sort === 'desc' ? sort : undefined,
    filter: listOf(query, 'filter'),
  });
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Leaves undefined members out, so that an absent parameter is absent in the plan. */
const defined = <T extends object>(value: T): Defined<T> =>
  Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== undefined),
  ) as Defined<T>;

/** `format`, else the Accept header (INTERFACE.md 3.5), else JSON. */
function formatOf({ query, accept }: { query: Values; accept: string }): BodyFormat {
  const format = textOf(query, 'format');
  if (format === 'text') return 'csv';
  if (format === 'csv' || format === 'psv' || format === 'json' || format === 'jsonl')
    return format;
  if (accept.includes('application/x-ndjson')) return 'jsonl';
  return accept.includes('text/csv') && !accept.includes('application/json') ? 'csv' : 'json';
}

/** Digits are a snapshot id; a date means the end of that day: what was known then. */
function readAsOf(text: string | undefined, zone: string): AsOf | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,11}$/.test(text)) return { kind: 'snapshot', snapshot: Number(text) };
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    return { kind: 'time', ms: endOfDay(parseDay('asOf', text), zone) - 1 };
  }
  const ms = /^\d{12,14}$/.test(text) ? Number(text) : parseInstant(text);
  if (ms !== undefined) return { kind: 'time', ms };
  return refuse('asOf', 'must be a snapshot id, a date, an ISO 8601 time or epoch milliseconds');
}
