// A function of the allow-list as a row of a table: its call says its name and how many arguments
// it takes, so that the page and the check can not differ.

/** Arguments of a function that takes any number of them. */
const MANY = 100;

export interface SqlFunction {
  /** Lower case; DuckDB's name as it stands in the serialized AST. */
  readonly name: string;
  /** A scalar, an aggregate, which is a window function too, or a window function only. */
  readonly kind: 'scalar' | 'aggregate' | 'window';
  /** Least and greatest number of arguments. */
  readonly arguments: readonly [least: number, most: number];
  /** A macro of DuckDB that says an argument more than once: nested, it doubles with each level. */
  readonly copies?: true;
  /** Index of an argument that must be an integer literal, and its greatest value. */
  readonly literalMax?: Readonly<Record<number, number>>;
  /** A macro of DuckDB that is an aggregate but no window function. */
  readonly noWindow?: true;
  /** As the page shows it: `date_trunc(part, date)`. */
  readonly signature: string;
  /** One sentence. */
  readonly does: string;
  /** An expression that stands alone, or a whole SELECT over the table PRICES; runs as it is. */
  readonly example: string;
  /** Its answer: text of the JSON of the first record's first value. */
  readonly answer: string;
}

/** What the call does not say. */
type More = Partial<Omit<SqlFunction, 'kind' | 'signature' | 'does' | 'example' | 'answer'>>;

/** `substring(text, start[, length])`: in brackets what may be left out, `...` for any number. */
type FunctionRow = readonly [
  call: string,
  does: string,
  example: string,
  answer: string,
  more?: More,
];

export function functionsOf(
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
