// What a query of the SQL endpoint can express: a closed union of plain data. What it can't represent
// can't be queried; every value is data, every name a name.
import type { SqlFunction } from '../functions/functionRow.ts';

export type Expression =
  | { readonly kind: 'column'; readonly path: readonly string[]; readonly at: TextPlace }
  /** Digits as DuckDB types them: `15`, `1.50`, `1e+5`. */
  | { readonly kind: 'number'; readonly digits: string }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'truth'; readonly value: boolean }
  | { readonly kind: 'null' }
  | { readonly kind: 'moment'; readonly what: 'date' | 'timestamp' }
  | {
      readonly kind: 'operator';
      readonly name: string;
      readonly operands: readonly Expression[];
    }
  | {
      readonly kind: 'call';
      readonly function: SqlFunction;
      readonly operands: readonly Expression[];
      readonly distinct: boolean;
      readonly order: readonly OrderTerm[];
      readonly filter: Expression | undefined;
      readonly at: TextPlace;
    }
  | Window
  | {
      readonly kind: 'compare';
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'logic';
      readonly operator: 'AND' | 'OR';
      readonly operands: readonly Expression[];
    }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'isNull'; readonly negated: boolean; readonly operand: Expression }
  | {
      readonly kind: 'in';
      readonly negated: boolean;
      readonly operand: Expression;
      readonly list: readonly Expression[];
    }
  | {
      readonly kind: 'between';
      readonly operand: Expression;
      readonly lower: Expression;
      readonly upper: Expression;
    }
  | {
      readonly kind: 'case';
      readonly checks: readonly { readonly when: Expression; readonly then: Expression }[];
      readonly otherwise: Expression;
    }
  | {
      readonly kind: 'cast';
      readonly operand: Expression;
      /** A type of the allow-list, as SQL. */
      readonly type: string;
      readonly attempt: boolean;
    }
  | { readonly kind: 'coalesce'; readonly operands: readonly Expression[] }
  | { readonly kind: 'grouping'; readonly operands: readonly Expression[] }
  /** Several columns: the expression is repeated for each of them. */
  | ({ readonly kind: 'columns' } & Columns)
  | { readonly kind: 'exists'; readonly query: Query }
  | { readonly kind: 'scalar'; readonly query: Query }
  | {
      readonly kind: 'any';
      readonly operator: string;
      readonly operand: Expression;
      readonly query: Query;
    };

/** Offset in the user's text; undefined if DuckDB reports none. */
export type TextPlace = number | undefined;

export interface Window {
  readonly kind: 'window';
  readonly name: string;
  readonly operands: readonly Expression[];
  readonly distinct: boolean;
  readonly ignoreNulls: boolean;
  readonly argumentOrder: readonly OrderTerm[];
  readonly filter: Expression | undefined;
  readonly partition: readonly Expression[];
  readonly order: readonly OrderTerm[];
  readonly frame: Frame | undefined;
  readonly at: TextPlace;
}

export interface Frame {
  readonly unit: 'ROWS' | 'RANGE' | 'GROUPS';
  readonly start: Bound;
  readonly end: Bound;
  readonly exclude: string | undefined;
}

export interface Bound {
  readonly text: string;
  /** Before `PRECEDING` or `FOLLOWING`. */
  readonly distance: Expression | undefined;
}

export interface OrderTerm {
  readonly expression: Expression | 'all';
  readonly direction: '' | 'ASC' | 'DESC';
  readonly nulls: '' | 'NULLS FIRST' | 'NULLS LAST';
}

/** Columns that are not named one by one. */
export interface Columns {
  readonly relation: string | undefined;
  readonly except: readonly string[];
  /** RE2, found somewhere in a name; undefined for all. */
  readonly pattern: string | undefined;
}

export interface Star extends Columns {
  readonly kind: 'star';
  /** Columns that are replaced by other expressions, in their positions. */
  readonly replace: readonly { readonly name: string; readonly expression: Expression }[];
  readonly rename: readonly { readonly from: string; readonly to: string }[];
}

