// Runs a metered query: plan, bind, hold, run, settle. The SQL endpoint, views and published queries all use
// this path.
import type { PictureFormat } from '../../query/charts/drawing.ts';
import { dayIn } from '../../query/time/dates.ts';
import { instantText } from '../../query/plan/seriesPlan.ts';
import { explainPlan } from '../../query/sql/run/explain.ts';
import { type BoundTable, datasetsOf } from '../../query/sql/plan/boundTable.ts';
import { countObjects, countItemObjects } from '../../query/sql/run/price.ts';
import { maxPaidBytes } from '../../query/sql/run/rowBytes.ts';
import { maxAnswerRows } from '../../query/sql/run/rowBounds.ts';
import {
  type BoundPlan,
  countRecords,
  describeSql,
  planSql,
  runSql,
  type SqlColumn,
  type SqlLimits,
} from '../../query/sql/run/run.ts';
import type { SelectPlan } from '../../query/sql/plan/selectPlan.ts';
import type { ParameterValues } from '../../query/sql/text/spelling.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { type Body, type BodyFormat, bodyLength } from '../../store/duckdb/protocol.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { Metering } from '../../store/ledger/metering.ts';
import type { NamedTable, View } from '../../store/lake/datasets/views.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { findReadableWorkspace } from '../rights/access.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import { type Metered, meterTogether } from '../answer/metering.ts';
import { latestMoment, currentMoment } from '../series/moments.ts';
import { renderChart, parseChartFormat, type ChartOptions } from '../answer/charts.ts';
import { numberOf, textOf, truthOf } from '../request/parameters.ts';
import { parseAsOf } from '../series/series.ts';
import { selectFormat, refuseCallback } from '../answer/format.ts';
import { answerReading } from '../answer/answerReading.ts';
import { hashBody } from '../../store/base/bodyHash.ts';
import {
  isPaidByBytes,
  computeMaxPrice,
  refuseExpensive,
  buildOwnRefusal,
  type SqlFare,
  buildSqlFare,
} from './sqlPrice.ts';
import { bindTables } from './sqlTables.ts';
import { isInformation } from './informationSchema.ts';
import { isLogs } from './systemLogs.ts';
import { dropFile } from '../../store/duckdb/bodyFiles.ts';

/** ReadServices needed to bind a query to the tables of its caller. */
export type BindServices = Pick<
  ReadServices,
  'clock' | 'database' | 'lake' | 'pending' | 'queries' | 'settings' | 'sql'
> & {
  /** On a replica node: checks that reads from now on return the stored state. */
  readonly sure?: () => (tables: readonly BoundTable[]) => void;
};
export type SqlServices = BindServices &
  Pick<ReadServices, 'failedTime' | 'workers'> & { readonly ledger: Metering };

export interface SqlRequest {
  readonly workspace: string;
  readonly text: string;
  readonly parameters: ParameterValues;
  /** For a stored query: its tables, its weight, and its key in the usage. */
  readonly stored?: {
    readonly tables: readonly NamedTable[];
    readonly weight: number | undefined;
    readonly usageKey: string;
  };
}

