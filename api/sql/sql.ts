// A metered query, whole: plan, bind, hold, run, settle. Whoever asks, by the door itself, by a view
// or by a published endpoint, asks here.
import type { PictureFormat } from '../../query/charts/drawing.ts';
import { dayIn } from '../../query/time/dates.ts';
import { instantText } from '../../query/plan/seriesPlan.ts';
import { explainPlan } from '../../query/sql/run/explain.ts';
import { type BoundTable, datasetsOf } from '../../query/sql/plan/boundTable.ts';
import { objectsOf, objectsOfItems } from '../../query/sql/run/price.ts';
import { paidBytesMost } from '../../query/sql/run/rowBytes.ts';
import { rowsMost } from '../../query/sql/run/rowsMost.ts';
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
import { type Body, type BodyFormat, lengthOf } from '../../store/duckdb/protocol.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Moment } from '../../store/lake/history/history.ts';
import type { Metering } from '../../store/ledger/metering.ts';
import type { NamedTable, View } from '../../store/lake/datasets/namedQueries.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { callerOf, readableWorkspace } from '../auth/access.ts';
import type { Answer, Call, Services } from '../request/endpoint.ts';
import { meteredTogether } from '../read/metering.ts';
import { lastMoment, momentNow } from '../read/moments.ts';
import { drawn, pictureOf, type Shown } from '../read/pictures.ts';
import { numberOf, textOf, truthOf } from '../request/parameters.ts';
import { formatOf, has, readAsOf, refuseBeside, rowsOf } from '../read/series.ts';
import { bodyHashOf } from '../auth/signing.ts';
import {
  isPaidByBytes,
  mostOf,
  refuseDear,
  refusalOfOwn,
  type SqlFare,
  sqlFareOf,
} from './sqlPrice.ts';
import { bindTables } from './sqlTables.ts';
import { isInformation } from './informationSchema.ts';
import { isLogs } from './systemLogs.ts';
import { dropFile } from '../http/heldAnswers.ts';

/** What it takes to bind a query to the tables of its caller. */
export type BindServices = Pick<
  Services,
  'clock' | 'database' | 'lake' | 'pending' | 'queries' | 'settings' | 'sql'
> & {
  /** At a node that does not serve: whether what is read from now on is what is stored. */
  readonly sure?: () => (tables: readonly BoundTable[]) => void;
};
export type SqlServices = BindServices &
  Pick<Services, 'charts' | 'failedTime'> & { readonly ledger: Metering };

export interface SqlQuestion {
  readonly workspace: string;
  readonly text: string;
  readonly parameters: ParameterValues;
  /** Of a query that its owner stored: what its tables were, and how it is charged and told. */
  readonly stored?: {
    readonly tables: readonly NamedTable[];
    readonly weight: number | undefined;
    readonly usageKey: string;
  };
}