export type Item =
  | Star
  | {
      readonly kind: 'value';
      readonly expression: Expression;
      readonly alias: string | undefined;
      /** It expands to as many columns as a `COLUMNS` in it. */
      readonly several?: true;
    };

export type Source =
  | { readonly kind: 'nothing' }
  /** The n-th table that the query names; the caller's access decides which dataset it is. */
  | {
      readonly kind: 'table';
      readonly index: number;
      readonly alias: string;
      readonly columns: readonly string[];
    }
  | {
      readonly kind: 'common';
      /** Number of the common table; no name of a user reaches DuckDB as a table name. */
      readonly id: number;
      readonly alias: string;
      readonly columns: readonly string[];
    }
  | {
      readonly kind: 'query';
      readonly query: Query;
      readonly alias: string;
      readonly columns: readonly string[];
    }
  | {
      readonly kind: 'values';
      readonly rows: readonly (readonly Expression[])[];
      readonly alias: string;
      readonly columns: readonly string[];
    }
  | Join;

export interface Join {
  readonly kind: 'join';
  readonly how: 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' | 'SEMI' | 'ANTI' | 'CROSS';
  readonly asOf: boolean;
  readonly left: Source;
  readonly right: Source;
  readonly on: Expression | undefined;
  readonly using: readonly string[];
}

export interface CommonTable {
  readonly id: number;
  readonly name: string;
  readonly columns: readonly string[];
  readonly query: Query;
  readonly materialized: '' | 'MATERIALIZED';
}

/** Order, limit and offset of a query, as written. */
export interface Cut {
  readonly order: readonly OrderTerm[];
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}

export type Query = SelectQuery | SetQuery;

export interface SelectQuery extends Cut {
  readonly kind: 'select';
  readonly common: readonly CommonTable[];
  readonly distinct: boolean;
  readonly distinctOn: readonly Expression[];
  readonly items: readonly Item[];
  readonly from: Source;
  readonly where: Expression | undefined;
  readonly groups: readonly Expression[];
  /** The groups of each set; empty: one set of all. */
  readonly groupSets: readonly (readonly number[])[];
  readonly groupAll: boolean;
  readonly having: Expression | undefined;
  readonly qualify: Expression | undefined;
}

interface SetQuery extends Cut {
  readonly kind: 'set';
  readonly common: readonly CommonTable[];
  readonly how: 'UNION' | 'INTERSECT' | 'EXCEPT' | 'UNION BY NAME';
  readonly all: boolean;
  readonly left: Query;
  readonly right: Query;
}

/** A table as the query names it. */
export interface TableName {
  readonly workspace: string | undefined;
  readonly name: string;
  readonly at: TextPlace;
}

export interface SelectPlan {
  readonly query: Query;
  /** In the order of their positions; a table that is named twice is listed twice. */
  readonly tables: readonly TableName[];
  /** Columns with the name of a table: each is a whole record, unless the table has such a column. */
  readonly doubtful: readonly {
    readonly name: string;
    readonly at: TextPlace;
    readonly table: number;
  }[];
  /** Texts in double quotes, which are names in other databases. */
  readonly quoted: readonly { readonly name: string; readonly at: TextPlace }[];
  /** Comparisons with each table's records. */
  readonly hints: readonly Hint[];
  /** Columns of the outermost select list; undefined if a star decides. */
  readonly width: number | undefined;
  /** The answer depends on the current time. */
  readonly momentary: boolean;
}

export interface Hint {
  /** The index of the table in the plan. */
  readonly table: number;
  /** In the user's case. */
  readonly column: string;
  readonly operator: '=' | '>=' | '<=';
  /** Literals as texts or digits; a record matches if any of them does. */
  readonly values: readonly string[];
  /** Some are digits: DuckDB compares texts with them as numbers. */
  readonly numeric: boolean;
}