/** @throws Failure InvalidParameter naming the place in the query and the rule. */
export async function answerSql(
  call: ReadRequest,
  services: SqlServices,
  question: SqlRequest,
): Promise<Answer> {
  const { sql } = services;
  const { caller } = call;
  const picture = parseChartFormat(call.query);
  services.failedTime.check(caller);
  const limits = buildLimits(caller, services.settings);
  const bound = await bindQuery(call, services, question);
  const moment = findMoment(bound);
  if (truthOf(call.query, 'schema')) {
    const value = await describeSql(bound, sql, limits, call);
    return { kind: 'json', value, metering: 'free' };
  }
  const rows = Math.min(limits.rowsMax, maxAnswerRows(bound));
  const fare = buildSqlFare(call, caller, bound, services, question, rows);
  const price = await answerPrice(call, sql, question, { bound, fare, limits, rows });
  if (price !== undefined) return price;
  const format = selectFormat(call);
  if (format === 'arrow' || format === 'parquet') refuseCallback(call, format);
  const snapshot = latestSnapshot(bound);
  const tag = buildTag(bound, picture ?? format, question);
  const asFile = isLarge(rows, format, call);
  let bodyFile: Body['file'];
  // Records of others behind an aggregate are counted each time.
  const isCacheable = tag !== undefined && fare.tariff.counted.length === 0;
  const run = async () => {
    const beganMs = monotonicMs();
    const counts = await countRecords(bound, fare.tariff.counted, sql, limits, call);
    const read = () => runSql(bound, format, sql, limits, call, asFile ? 'if long' : 'never');
    const name = [caller.tokenId, tag, question.stored?.usageKey, rows, asFile].join(' ');
    const body = isCacheable ? await sql.answers.find(name, tableIdsOf(bound), read) : await read();
    bodyFile = body.file;
    const bytes = await countChargedBytes(
      fare,
      body,
      () => describeSql(bound, sql, limits, call),
      bound,
    );
    const objects = countItemObjects(fare.tariff, body.objects, bytes, counts);
    const refusal = buildOwnRefusal(fare, objects, numberOf(call.query, 'maxMessages'));
    if (refusal !== undefined) {
      // The refusal is free, so its time counts as that of a failed query.
      services.failedTime.spent(caller.accountId, monotonicMs() - beganMs);
      throw refusal;
    }
    return {
      result: await renderChart(call, services, body, toChartOptions(question, picture)),
      objects,
    };
  };
  const meter = async (): Promise<Metered<Body>> => {
    try {
      return await meterTogether(call, services, caller, fare.fares, run);
    } catch (error) {
      dropFile(bodyFile);
      throw error;
    }
  };
  const datasets = datasetsOf(bound.tables).map((table) => table.dataset);
  const reading = { format, picture, snapshot, moment, tag, datasets, meter };
  const answer = await answerReading(call, reading);
  if (answer.kind !== 'rows') return answer;
  if (picture !== undefined) dropFile(bodyFile);
  const isCut = answer.body.objects >= limits.rowsMax;
  return isCut ? { ...answer, cutAt: truncationLimit(bound, limits) } : answer;
}

const toChartOptions = (
  { stored, workspace }: SqlRequest,
  picture: ChartOptions['picture'],
): ChartOptions => ({
  picture,
  title: stored?.usageKey ?? workspace,
});

interface PricedPlan {
  readonly bound: BoundPlan;
  readonly fare: SqlFare;
  readonly limits: SqlLimits;
  /** The maximum rows of the answer. */
  readonly rows: number;
}

/**
 * Answers the plan with its price, or the price alone; undefined for a call that requests neither.
 * @throws Failure PriceTooHigh if the same price is over `maxMessages`
 */
async function answerPrice(
  call: ReadRequest,
  sql: SqlServices['sql'],
  { stored }: SqlRequest,
  { bound, fare, limits, rows }: PricedPlan,
): Promise<Answer | undefined> {
  const explains = truthOf(call.query, 'explain');
  const allowed = numberOf(call.query, 'maxMessages');
  // The plan of a stored query reveals its text.
  const isStored = stored !== undefined || bound.tables.some(({ kind }) => kind === 'view');
  if (explains && isStored && call.environment === 'test') throw new Failure('TestReadOnly');
  const estimates = explains || truthOf(call.query, 'estimate');
  if (!estimates && (allowed === undefined || !fare.foreign)) return undefined;
  const needsColumns = explains || isPaidByBytes(fare);
  const columns = needsColumns ? await describeSql(bound, sql, limits, call) : [];
  const bytes = needsColumns ? maxPaidBytes(bound, columns, rows) : 0;
  if (!estimates) {
    refuseExpensive(fare, rows, bytes, allowed);
    return undefined;
  }
  const price = computeMaxPrice(fare, rows, bytes);
  const value = explains ? explainPlan(bound, columns, { rows, bytes, price }) : price;
  return { kind: 'json', value, metering: 'free' };
}

/** Rows from which on DuckDB writes the body to a file: below, that takes longer than it saves. */
const FILE_ROWS = 10_000;

/** Whether the body becomes a file: if it may be long, and nothing has to be put around it. */
function isLarge(rows: number, format: BodyFormat, { query }: ReadRequest): boolean {
  if (format === 'arrow' || query['callback'] !== undefined) return false;
  return rows > FILE_ROWS;
}

const tableIdsOf = ({ tables }: BoundPlan): readonly number[] =>
  datasetsOf(tables).map(({ dataset }) => dataset.tableId);

