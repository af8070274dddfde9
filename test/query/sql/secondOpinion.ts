// The tables that a text names, by a parser that shares no code with ours: node-sql-parser, in its
// PostgreSQL dialect, which reads back-ticks too.
import { createRequire } from 'node:module';
import { createContext, Script } from 'node:vm';
import type { Parser as SqlParser, TableColumnAst } from 'node-sql-parser';
import { folded } from '../../../query/sql/lower/lowering.ts';
import type { SelectPlan } from '../../../query/sql/plan/selectPlan.ts';

// Its main file has every dialect: 2.5 MB in place of 0.3.
const { Parser } = createRequire(import.meta.url)('node-sql-parser/build/postgresql.js') as {
  readonly Parser: new () => SqlParser;
};

/** `workspace.name` or `name`, letters of ASCII in lower case. */
export type TableNames = ReadonlySet<string>;

export interface Difference {
  /** Named only by the second opinion: a table that our plan would read without checking it. */
  readonly missing: readonly string[];
  /** Named only by our plan. */
  readonly added: readonly string[];
}

const nameOf = (workspace: string | null | undefined, name: string): string =>
  folded(typeof workspace === 'string' ? `${workspace}.${name}` : name);

export const planTables = ({ tables }: Pick<SelectPlan, 'tables'>): TableNames =>
  new Set(tables.map(({ name, workspace }) => nameOf(workspace, name)));

/** Undefined when they agree. */
export function differenceOf(ours: TableNames, theirs: TableNames): Difference | undefined {
  const missing = [...theirs].filter((name) => !ours.has(name)).toSorted();
  const added = [...ours].filter((name) => !theirs.has(name)).toSorted();
  return missing.length + added.length === 0 ? undefined : { missing, added };
}

/** The parser retries every rule at each parenthesis, so a few deep texts would take minutes. */
const PARSE_DEADLINE_MS = 100;

const parser = new Parser();
const underDeadline = new Script('work()');
/** One for all texts: making a context takes longer than most texts do. */
const context: { work: () => TableColumnAst | undefined } = { work: () => undefined };
createContext(context);

/** The tables of a text; undefined where the parser fails, or passes its deadline. */
export function secondOpinion(sql: string): TableNames | undefined {
  const parsed = parsedInTime(sql);
  return parsed === undefined ? undefined : tablesOf(parsed.ast, parsed.tableList);
}

function parsedInTime(sql: string): TableColumnAst | undefined {
  context.work = () => parser.parse(sql, { database: 'postgresql' });
  try {
    const result: unknown = underDeadline.runInContext(context, { timeout: PARSE_DEADLINE_MS });
    return result as TableColumnAst;
  } catch {
    // After any error it has no opinion of this text: such texts are counted.
    return undefined;
  }
}

/** Its list has common tables too and knows no scopes: those are read from its tree. */
function tablesOf(ast: unknown, tableList: readonly string[]): TableNames {
  const tables = new Set<string>();
  const seen = new Set<string>();
  // No recursion: trees of hostile texts are deeper than the stack.
  const open: Scoped[] = [{ node: ast, common: new Set() }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { common, node } = next;
    if (typeof node !== 'object' || node === null) continue;
    if (Array.isArray(node)) {
      for (const one of node) open.push({ node: one, common });
      continue;
    }
    const { from, with: entries, ...rest } = node as Readonly<Record<string, unknown>>;
    let scope = common;
    for (const { name, stmt } of listOf<CommonEntry>(entries)) {
      open.push({ node: stmt, common: scope });
      scope = new Set([...scope, folded(name.value)]);
    }
    // Joins in parentheses are an expression of this type.
    const joined = rest['type'] === 'tables' ? listOf<FromItem>(rest['expr']) : [];
    for (const { db, table } of [...listOf<FromItem>(from), ...joined]) {
      if (typeof table !== 'string') continue;
      const name = nameOf(db, table);
      seen.add(name);
      if (typeof db === 'string' || !scope.has(name)) tables.add(name);
    }
    open.push({ node: [from, Object.values(rest)], common: scope });
  }
  // A name in its list that is nowhere in its tree is a table all the same.
  for (const name of tableList.map(listedName)) if (!seen.has(name)) tables.add(name);
  return tables;
}

/** A part of the tree, and the common tables that it sees. */
interface Scoped {
  readonly node: unknown;
  readonly common: TableNames;
}

const listOf = <Item>(value: unknown): readonly Item[] =>
  Array.isArray(value) ? (value as readonly Item[]) : [];

interface CommonEntry {
  readonly name: { readonly value: string };
  readonly stmt: unknown;
}

interface FromItem {
  readonly db?: string | null;
  readonly table?: unknown;
}

/** `select::WS::T`, or `select::null::T`. */
function listedName(listed: string): string {
  const [, workspace, name = listed] = /^\w+::([^]*?)::([^]*)$/.exec(listed) ?? [];
  return nameOf(workspace === 'null' ? null : workspace, name);
}