/** @throws Failure InvalidParameter naming the place in the query and the rule. */
export async function answerSql(
  call: Call,
  services: SqlServices,
  question: SqlQuestion,
): Promise<Answer> {
  const { sql } = services;
  const caller = callerOf(call.caller);
  const picture = pictureOf(call.query);
  services.failedTime.check(caller);
  const limits = limitsOf(caller, services.settings);
  const bound = await bindQuery(call, services, question);
  const moment = momentOf(bound);
  if (truthOf(call.query, 'schema')) {
    const value = await describeSql(bound, sql, limits, call);
    return { kind: 'json', value, metering: 'free' };
  }
  const rows = Math.min(limits.rowsMax, rowsMost(bound));
  const fare = sqlFareOf(call, caller, bound, services, question, rows);
  const price = await priced(call, sql, question, { bound, fare, limits, rows });
  if (price !== undefined) return price;
  const format = formatOf(call);
  if (format === 'arrow' || format === 'parquet') refuseBeside(call, format);
  const snapshot = snapshotOf(bound);
  const tag = tagOf(bound, picture ?? format, question);
  const isUnchanged = tag !== undefined && has(call.ifNoneMatch, tag);
  if (isUnchanged) return { kind: 'unchanged', snapshot, moment, tag };
  const asFile = isLarge(rows, format, call);
  let made: Body['file'];
  // How many records of others it is made of is counted each time.
  const isKept = tag !== undefined && fare.tariff.counted.length === 0;
  const run = async () => {
    const beganMs = monotonicMs();
    const counts = await countRecords(bound, fare.tariff.counted, sql, limits, call);
    const read = () => runSql(bound, format, sql, limits, call, asFile ? 'if long' : 'never');
    const name = [caller.tokenId, tag, question.stored?.usageKey, rows, asFile].join(' ');
    const body = isKept ? await sql.answers.find(name, tableIdsOf(bound), read) : await read();
    made = body.file;
    const bytes = await paidBytesOf(fare, body, () => describeSql(bound, sql, limits, call), bound);
    const objects = objectsOfItems(fare.tariff, body.objects, bytes, counts);
    const refusal = refusalOfOwn(fare, objects, numberOf(call.query, 'maxMessages'));
    if (refusal !== undefined) {
      // It costs no messages, so its time counts as that of a failed query.
      services.failedTime.spent(caller.accountId, monotonicMs() - beganMs);
      throw refusal;
    }
    return { result: await drawn(call, services, body, shownOf(question, picture)), objects };
  };
  const metering = await meteredTogether(call, services, caller, fare.fares, run).catch((error) => {
    dropFile(made);
    throw error;
  });
  if (picture !== undefined) dropFile(made);
  const datasets = datasetsOf(bound.tables).map((table) => table.dataset);
  const about = { format, picture, snapshot, moment, tag, datasets };
  if (metering.kind === 'unread') return { ...metering, ...about };
  const { charge, result: body } = metering;
  const answer = { body, charge, ...about };
  const cutAt = body.objects < limits.rowsMax ? undefined : cutOf(bound, limits);
  return { ...rowsOf(call, answer), ...(cutAt === undefined ? {} : { cutAt }) };
}

const shownOf = ({ stored, workspace }: SqlQuestion, picture: Shown['picture']): Shown => ({
  picture,
  title: stored?.usageKey ?? workspace,
});

interface Priced {
  readonly bound: BoundPlan;
  readonly fare: SqlFare;
  readonly limits: SqlLimits;
  /** The most that the answer can have. */
  readonly rows: number;
}

/**
 * Steps and price, or the price alone; undefined for a call that asks for neither.
 * @throws Failure PriceTooHigh where the same price is over `maxMessages`
 */
async function priced(
  call: Call,
  sql: SqlServices['sql'],
  { stored }: SqlQuestion,
  { bound, fare, limits, rows }: Priced,
): Promise<Answer | undefined> {
  const explains = truthOf(call.query, 'explain');
  const allowed = numberOf(call.query, 'maxMessages');
  // The steps of a stored query tell how it is made.
  const isStored = stored !== undefined || bound.tables.some(({ kind }) => kind === 'view');
  if (explains && isStored && call.environment === 'test') throw new Failure('TestReadOnly');
  const estimates = explains || truthOf(call.query, 'estimate');
  if (!estimates && (allowed === undefined || !fare.foreign)) return undefined;
  const needsColumns = explains || isPaidByBytes(fare);
  const columns = needsColumns ? await describeSql(bound, sql, limits, call) : [];
  const bytes = needsColumns ? paidBytesMost(bound, columns, rows) : 0;
  if (!estimates) {
    refuseDear(fare, rows, bytes, allowed);
    return undefined;
  }
  const price = mostOf(fare, rows, bytes);
  const value = explains ? explainPlan(bound, columns, { rows, bytes, price }) : price;
  return { kind: 'json', value, metering: 'free' };
}

/** Rows from which on DuckDB writes the body itself: below, that takes longer than it saves. */
const FILE_ROWS = 10_000;

/** Whether the body is to be a file: where it may be long, and nothing has to be put around it. */
function isLarge(rows: number, format: BodyFormat, { query }: Call): boolean {
  if (format === 'arrow' || query['callback'] !== undefined) return false;
  return rows > FILE_ROWS;
}

