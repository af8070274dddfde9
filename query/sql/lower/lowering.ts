// The state of lowering: positions in the user's text, the names in scope, and the tables and hints found.
import { parameterRule, toUserPlace, type Spelled } from '../text/spelling.ts';
import type {
  CommonTable,
  Expression,
  TextPlace,
  Query,
  Source,
  TableName,
  Hint,
} from '../plan/selectPlan.ts';
import type { Fields } from '../text/tree.ts';
import { refuseAt } from '../text/tokens.ts';

interface NamedPlace {
  readonly name: string;
  readonly at: TextPlace;
}

/** What a name in FROM refers to: a table of the plan, or a source whose columns the query defines. */
type NamedSource =
  | { readonly kind: 'table'; readonly index: number }
  | { readonly kind: 'made'; readonly columns: ReadonlySet<string> };

/** Lowers the case as DuckDB does: ASCII letters only. JavaScript would turn the Kelvin sign into k. */
export const folded = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

export interface Lowering {
  readonly tables: TableName[];
  readonly hints: Hint[];
  /** Columns that are used without a table name. */
  readonly names: NamedPlace[];
  /** Texts in double quotes. */
  readonly quoted: NamedPlace[];
  /** Records a text if it is in double quotes. */
  noteQuoted(text: string, at: TextPlace): void;
  /** Sources by name, in lower case. */
  readonly sources: Map<string, NamedSource[]>;
  /** Returns the position of a node in the user's text. */
  at(fields: Fields): TextPlace;
  /** @throws Failure InvalidParameter. */
  refuse(at: TextPlace, rule: string): never;
  moment(what: 'date' | 'timestamp'): Expression;
  expression(node: unknown): Expression;
  /** Lowers a sub-select, with the names that are in scope. */
  query(node: unknown): Query;
  /** Checks an expression of GROUP BY or ORDER BY, where a text is certainly meant as a name. */
  named(expression: Expression, at: TextPlace): Expression;
  /** Runs `work`; names in `given` that it uses without a table are columns of the list, not of tables. */
  amongItems<T>(itemNames: readonly string[], work: () => T): T;
  /** Returns a number that no other common table of the query has. */
  nextId(): number;
  /** Runs with these common tables in scope as well. */
  within<T>(common: readonly CommonTable[], work: () => T): T;
  /** Finds the common table of that name, or else one of the caller's tables. */
  table(name: TableName, alias: string, columns: readonly string[]): Source;
  momentary(): boolean;
}

/** Nested sub-selects; each is a call on the stack here and in DuckDB. */
const QUERIES_DEPTH_MAX = 40;
/** Tables of one query: each is opened. */
const TABLES_MAX = 100;

export function makeLowering(
  spelled: Spelled,
  lowerQuery: (node: unknown, to: Lowering) => Query,
  lowerExpression: (node: unknown, to: Lowering) => Expression,
): Lowering {
  const tables: TableName[] = [];
  const hints: Hint[] = [];
  const names: NamedPlace[] = [];
  const quoted: NamedPlace[] = [];
  const sources = new Map<string, NamedSource[]>();
  let depth = 0;
  let isMomentary = false;
  const refuse = (at: TextPlace, rule: string): never => refuseAt(spelled.source, at, rule);
  const to: Lowering = {
    tables,
    hints,
    names,
    quoted,
    noteQuoted: (name, at) => {
      if (at !== undefined && spelled.source.charAt(at) === '"') quoted.push({ name, at });
    },
    sources,
    at: (fields) => {
      const place = fields['query_location'];
      return typeof place === 'number' ? toUserPlace(spelled, place) : undefined;
    },
    refuse,
    moment: (what) => {
      isMomentary = true;
      return { kind: 'moment', what };
    },
    expression: (node) => lowerExpression(node, to),
    query: (node) => {
      depth += 1;
      if (depth > QUERIES_DEPTH_MAX) {
        refuse(undefined, `at most ${QUERIES_DEPTH_MAX} sub-selects in each other`);
      }
      const query = lowerQuery(node, to);
      depth -= 1;
      return query;
    },
    named: (expression, at) => {
      if (expression.kind !== 'text') return expression;
      return refuse(at, `"${expression.value}" is a text: put a name in back-ticks`);
    },
    ...makeScope(tables, spelled.source, refuse),
    amongItems: (itemNames, work) => {
      const before = names.length;
      const result = work();
      const foldedNames = new Set(itemNames.map(folded));
      const left = names.splice(before).filter(({ name }) => !foldedNames.has(folded(name)));
      names.push(...left);
      return result;
    },
    momentary: () => isMomentary,
  };
  return to;
}

/** Resolves table names: common tables take precedence over datasets, the innermost first. */
function makeScope(
  tables: TableName[],
  source: string,
  refuse: Lowering['refuse'],
): Pick<Lowering, 'nextId' | 'within' | 'table'> {
  let scope: readonly CommonTable[] = [];
  let ids = 0;
  return {
    nextId: () => ids++,
    within: (common, work) => {
      const outer = scope;
      scope = [...outer, ...common];
      const result = work();
      scope = outer;
      return result;
    },
    table: (name, alias, columns) => {
      const common =
        name.workspace === undefined
          ? scope.findLast((item) => folded(item.name) === folded(name.name))
          : undefined;
      if (common !== undefined) return { kind: 'common', id: common.id, alias, columns };
      // The parser reads a parameter's value as a text, and a text may name a table there.
      const first = name.at === undefined ? '' : source.charAt(name.at);
      if (first === '$' || first === ':') {
        refuse(name.at, parameterRule('table'));
      }
      if (tables.push(name) > TABLES_MAX) {
        refuse(name.at, `a query names at most ${TABLES_MAX} tables`);
      }
      return { kind: 'table', index: tables.length - 1, alias, columns };
    },
  };
}
