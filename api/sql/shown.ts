// DESCRIBE, SHOW TABLES and SUMMARIZE, which analysts begin with: answered as a query, so that every format
// and the terminal have them. The first two cost nothing, as a schema does.
import { describeSql, type SqlColumn } from '../../query/sql/run/run.ts';
import { literal } from '../../store/duckdb/sqlText.ts';
import { callerOf, readableDatasets } from '../auth/access.ts';
import { readableViews } from '../auth/viewAccess.ts';
import type { Call, Services } from '../request/endpoint.ts';
import { pivotedText } from './pivoted.ts';
import { summaryOf } from './summary.ts';
import { bindQuery, type BindServices, limitsOf, type SqlQuestion } from './sql.ts';

const DESCRIBE = /^\s*desc(?:ribe)?\s+(?=[^\s;])/i;
const SUMMARIZE = /^\s*summarize\s+(?=[^\s;])/i;
const SHOW = /^show\s+tables$/i;
const QUERY = /^[\s(]*(?:select|with|from|values)\b/i;

/** The query itself where it is another one. @throws Failure of what is described. */
export async function shownQuery(
  call: Call,
  services: BindServices & Pick<Services, 'failedTime'>,
  question: SqlQuestion,
): Promise<SqlQuestion> {
  const { text } = question;
  if (SHOW.test(statementOf(text)))
    return shown(question, ['name'], tablesOf(call, services, question));
  const start = (DESCRIBE.exec(text) ?? SUMMARIZE.exec(text))?.[0];
  services.failedTime.check(callerOf(call.caller));
  if (start === undefined) {
    const columns = (what: string) => columnsOf(what, call, services, question);
    return { ...question, text: await pivotedText(question, columns, call, services) };
  }
  const rest = text.slice(start.length);
  // In its place, so that what is wrong with it is shown where it stands.
  const what = QUERY.test(rest) ? `${' '.repeat(start.length)}${rest}` : `SELECT * FROM ${rest}`;
  const columns = await columnsOf(what, call, services, question);
  if (SUMMARIZE.test(text)) {
    return { ...question, text: summaryOf(statementOf(what), columns) };
  }
  const rows = columns.map(({ name, type }) => [name, type]);
  return shown(question, ['column_name', 'column_type'], rows);
}

async function columnsOf(
  what: string,
  call: Call,
  services: BindServices,
  question: SqlQuestion,
): Promise<readonly SqlColumn[]> {
  const bound = await bindQuery(call, services, { ...question, text: what });
  const limits = limitsOf(callerOf(call.caller), services.settings);
  return describeSql(bound, services.sql, limits, call);
}

/** Without what may stand around it. */
function statementOf(text: string): string {
  const bare = text.trim();
  return bare.endsWith(';') ? bare.slice(0, -1).trimEnd() : bare;
}

function tablesOf(
  { caller: given }: Call,
  { lake, queries }: BindServices,
  { workspace }: SqlQuestion,
): readonly (readonly string[])[] {
  const caller = callerOf(given);
  const datasets = readableDatasets(caller, lake, workspace).map(({ dataset }) => dataset);
  const views = readableViews(caller, { lake, queries }, workspace);
  return [...datasets, ...views.map(({ name }) => name)].sort().map((name) => [name]);
}

function shown(
  question: SqlQuestion,
  names: readonly string[],
  rows: readonly (readonly string[])[],
): SqlQuestion {
  const listed = rows.length === 0 ? [names.map(() => '')] : rows;
  const values = listed.map((row) => `(${row.map(literal).join(', ')})`).join(', ');
  const none = rows.length === 0 ? ' LIMIT 0' : '';
  const text = `SELECT * FROM (VALUES ${values}) AS shown(${names.join(', ')})${none}`;
  return { ...question, text, stored: { tables: [], weight: 0, usageKey: 'SQL' } };
}