/** The charged bytes of an answer; its columns are described only if it is charged by bytes. */
export async function countChargedBytes(
  fare: SqlFare,
  body: Body,
  describe: () => Promise<readonly SqlColumn[]>,
  bound: BoundPlan,
): Promise<number> {
  const bytes = bodyLength(body);
  const isByRows = countObjects(0, bytes) <= Math.max(1, body.objects);
  if (isByRows || !isPaidByBytes(fare)) return bytes;
  return Math.min(bytes, maxPaidBytes(bound, await describe(), body.objects));
}

/** The latest version among the tables of a query. */
export const latestSnapshot = ({ tables }: BoundPlan): number =>
  Math.max(0, ...datasetsOf(tables).map(({ table }) => table.snapshot));

/** The common moment of the tables of a query. */
export const findMoment = ({ tables }: BoundPlan): Moment =>
  latestMoment(datasetsOf(tables).map(({ moment }) => moment));

/** The part of a call that is needed to bind a query. */
type BindCall = Pick<ReadRequest, 'caller' | 'query' | 'departure'>;

/** Plans a query and binds it to the tables that its caller may read. */
export async function bindQuery(
  call: BindCall,
  services: BindServices,
  question: SqlRequest,
): Promise<BoundPlan> {
  const { clock, lake, settings, sql } = services;
  const { caller } = call;
  const { workspace } = findReadableWorkspace(caller, question.workspace, lake);
  const asOf = parseAsOf(textOf(call.query, 'asOf'), settings.zone);
  const at = currentMoment(services);
  const check = services.sure?.();
  const plan = await planSql(question.text, question.parameters, sql, call);
  const binding = {
    caller,
    workspace,
    source: question.text,
    asOf,
    at,
    named: question.stored?.tables ?? [],
    within: [],
    owned: question.stored !== undefined,
    call,
  };
  const tables = await bindTables(plan, binding, services);
  check?.(tables);
  return {
    plan,
    source: question.text,
    tables,
    system: truthOf(call.query, 'includeSystemRecordProperties'),
    today: dayIn(clock(), settings.zone),
    now: instantText(clock()),
  };
}

/** The limits of the tier, within those of the server. */
export const buildLimits = ({ tier }: Caller, settings: Settings): SqlLimits => ({
  rowsMax: tier.sql.rowsMax,
  deadlineMs: Math.min(tier.sql.deadlineMs, settings.sqlTimeoutMs),
  memoryBytes: Math.min(tier.sql.memoryBytes, settings.sqlMemoryBytes),
  spillBytes: Math.min(tier.sql.spillBytes, settings.sqlSpillBytes),
});

/** Rows after which the tier truncated the answer; undefined if the query's own LIMIT did. */
function truncationLimit(
  { plan: { query } }: BoundPlan,
  { rowsMax }: SqlLimits,
): number | undefined {
  return query.limit !== undefined && query.limit <= rowsMax ? undefined : rowsMax;
}

/** Builds the tag of an answer from the versions of its tables; undefined if the answer changes with time. */
export function buildTag(
  { plan, system, tables }: BoundPlan,
  format: BodyFormat | PictureFormat,
  question: SqlRequest,
): string | undefined {
  if (isMomentary(plan, tables) || tables.length === 0) return undefined;
  const versions = datasetsOf(tables).map(
    ({ dataset: { tableId, updatedMs }, newest, table: { snapshot } }) =>
      [tableId, snapshot, newest, updatedMs].join('.'),
  );
  const views = listViews(tables).map(({ updatedMs }) => updatedMs);
  const request = JSON.stringify([question.text, question.parameters, system]);
  return `"sql.${hashBody([...versions, ...views, request].join(' '))}.${format}"`;
}

/** Lists the views of a query, including nested ones. */
const listViews = (tables: readonly BoundTable[]): readonly View[] =>
  tables.flatMap((table) =>
    table.kind === 'view' ? [table.view, ...listViews(table.tables)] : [],
  );

const isMomentary = (plan: SelectPlan, tables: readonly BoundTable[]): boolean =>
  plan.momentary ||
  tables.some((table) =>
    table.kind === 'view'
      ? isMomentary(table.plan, table.tables)
      : isLogs(table.dataset) || isInformation(table.dataset) || table.visibility.kind === 'before',
  );
