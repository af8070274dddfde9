// Rewrites PIVOT without named columns, and UNPIVOT of columns by a pattern, to statements that name them, so
// that the columns of an answer are known before it is read. PIVOT over data of others must name its columns:
// found values would be revealed without being charged.
import { datasetsOf } from '../../query/sql/plan/boundTable.ts';
import { runSql, type SqlColumn } from '../../query/sql/run/run.ts';
import { refuseAt, type Token, tokensOf } from '../../query/sql/text/tokens.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { bindQuery, type BindServices, buildLimits, type SqlRequest } from './sql.ts';

const STATEMENT = /^\s*(?:un)?pivot(?:_wider|_longer)?\b/i;

/** Maximum values that become columns: more are refused, as with every PIVOT. */
const VALUES_MAX = 200;

/** Reads names and types of the columns of a query. */
type ColumnsOf = (text: string) => Promise<readonly SqlColumn[]>;

/** The ON clause of a statement. */
interface OnClause {
  readonly isPivot: boolean;
  /** The source table or query. */
  readonly source: string;
  readonly text: string;
  readonly at: number;
  /** Offset of its end. */
  readonly end: number;
  readonly tokens: readonly Token[];
}

/** Returns the text with its columns named; another statement is unchanged. */
export async function rewritePivot(
  question: SqlRequest,
  columnsOf: ColumnsOf,
  call: ReadRequest,
  services: BindServices,
): Promise<string> {
  const { text } = question;
  if (!STATEMENT.test(text)) return text;
  const on = parseOn(text);
  if (on === undefined || on.tokens.some((token) => isWord(token, 'in'))) return text;
  const withColumns = (entries: string): string =>
    text.slice(0, on.end) + entries + text.slice(on.end);
  if (!on.isPivot) {
    if (!on.tokens.some((token) => token.value === '*' || isWord(token, 'columns'))) return text;
    const columns = await columnsOf(`SELECT ${on.text} FROM ${on.source}`);
    const names = columns.map(({ name }) => quoteText(name, '`'));
    return `${text.slice(0, on.at)}${names.join(', ')} ${text.slice(on.end)}`;
  }
  // Checks the rest first, so that its faults are reported for the rest.
  await columnsOf(withColumns(` IN ('x')`));
  const values = await readValues(on, question, call, services);
  return withColumns(` IN (${values.join(', ')})`);
}

function parseOn(text: string): OnClause | undefined {
  const tokens = tokensOf(text);
  const outer = outsideParentheses(tokens);
  const start = outer.find((token) => isWord(token, 'on'));
  if (start === undefined) return undefined;
  const isPivot = !/^un/i.test(tokens[0]?.value ?? '');
  const after = outer.slice(outer.indexOf(start) + 1);
  const stop = after.find((token) => ENDS.some((word) => isWord(token, word)) || isEnd(token));
  const last = stop === undefined ? text.length : stop.at;
  const inside = tokens.filter(({ at }) => at > start.at && at < last);
  const [first] = inside;
  if (first === undefined) return undefined;
  const comma = after.find(({ at, kind, value }) => at < last && kind === 'sign' && value === ',');
  if (isPivot && comma !== undefined) refuseAt(text, comma.at, 'PIVOT takes one ON');
  const source = text.slice((tokens[0]?.at ?? 0) + (tokens[0]?.value.length ?? 0), start.at);
  const clause = text.slice(first.at, last);
  const end = first.at + clause.trimEnd().length;
  return { isPivot, source, text: text.slice(first.at, end), at: first.at, end, tokens: inside };
}

const ENDS = ['using', 'group', 'order', 'limit', 'into'];

const isEnd = ({ kind, value }: Token): boolean => kind === 'sign' && value === ';';

const isWord = ({ kind, value }: Token, word: string): boolean =>
  kind === 'word' && value.toLowerCase() === word;

/** Selects the tokens outside of parentheses. */
function outsideParentheses(tokens: readonly Token[]): readonly Token[] {
  let depth = 0;
  return tokens.filter(({ kind, value }) => {
    if (kind !== 'sign') return depth === 0;
    if (value === '(') depth += 1;
    if (value === ')') depth -= 1;
    return depth === 0;
  });
}

/** Reads the distinct values as literals, in order. */
async function readValues(
  on: OnClause,
  question: SqlRequest,
  call: ReadRequest,
  services: BindServices,
): Promise<readonly string[]> {
  const text = `SELECT v, CAST(v AS VARCHAR) AS n FROM (SELECT DISTINCT ${on.text} AS v FROM ${on.source}
) WHERE v IS NOT NULL ORDER BY v LIMIT ${VALUES_MAX + 1}`;
  const bound = await bindQuery(call, services, { ...question, text });
  if (datasetsOf(bound.tables).some(({ foreign }) => foreign)) {
    const rule = `PIVOT over the data of others names its columns: ON ${on.text} IN (…)`;
    refuseAt(question.text, on.at, rule);
  }
  const limits = buildLimits(call.caller, services.settings);
  const { bytes } = await runSql(bound, 'json', services.sql, limits, call, 'never');
  const rows = JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly {
    readonly v: unknown;
    readonly n: string;
  }[];
  if (rows.length === 0) refuseAt(question.text, on.at, 'PIVOT finds no value for a column');
  return rows.map(({ n, v }) => {
    // An empty value needs a column name.
    if (v === '') return `'' AS \`(empty)\``;
    return typeof v === 'string' ? quoteText(n, `'`) : n;
  });
}

const quoteText = (text: string, quote: string): string =>
  `${quote}${text.replaceAll(quote, quote + quote)}${quote}`;