const tableIdsOf = ({ tables }: BoundPlan): readonly number[] =>
  datasetsOf(tables).map(({ dataset }) => dataset.tableId);

/** The bytes that an answer is paid by; its columns are looked at only where it is paid by bytes. */
export async function paidBytesOf(
  fare: SqlFare,
  body: Body,
  describe: () => Promise<readonly SqlColumn[]>,
  bound: BoundPlan,
): Promise<number> {
  const bytes = lengthOf(body);
  const isByRows = objectsOf(0, bytes) <= Math.max(1, body.objects);
  if (isByRows || !isPaidByBytes(fare)) return bytes;
  return Math.min(bytes, paidBytesMost(bound, await describe(), body.objects));
}

/** The newest version among the tables of a query. */
export const snapshotOf = ({ tables }: BoundPlan): number =>
  Math.max(0, ...datasetsOf(tables).map(({ table }) => table.snapshot));

/** The moment of all tables of a query. */
export const momentOf = ({ tables }: BoundPlan): Moment =>
  lastMoment(datasetsOf(tables).map(({ moment }) => moment));

/** Who asks a query, what beside it, and until when. */
type Asking = Pick<Call, 'caller' | 'query' | 'departure'>;

/** The plan of a query with the tables that its caller reads. */
export async function bindQuery(
  call: Asking,
  services: BindServices,
  question: SqlQuestion,
): Promise<BoundPlan> {
  const { clock, lake, settings, sql } = services;
  const caller = callerOf(call.caller);
  const { workspace } = readableWorkspace(caller, question.workspace, lake);
  const asOf = readAsOf(textOf(call.query, 'asOf'), settings.zone);
  const at = momentNow(services);
  const check = services.sure?.();
  const plan = await planSql(question.text, question.parameters, sql, call);
  const asked = {
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
  const tables = await bindTables(plan, asked, services);
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

/** What the tier allows, as far as the server does. */
export const limitsOf = ({ tier }: Caller, settings: Settings): SqlLimits => ({
  rowsMax: tier.sql.rowsMax,
  deadlineMs: Math.min(tier.sql.deadlineMs, settings.sqlTimeoutMs),
  memoryBytes: Math.min(tier.sql.memoryBytes, settings.sqlMemoryBytes),
  spillBytes: Math.min(tier.sql.spillBytes, settings.sqlSpillBytes),
});

/** Rows after which the tier cut the answer; not where the query itself asked for no more. */
function cutOf({ plan: { query } }: BoundPlan, { rowsMax }: SqlLimits): number | undefined {
  return query.limit !== undefined && query.limit <= rowsMax ? undefined : rowsMax;
}

/** Versions of the tables; undefined where the next answer is another one whatever they are. */
export function tagOf(
  { plan, system, tables }: BoundPlan,
  format: BodyFormat | PictureFormat,
  question: SqlQuestion,
): string | undefined {
  if (isMomentary(plan, tables) || tables.length === 0) return undefined;
  const versions = datasetsOf(tables).map(
    ({ dataset: { tableId, updatedMs }, newest, table: { snapshot } }) =>
      [tableId, snapshot, newest, updatedMs].join('.'),
  );
  const views = viewsOf(tables).map(({ updatedMs }) => updatedMs);
  const asked = JSON.stringify([question.text, question.parameters, system]);
  return `"sql.${bodyHashOf([...versions, ...views, asked].join(' '))}.${format}"`;
}

/** The views among tables and within each other. */
const viewsOf = (tables: readonly BoundTable[]): readonly View[] =>
  tables.flatMap((table) => (table.kind === 'view' ? [table.view, ...viewsOf(table.tables)] : []));

const isMomentary = (plan: SelectPlan, tables: readonly BoundTable[]): boolean =>
  plan.momentary ||
  tables.some((table) =>
    table.kind === 'view'
      ? isMomentary(table.plan, table.tables)
      : isLogs(table.dataset) || isInformation(table.dataset) || table.visibility.kind === 'before',
  );
