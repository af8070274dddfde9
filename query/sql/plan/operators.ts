// The operators that a SELECT may use: DuckDB's names of nodes that its tree marks as operators.
// Comparisons, AND, OR, NOT, IN, BETWEEN and casts are nodes of their own. `->` is here for printing:
// the tree has it as a lambda, because the parser can't distinguish the two.
interface SqlOperator {
  /** Least and greatest number of operands: with 1 it is a prefix, with 2 it is between them. */
  readonly arguments: readonly [least: number, most: number];
  /** One sentence. */
  readonly does: string;
  /** A complete expression. */
  readonly example: string;
  /** Its answer, in the form of a function's. */
  readonly answer: string;
}

type OperatorRow = readonly [name: string, operands: string, does: string, ...rest: Example];
type Example = readonly [example: string, answer: string];

const ROWS: readonly OperatorRow[] = [
  [
    '+',
    '1-2',
    'A sum, also of a date and days or an interval; as a prefix it changes nothing.',
    "DATE '2024-01-05' + 3",
    '"2024-01-08"',
  ],
  [
    '-',
    '1-2',
    'A difference, for two dates the days; as a prefix it changes the sign.',
    "DATE '2024-01-09' - DATE '2024-01-02'",
    '7',
  ],
  ['*', '2', 'A product.', '6 * 7', '42'],
  ['/', '2', 'A quotient, with its fraction.', '7 / 2', '3.5'],
  ['//', '2', 'A whole quotient.', '7 // 2', '3'],
  ['%', '2', 'The remainder.', '7 % 4', '3'],
  ['^', '2', 'A power.', '2 ^ 10', '1024'],
  ['**', '2', 'A power.', '2 ** 10', '1024'],
  ['||', '2', 'Two texts, one after the other.', "'AA' || 'PL'", '"AAPL"'],
  ['~~', '2', 'LIKE: % is any text, _ any character.', "'AAPL' LIKE 'A%'", 'true'],
  ['!~~', '2', 'NOT LIKE.', "'AAPL' NOT LIKE 'A%'", 'false'],
  ['~~*', '2', 'ILIKE: LIKE in any case.', "'AAPL' ILIKE 'a%'", 'true'],
  ['!~~*', '2', 'NOT ILIKE.', "'AAPL' NOT ILIKE 'm%'", 'true'],
  [
    '~~~',
    '2',
    'GLOB: * is any text, ? any character, [A-C] one of some.',
    "'AAPL' GLOB 'A*'",
    'true',
  ],
  ['->', '2', 'The value at a path of JSON, as JSON.', `'{"lot": [100, 5]}' -> '$.lot[1]'`, '5'],
  [
    '->>',
    '2',
    'The value at a path of JSON, as text.',
    `'{"venue": "XNAS"}' ->> '$.venue'`,
    '"XNAS"',
  ],
  [
    '[]',
    '2',
    'One value of a list or JSON, one character of a text; the first is 1, for JSON 0, the last -1.',
    "string_split('XNAS,XNYS', ',')[2]",
    '"XNYS"',
  ],
  [
    '[:]',
    '3',
    'Some of them; either side may be left out.',
    "string_split('a,b,c', ',')[2:]",
    '["b","c"]',
  ],
];

export const OPERATORS: ReadonlyMap<string, SqlOperator> = new Map(
  ROWS.map(([name, operands, does, example, answer]) => {
    const [least = 0, most = least] = operands.split('-').map(Number);
    return [name, { arguments: [least, most], does, example, answer }];
  }),
);

export function isOperator(name: string, operands: number): boolean {
  const [least, most] = OPERATORS.get(name)?.arguments ?? [Infinity, 0];
  return operands >= least && operands <= most;
}

/** Prints with parentheses, so that DuckDB parses the same tree again in any context. */
export function printOperator(name: string, printedArguments: readonly string[]): string {
  const operands = printedArguments.map((text) => `(${text})`);
  const [what, ...places] = operands;
  if (name === '[]' || name === '[:]') return `(${what}[${places.join(':')}])`;
  return operands.length === 1 ? `(${name} ${operands[0]})` : `(${operands.join(` ${name} `)})`;
}
