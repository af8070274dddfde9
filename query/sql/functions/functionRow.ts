// A function of the allow-list as a row of a table: its call states its name and the number of arguments,
// so that the page and the check can't differ.

/** Arguments of a function that takes any number of them. */
const MANY = 100;

export interface SqlFunction {
  /** Lower case; DuckDB's name in the serialized AST. */
  readonly name: string;
  /** A scalar function, an aggregate (which is a window function too), or only a window function. */
  readonly kind: 'scalar' | 'aggregate' | 'window';
  /** Least and greatest number of arguments. */
  readonly arguments: readonly [least: number, most: number];
  /** A macro of DuckDB that repeats an argument: nested, its size doubles with each level. */
  readonly copies?: true;
  /** Index of an argument that must be an integer literal, and its greatest value. */
  readonly literalMax?: Readonly<Record<number, number>>;
  /** A macro of DuckDB that is an aggregate but no window function. */
  readonly noWindow?: true;
  /** As the page shows it: `date_trunc(part, date)`. */
  readonly signature: string;
  /** One sentence. */
  readonly does: string;
  /** An expression, or a whole SELECT over the table PRICES; runs as it is. */
  readonly example: string;
  /** Its answer: text of the JSON of the first record's first value. */
  readonly answer: string;
}

/** Properties that the call does not state. */
type More = Partial<Omit<SqlFunction, 'kind' | 'signature' | 'does' | 'example' | 'answer'>>;

/** `substring(text, start[, length])`: optional arguments in brackets, `...` for any number. */
type FunctionRow = readonly [
  call: string,
  does: string,
  example: string,
  answer: string,
  more?: More,
];

export function toFunctions(
  kind: SqlFunction['kind'],
  rows: readonly FunctionRow[],
): readonly SqlFunction[] {
  return rows.map(([signature, does, example, answer, more]) => ({
    name: signature.split('(')[0] ?? '',
    kind,
    arguments: argumentsOf(signature),
    signature,
    does,
    example,
    answer,
    ...more,
  }));
}

function argumentsOf(signature: string): readonly [least: number, most: number] {
  const inside = signature.slice(signature.indexOf('(') + 1, -1);
  const opens = inside.indexOf('[');
  const needed =
    opens < 0 ? inside : inside.slice(0, opens) + inside.slice(inside.lastIndexOf(']') + 1);
  const most = inside.includes('...') ? MANY : countOf(inside.replaceAll(/[[\]]/g, ''));
  return [countOf(needed), most];
}

const countOf = (words: string): number => (words === '' ? 0 : words.split(',').length);
