// PIVOT whose columns are the values that its records have, and UNPIVOT of columns by a pattern, as the texts
// that name them: the columns of an answer are known before it is read. Of the data of others only their
// owner's words are columns: names would tell values that nobody paid for.
import { datasetsOf } from '../../query/sql/plan/boundTable.ts';
import { runSql, type SqlColumn } from '../../query/sql/run/run.ts';
import { refuseAt, type Token, tokensOf } from '../../query/sql/text/tokens.ts';
import { callerOf } from '../auth/access.ts';
import type { Call } from '../request/endpoint.ts';
import { bindQuery, type BindServices, limitsOf, type SqlQuestion } from './sql.ts';

const STATEMENT = /^\s*(?:un)?pivot(?:_wider|_longer)?\b/i;

/** Values that are looked for: more columns are refused as of every PIVOT. */
const VALUES_MAX = 200;

/** Names and types of a query's answer. */
type ColumnsOf = (text: string) => Promise<readonly SqlColumn[]>;

/** Where the columns of a statement are said. */
interface On {
  readonly isPivot: boolean;
  /** What is read. */
  readonly source: string;
  readonly text: string;
  readonly at: number;
  /** Offset behind it. */
  readonly end: number;
  readonly tokens: readonly Token[];
}

/** The text with its columns named; itself where it is no such statement. */
export async function pivotedText(
  question: SqlQuestion,
  columnsOf: ColumnsOf,
  call: Call,
  services: BindServices,
): Promise<string> {
  const { text } = question;
  if (!STATEMENT.test(text)) return text;
  const on = onOf(text);
  if (on === undefined || on.tokens.some((token) => isWord(token, 'in'))) return text;
  const named = (entries: string): string => text.slice(0, on.end) + entries + text.slice(on.end);
  if (!on.isPivot) {
    if (!on.tokens.some((token) => token.value === '*' || isWord(token, 'columns'))) return text;
    const columns = await columnsOf(`SELECT ${on.text} FROM ${on.source}`);
    const names = columns.map(({ name }) => quoted(name, '`'));
    return `${text.slice(0, on.at)}${names.join(', ')} ${text.slice(on.end)}`;
  }
  // What is wrong with the rest is said of the rest.
  await columnsOf(named(` IN ('x')`));
  const values = await valuesOf(on, question, call, services);
  return named(` IN (${values.join(', ')})`);
}

function onOf(text: string): On | undefined {
  const tokens = tokensOf(text);
  const outer = outside(tokens);
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
  const said = text.slice(first.at, last);
  const end = first.at + said.trimEnd().length;
  return { isPivot, source, text: text.slice(first.at, end), at: first.at, end, tokens: inside };
}

const ENDS = ['using', 'group', 'order', 'limit', 'into'];

const isEnd = ({ kind, value }: Token): boolean => kind === 'sign' && value === ';';

const isWord = ({ kind, value }: Token, word: string): boolean =>
  kind === 'word' && value.toLowerCase() === word;

/** Those that stand in no parentheses. */
function outside(tokens: readonly Token[]): readonly Token[] {
  let depth = 0;
  return tokens.filter(({ kind, value }) => {
    if (kind !== 'sign') return depth === 0;
    if (value === '(') depth += 1;
    if (value === ')') depth -= 1;
    return depth === 0;
  });
}

/** As literals, in their order. */
async function valuesOf(
  on: On,
  question: SqlQuestion,
  call: Call,
  services: BindServices,
): Promise<readonly string[]> {
  const text = `SELECT v, CAST(v AS VARCHAR) AS n FROM (SELECT DISTINCT ${on.text} AS v FROM ${on.source}
) WHERE v IS NOT NULL ORDER BY v LIMIT ${VALUES_MAX + 1}`;
  const bound = await bindQuery(call, services, { ...question, text });
  if (datasetsOf(bound.tables).some(({ foreign }) => foreign)) {
    const rule = `PIVOT over the data of others names its columns: ON ${on.text} IN (…)`;
    refuseAt(question.text, on.at, rule);
  }
  const limits = limitsOf(callerOf(call.caller), services.settings);
  const { bytes } = await runSql(bound, 'json', services.sql, limits, call, 'never');
  const rows = JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly {
    readonly v: unknown;
    readonly n: string;
  }[];
  if (rows.length === 0) refuseAt(question.text, on.at, 'PIVOT finds no value to make a column of');
  return rows.map(({ n, v }) => {
    // No column is without a name.
    if (v === '') return `'' AS \`(empty)\``;
    return typeof v === 'string' ? quoted(n, `'`) : n;
  });
}

const quoted = (text: string, quote: string): string =>
  `${quote}${text.replaceAll(quote, quote + quote)}${quote}`;
