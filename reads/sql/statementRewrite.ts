// Rewrites DESCRIBE, SHOW TABLES and SUMMARIZE to queries, so that every format and the terminal support
// them. The first two are free, as a schema is.
import { describeSql, type SqlColumn } from '../../query/sql/run/run.ts';
import { literal } from '../../store/duckdb/sqlText.ts';
import { readableDatasets } from '../rights/access.ts';
import { readableViews } from '../rights/viewAccess.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import { rewritePivot } from './pivotRewrite.ts';
import { buildSummaryQuery } from './summary.ts';
import { bindQuery, type BindServices, buildLimits, type SqlRequest } from './sql.ts';

const DESCRIBE = /^\s*desc(?:ribe)?\s+(?=[^\s;])/i;
const SUMMARIZE = /^\s*summarize\s+(?=[^\s;])/i;
const SHOW = /^show\s+tables$/i;
const QUERY = /^[\s(]*(?:select|with|from|values)\b/i;

/** Rewrites a statement to a query; other queries are unchanged. @throws Failure of the described query. */
export async function rewriteStatement(
  call: ReadRequest,
  services: BindServices & Pick<ReadServices, 'failedTime'>,
  question: SqlRequest,
): Promise<SqlRequest> {
  const { text } = question;
  if (SHOW.test(trimStatement(text)))
    return buildValuesQuery(question, ['name'], listTables(call, services, question));
  const start = (DESCRIBE.exec(text) ?? SUMMARIZE.exec(text))?.[0];
  services.failedTime.check(call.caller);
  if (start === undefined) {
    const columns = (what: string) => describeColumns(what, call, services, question);
    return { ...question, text: await rewritePivot(question, columns, call, services) };
  }
  const rest = text.slice(start.length);
  // Keeps the offsets, so that a fault is reported at its place in the original text.
  const what = QUERY.test(rest) ? `${' '.repeat(start.length)}${rest}` : `SELECT * FROM ${rest}`;
  const columns = await describeColumns(what, call, services, question);
  if (SUMMARIZE.test(text)) {
    return { ...question, text: buildSummaryQuery(trimStatement(what), columns) };
  }
  const rows = columns.map(({ name, type }) => [name, type]);
  return buildValuesQuery(question, ['column_name', 'column_type'], rows);
}

async function describeColumns(
  what: string,
  call: ReadRequest,
  services: BindServices,
  question: SqlRequest,
): Promise<readonly SqlColumn[]> {
  const bound = await bindQuery(call, services, { ...question, text: what });
  const limits = buildLimits(call.caller, services.settings);
  return describeSql(bound, services.sql, limits, call);
}

/** Removes spaces and a semicolon around a statement. */
function trimStatement(text: string): string {
  const bare = text.trim();
  return bare.endsWith(';') ? bare.slice(0, -1).trimEnd() : bare;
}

function listTables(
  { caller }: ReadRequest,
  { lake, queries }: BindServices,
  { workspace }: SqlRequest,
): readonly (readonly string[])[] {
  const datasets = readableDatasets(caller, lake, workspace).map(({ dataset }) => dataset);
  const views = readableViews(caller, { lake, queries }, workspace);
  return [...datasets, ...views.map(({ name }) => name)].sort().map((name) => [name]);
}

function buildValuesQuery(
  question: SqlRequest,
  names: readonly string[],
  rows: readonly (readonly string[])[],
): SqlRequest {
  const listed = rows.length === 0 ? [names.map(() => '')] : rows;
  const values = listed.map((row) => `(${row.map(literal).join(', ')})`).join(', ');
  const none = rows.length === 0 ? ' LIMIT 0' : '';
  const text = `SELECT * FROM (VALUES ${values}) AS shown(${names.join(', ')})${none}`;
  return { ...question, text, stored: { tables: [], weight: 0, usageKey: 'SQL' } };
}
